
(() => {
  "use strict";
  const find = (id) => document.getElementById(id);
  const form = find("controls");
  // Folded tables would be missing on paper.
  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details")) details.open = true;
  });
  if (!form) return;

  const list = find("pairs");
  const pairs = [...list.children].map((element) => ({
    element,
    words: [...element.querySelectorAll(".text")].map((text) => text.textContent).join("\n").toLowerCase(),
    lost: element.dataset.lost ? element.dataset.lost.split(" ") : [],
  }));

  const lostAsAsked = (lost, asked) =>
    asked === "" || (asked === "any" && lost.length > 0) || (asked === "none" && lost.length === 0) || lost.includes(asked);

  const filter = () => {
    const words = find("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const capability = find("by-capability").value;
    const label = find("by-label").value;
    let shown = 0;
    for (const pair of pairs) {
      const data = pair.element.dataset;
      const fits =
        words.every((word) => pair.words.includes(word)) &&
        (capability === "" || capability === data.capability) &&
        (label === "" || label === data.label) &&
        lostAsAsked(pair.lost, find("by-lost").value);
      pair.element.hidden = !fits;
      shown += fits;
    }
    find("shown").textContent = `${shown} of the ${pairs.length} pairs here`;
  };

  const sort = () => {
    const key = find("order").value;
    const sign = key === "order" ? 1 : -1;
    const value = (pair) => sign * Number(pair.element.dataset[key]);
    const place = (pair) => Number(pair.element.dataset.order);
    pairs.sort((a, b) => value(a) - value(b) || place(a) - place(b));
    list.append(...pairs.map((pair) => pair.element));
  };

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", filter);
  find("order").addEventListener("change", sort);
  // A browser may restore what was chosen before a reload.
  form.reset();
  form.hidden = false;
  filter();
})();
