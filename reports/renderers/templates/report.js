
(() => {
  "use strict";
  const find = (id) => document.getElementById(id);
  const form = find("controls");
  // Folded tables would be missing on paper.
  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details")) details.open = true;
  });
  // A link to a folded section opens it.
  const open = () => {
    const details = location.hash && find(location.hash.slice(1))?.querySelector(":scope > details");
    if (details) details.open = true;
  };
  addEventListener("hashchange", open);
  open();
  if (!form) return;

  const list = find("pairs");
  const more = find("more");
  const unit = list.dataset.unit || "pairs";
  const most = Number(list.dataset.most) || Infinity;
  let room = most;
  const selects = [...form.querySelectorAll('select[id^="by-"]')];
  const pairs = [...list.children].map((element) => ({
    element,
    words: [...element.querySelectorAll(".text")].map((text) => text.textContent).join("\n").toLowerCase(),
  }));

  // A select called by-x asks for one of the words in an element's data-x, for any, or for none.
  const asAsked = (words, asked) =>
    asked === "" || (asked === "any" && words.length > 0) || (asked === "none" && words.length === 0) || words.includes(asked);

  const filter = () => {
    const words = find("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const pair of pairs) {
      const fits =
        words.every((word) => pair.words.includes(word)) &&
        selects.every((select) => asAsked((pair.element.dataset[select.id.slice(3)] ?? "").split(" ").filter(Boolean), select.value));
      shown += fits;
      pair.element.hidden = !fits || shown > room;
    }
    find("shown").textContent = `${shown} of the ${pairs.length} ${unit} here`;
    if (more) more.hidden = shown <= room;
    if (more) more.textContent = `Show ${Math.min(most, shown - room)} more of ${shown}`;
  };

  const sort = () => {
    const key = find("order").value;
    const sign = key === "order" ? 1 : -1;
    const value = (pair) => sign * Number(pair.element.dataset[key]);
    const place = (pair) => Number(pair.element.dataset.order);
    pairs.sort((a, b) => value(a) - value(b) || place(a) - place(b));
    list.append(...pairs.map((pair) => pair.element));
    filter();
  };

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => { room = most; filter(); });
  more?.addEventListener("click", () => { room += most; filter(); });
  find("order").addEventListener("change", sort);
  // A browser may restore what was chosen before a reload.
  form.reset();
  form.hidden = false;
  filter();
})();
