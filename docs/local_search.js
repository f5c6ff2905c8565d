// Browsers start no worker from a file: where the pages are read from a folder, the search runs in a hidden frame in its place.
if (location.protocol === "file:") {
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      const inside = frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = inside.document.createElement("script");
      this.waiting = [];
      script.onload = () => {
        this.waiting.forEach((data) => this.send(data));
        this.waiting = null;
      };
      script.src = url;
      this.send = (data) => inside.dispatchEvent(new MessageEvent("message", { data }));
      inside.document.body.appendChild(script);
    }

    set onmessage(listener) {
      this.addEventListener("message", listener);
    }

    postMessage(data) {
      if (this.waiting) this.waiting.push(data);
      else this.send(data);
    }
  };
}
