"""Open pages in headless Chromium, as people with different screens and needs would, and list all that is wrong.

Every page is opened at three widths, in light and dark, without scripts too, and for print. Wrong is: an error on the console;
any request beside the page itself; content wider than the screen, or cut off in print; a control that Tab does not reach, that
shows no focus or that keeps it; a rule of WCAG 2.1 A or AA that axe-core finds broken; an id twice; a picture without a title.

Exit code 0: nothing wrong. 1: something is, one line each. 2: bad usage, or no browser.
"""

import argparse
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, Request, Route, sync_playwright

WIDTHS = (360, 768, 1280)
SCHEMES = ("light", "dark")
HEIGHT = 800
PAPER = 718
"""A4 without its margins, in CSS pixels."""
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
RULES = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}, "resultTypes": ["violations"]}
SHOWN = 5
"""As many examples of one fault as are named."""

# A few words that name an element for people: tag, id or class, and how its text begins.
NAME_OF = """element => {
    const text = (element.textContent || '').trim().replace(/\\s+/g, ' ').slice(0, 30);
    const name = element.id ? '#' + element.id : element.classList.length ? '.' + element.classList[0] : '';
    return '<' + element.localName + name + '>' + (text ? ' "' + text + '"' : '');
}"""

# Elements with text or pictures of their own that reach beyond the screen, and are not in a place of its own that can be scrolled.
TOO_WIDE = f"""() => {{
    const nameOf = {NAME_OF}, width = document.documentElement.clientWidth, found = [];
    const scrolls = element => {{
        for (let at = element; at && at !== document.body; at = at.parentElement)
            if (['auto', 'scroll'].includes(getComputedStyle(at).overflowX)
                && at.getBoundingClientRect().right <= width + 1 && at.getBoundingClientRect().left >= -1) return true;
        return false;
    }};
    const own = element => [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
    for (const element of document.body.querySelectorAll('*')) {{
        if (!own(element) && !['svg', 'img', 'canvas', 'video', 'input', 'math'].includes(element.localName)) continue;
        if (!element.checkVisibility({{visibilityProperty: true, opacityProperty: true}})) continue;
        const style = getComputedStyle(element);
        const range = document.createRange(); range.selectNodeContents(element);
        for (const box of [element.getBoundingClientRect(), ...(own(element) ? range.getClientRects() : [])])
            if (box.width > 1 && box.height > 1 && (box.right > width + 1 || box.left < -1) && !scrolls(element)
                && !(style.position === 'absolute' && box.right < 0)) {{ found.push(nameOf(element)); break; }}
    }}
    const page = document.scrollingElement;
    if (!found.length && page.scrollWidth > page.clientWidth + 1) found.push('the page, ' + page.scrollWidth + ' pixels wide');
    return found;
}}"""

# On paper nothing scrolls: what a box with a scroll bar, or one that hides what does not fit, holds beyond its edges is lost.
CUT_OFF = f"""() => {{
    const nameOf = {NAME_OF};
    return [...document.body.querySelectorAll('*')].filter(element => {{
        const style = getComputedStyle(element);
        if (!element.checkVisibility() || element.clientWidth <= 1 || element.closest('svg')) return false;
        const wide = style.overflowX !== 'visible' && element.scrollWidth > element.clientWidth + 1;
        const high = style.overflowY !== 'visible' && element.scrollHeight > element.clientHeight + 1;
        return wide || high;
    }}).map(nameOf);
}}"""

TWICE = """() => {
    const ids = [...document.querySelectorAll('[id]')].map(element => element.id);
    return [...new Set(ids.filter((id, index) => ids.indexOf(id) !== index))];
}"""

UNTITLED = f"""() => [...document.querySelectorAll('svg')].filter(svg => {{
    if (svg.closest('[aria-hidden="true"]') || svg.parentElement.closest('svg')) return false;
    const title = [...svg.children].find(child => child.localName === 'title');
    return !title || !title.textContent.trim();
}}).map({NAME_OF})"""

# Everything that Tab should reach, each with how it looks while it has no focus.
CONTROLS = """() => {
    const asked = 'a[href], button, input, select, textarea, summary, iframe, [tabindex], [contenteditable="true"], [onclick]';
    window.lookOf = element => {
        const style = getComputedStyle(element);
        const kept = ['boxShadow', 'borderTopColor', 'borderBottomColor', 'borderBottomWidth', 'backgroundColor', 'textDecorationLine'];
        return kept.map(key => style[key]).join('|');
    };
    window.controls = [...document.querySelectorAll(asked)].filter(element =>
        !element.disabled && element.type !== 'hidden' && element.checkVisibility({visibilityProperty: true})
        && (element.getAttribute('tabindex') !== '-1'));
    window.looks = window.controls.map(window.lookOf);
    document.activeElement && document.activeElement.blur();
    return window.controls.length;
}"""

# Where the focus is after a press of Tab: the number of the control, and whether it can be seen that it is there.
FOCUSED = f"""() => {{
    const nameOf = {NAME_OF}, element = document.activeElement;
    if (!element || element === document.body || element === document.documentElement) return null;
    const style = getComputedStyle(element), index = window.controls.indexOf(element);
    const ring = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0
        && !/^(transparent|rgba\\(.*, 0\\))$/.test(style.outlineColor);
    const seen = ring || index < 0 || window.looks[index] !== window.lookOf(element);
    window.order = window.order || new Map();
    if (!window.order.has(element)) window.order.set(element, window.order.size);
    return {{index, seen, name: nameOf(element), key: window.order.get(element)}};
}}"""

# Of the controls with these numbers not reached: radio buttons of a group are one stop.
UNREACHED = f"""reached => {{
    const at = new Set(reached), group = element => element.type === 'radio' && element.name ? element.name : null;
    const groups = new Set(reached.map(index => group(window.controls[index])).filter(name => name));
    return window.controls.filter((element, index) => !at.has(index) && !groups.has(group(element))).map({NAME_OF});
}}"""


def find_chromium() -> str | None:
    """The browser: CHROMIUM where that is set, else the first of the usual names on the path."""
    named = os.environ.get("CHROMIUM")
    if named:
        return shutil.which(named)
    return next((found for found in map(shutil.which, NAMES) if found), None)


@contextmanager
def browser() -> Iterator[Browser]:
    """A headless Chromium with an empty profile of its own. Raises FileNotFoundError where there is none."""
    path = find_chromium()
    if path is None:
        raise FileNotFoundError("no Chromium found. Install one, such as with `apt-get install chromium`, or set CHROMIUM to its path.")
    with sync_playwright() as playwright:
        # as root Chromium has no sandbox
        flags = [*FLAGS, *(["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else [])]
        opened = playwright.chromium.launch(executable_path=path, args=flags)
        try:
            yield opened
        finally:
            opened.close()


class Visit:
    """A page opened in one way; collects what goes wrong on the way."""

    def __init__(self, opened: Browser, path: Path, *, width: int = 1280, scheme: str = "light", scripts: bool = True) -> None:
        self.faults: list[str] = []
        self.address = path.resolve().as_uri()
        self.context: BrowserContext = opened.new_context(
            viewport={"width": width, "height": HEIGHT}, color_scheme=scheme, java_script_enabled=scripts, offline=True
        )
        self.context.route("**/*", self._allow)
        self.page: Page = self.context.new_page()
        self.page.on("request", self._requested)
        self.page.on("console", lambda message: message.type == "error" and self.faults.append(f"console: {message.text}"))
        self.page.on("pageerror", lambda error: self.faults.append(f"console: {error}"))
        self.page.goto(self.address, wait_until="load")

    def __enter__(self) -> "Visit":
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()

    def _own(self, url: str) -> bool:
        return url.partition("#")[0] == self.address or url.startswith(("data:", "blob:"))

    def _allow(self, route: Route) -> None:
        """Nothing leaves the machine, whatever the page asks for."""
        if self._own(route.request.url):
            route.continue_()
        else:
            route.abort()

    def _requested(self, request: Request) -> None:
        if not self._own(request.url):
            self.faults.append(f"request: {request.url}")

    def note(self, what: str, found: Sequence[str]) -> None:
        """Remember a fault with a few examples."""
        if found:
            more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
            self.faults.append(f"{what}: {', '.join(found[:SHOWN])}{more}")

    def unfold(self) -> None:
        """Open everything that is folded."""
        self.page.evaluate("() => document.querySelectorAll('details').forEach(one => { one.open = true; })")


def check(opened: Browser, path: Path, screenshots: Path | None = None) -> list[str]:
    """All that is wrong with a page, one line each, every fault once with the ways of opening it that show it."""
    seen: dict[str, list[str]] = {}
    for way, faults in _ways(opened, path, screenshots):
        for fault in dict.fromkeys(faults):
            seen.setdefault(fault, []).append(way)
    return [f"{path}: {fault} ({', '.join(ways)})" for fault, ways in seen.items()]


def _ways(opened: Browser, path: Path, screenshots: Path | None) -> Iterator[tuple[str, list[str]]]:
    for scheme in SCHEMES:
        for width in WIDTHS:
            # whether scripts run does not depend on the colours
            for scripts in (True, False) if scheme == SCHEMES[0] else (True,):
                with Visit(opened, path, width=width, scheme=scheme, scripts=scripts) as visit:
                    if screenshots is not None and scripts and width != WIDTHS[1]:
                        visit.page.screenshot(path=screenshots / f"{path.stem}-{width}-{scheme}.png", full_page=True)
                    _look(visit)
                    if scripts and width != WIDTHS[1]:
                        _axe(visit)
                yield f"{width} {scheme}{'' if scripts else ' without scripts'}", visit.faults
    with Visit(opened, path) as visit:
        _document(visit)
        _tab(visit)
    yield "keyboard", visit.faults
    with Visit(opened, path, width=PAPER) as visit:
        _print(visit)
    yield "print", visit.faults


def _look(visit: Visit) -> None:
    """Width, folded and unfolded; and whether anything is there."""
    if not visit.page.evaluate("() => document.body.innerText.trim().length"):
        visit.faults.append("nothing to read")
    folded = visit.page.evaluate(TOO_WIDE)
    visit.unfold()
    visit.note("wider than the screen", folded or visit.page.evaluate(TOO_WIDE))


def _axe(visit: Visit) -> None:
    """The rules of WCAG 2.1 A and AA, as far as a machine can tell, with everything unfolded."""
    for broken in Axe().run(visit.page, options=RULES).response["violations"]:
        targets = [str(node["target"][0]) for node in broken["nodes"]]
        visit.note(f"{broken['id']} ({broken['impact']}): {broken['help']}", targets)


def _document(visit: Visit) -> None:
    visit.note("ids that are there twice", visit.page.evaluate(TWICE))
    visit.note("svg without a title", visit.page.evaluate(UNTITLED))


def _tab(visit: Visit) -> None:
    """Tab from the start until the focus leaves the page: every control is reached, shows it, and lets go."""
    visit.unfold()
    count = visit.page.evaluate(CONTROLS)
    reached: list[int] = []
    hidden: list[str] = []
    last, first = None, None
    for _ in range(2 * count + 10):
        visit.page.keyboard.press("Tab")
        at = visit.page.evaluate(FOCUSED)
        if at is None or (at["key"] == first and last != first):
            break
        if at["key"] == last:
            visit.faults.append(f"keeps the focus: {at['name']}")
            break
        first, last = (at["key"] if first is None else first), at["key"]
        reached += [at["index"]] if at["index"] >= 0 else []
        hidden += [] if at["seen"] else [at["name"]]
    visit.note("focus that is not seen", hidden)
    visit.note("not reached by Tab", visit.page.evaluate(UNREACHED, reached))


def _print(visit: Visit) -> None:
    """As a PDF, and as it is laid out for paper."""
    if not visit.page.pdf(format="A4").startswith(b"%PDF"):
        visit.faults.append("no PDF")
    visit.page.emulate_media(media="print")
    visit.note("cut off in print", [*dict.fromkeys(visit.page.evaluate(TOO_WIDE) + visit.page.evaluate(CUT_OFF))])


def pages(paths: Sequence[Path]) -> list[Path]:
    """The pages to open: files, and those of folders. Raises FileNotFoundError with all that are missing."""
    missing = [str(path) for path in paths if not path.exists()]
    if missing:
        raise FileNotFoundError(f"no such page: {', '.join(missing)}")
    return [page for path in paths for page in (sorted(path.glob("*.html")) if path.is_dir() else [path])]


def main(arguments: Sequence[str] | None = None) -> int:
    """Check all pages and print what is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("pages", nargs="*", type=Path, help="HTML files, or folders of them")
    parser.add_argument("--screenshots", type=Path, help="a folder for pictures at 360 and 1280 pixels, light and dark")
    parser.add_argument("--find", action="store_true", help="only print the path of the browser")
    chosen = parser.parse_args(arguments)
    try:
        if chosen.find:
            with browser() as opened:
                print(find_chromium(), opened.version)
            return 0
        listed = pages(chosen.pages)
        if not listed:
            parser.error("no pages to open")
        if chosen.screenshots is not None:
            chosen.screenshots.mkdir(parents=True, exist_ok=True)
        with browser() as opened:
            faults = [fault for page in listed for fault in check(opened, page, chosen.screenshots)]
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 2
    counted = f"{len(listed)} page{'' if len(listed) == 1 else 's'}"
    print("\n".join([*faults, f"{counted}, {len(faults) or 'nothing'} wrong"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
