"use strict";
// Sorting and filtering of the tables that allow it, and folds that open for print. Everything can be read without this.
const text = (row, column) => row.cells[column].textContent.trim();
const number = (value) => (value === "" ? NaN : Number(value.replace(/\u2212/g, "-").match(/^-?[\d.]+(e[+-]?\d+)?/i)?.[0] ?? NaN));
const compare = (a, b) => {
  const [x, y] = [number(a), number(b)];
  if (!Number.isNaN(x) && !Number.isNaN(y)) return x - y;
  return a.localeCompare(b, "en", { numeric: true });
};
const sort = (table, column, header) => {
  const down = header.getAttribute("aria-sort") === "ascending";
  table.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
  header.setAttribute("aria-sort", down ? "descending" : "ascending");
  const rows = [...table.tBodies[0].rows].sort((a, b) => compare(text(a, column), text(b, column)) * (down ? -1 : 1));
  table.tBodies[0].append(...rows);
};
const field = (label, element) => {
  const wrapper = document.createElement("label");
  wrapper.append(label, element);
  return wrapper;
};
document.querySelectorAll("table.interactive").forEach((table) => {
  const name = table.caption.textContent;
  [...table.tHead.rows[0].cells].forEach((header, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = header.textContent;
    button.title = "Sort by this column";
    button.addEventListener("click", () => sort(table, column, header));
    header.replaceChildren(button);
  });
  const search = document.createElement("input");
  search.type = "search";
  const only = document.createElement("select");
  for (const choice of ["everything", "PROVED", "REFUTED", "UNKNOWN", "VIOLATION", "NONCONFORMING", "not as expected"]) only.add(new Option(choice));
  const count = document.createElement("output");
  const rows = [...table.tBodies[0].rows];
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const said = row.textContent;
      const chosen = [...row.querySelectorAll("b")].some((badge) => only.value === "not as expected" ? badge.className === "loud" : badge.textContent.endsWith(` ${only.value}`));
      row.hidden = !((chosen || only.selectedIndex === 0) && words.every((word) => said.toLowerCase().includes(word)));
      shown += row.hidden ? 0 : 1;
    }
    count.textContent = `${shown} of ${rows.length} shown`;
  };
  search.addEventListener("input", filter);
  only.addEventListener("change", filter);
  const tools = document.createElement("div");
  tools.className = "tools";
  tools.setAttribute("role", "search");
  tools.setAttribute("aria-label", name);
  tools.append(field("Find", search), field("Show", only), count);
  table.parentElement.before(tools);
  filter();
});
const reveal = () => {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  (target.parentElement.localName === "details" ? target.parentElement : target).scrollIntoView();
};
// a link to where the page is already, of which no change of the address tells
document.addEventListener("click", (event) => {
  if (event.target.closest?.("a")?.getAttribute("href") === location.hash) setTimeout(reveal);
});
addEventListener("hashchange", reveal);
reveal();
addEventListener("beforeprint", () => {
  for (const fold of document.querySelectorAll("details:not([open])")) { fold.open = true; fold.dataset.opened = ""; }
});
addEventListener("afterprint", () => {
  for (const fold of document.querySelectorAll("details[data-opened]")) { fold.open = false; delete fold.dataset.opened; }
});
