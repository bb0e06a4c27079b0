
(() => {
  "use strict";
  const find = (id) => document.getElementById(id);

  // The address: #ANCHOR?KEY=VALUE&..., where the keys are those of the controls.
  const address = () => {
    const [anchor, ...state] = location.hash.slice(1).split("?");
    return { anchor, state: new URLSearchParams(state.join("?")) };
  };

  // Shows an element that stands behind folded ones, and what is folded in a section.
  const reveal = (element, focus) => {
    for (let fold = element.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    const own = element.querySelector(":scope > details.part");
    if (own) own.open = true;
    element.scrollIntoView({ block: "start" });
    if (!focus) return;
    element.tabIndex = -1;
    element.focus({ preventScroll: true });
  };

  // Folded tables would be missing on paper; the answer, the first section, is a sheet of its own.
  addEventListener("beforeprint", () => {
    for (const fold of document.querySelectorAll("main > :not(:first-child) details")) fold.open = true;
  });
  // What is too wide for its place scrolls, by the keyboard as well.
  const reachable = () => {
    for (const box of document.querySelectorAll(".scroll, .drawing")) if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  };
  addEventListener("toggle", reachable, true);
  reachable();
  // Cards that are not in the page are packed: forms of elements with holes, and the texts of each item.
  const HOLE = "\0";
  const filled = (words, texts) => (words.includes(HOLE) ? words.replace(HOLE, () => texts.next().value) : words);
  const build = ([tag, attributes, ...children], texts) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, filled(value, texts));
    element.append(...children.map((child) => (typeof child === "string" ? filled(child, texts) : build(child, texts))));
    return element;
  };
  const unpacked = async (packed) => {
    const letters = atob(packed);
    const bytes = new Uint8Array(letters.length);
    for (let place = 0; place < letters.length; place += 1) bytes[place] = letters.charCodeAt(place);
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
  };

  // A click on a chart of moves, or an arrow key, shows the nearest change, or the next one.
  const choosable = async (block) => {
    const { forms, pieces } = await unpacked(block.querySelector("template").content.textContent);
    const [card, charts] = [block.querySelector(".change"), [...block.querySelectorAll(".dots")]];
    const pick = (place) => {
      for (const chart of charts) {
        chart.querySelector(".chosen")?.classList.remove("chosen");
        chart.querySelectorAll("circle")[place].classList.add("chosen");
        chart.ariaValueNow = place + 1;
      }
      const [form, , , texts] = pieces[place];
      card.replaceChildren(...build(forms[form], texts.values()).childNodes);
      card.hidden = false;
    };
    for (const chart of charts) {
      const dots = [...chart.querySelectorAll("circle")].map((dot) => [dot.cx.baseVal.value, dot.cy.baseVal.value]);
      const least = (distance) => dots.reduce((best, dot, place) => (distance(dot) < distance(dots[best]) ? place : best), 0);
      chart.addEventListener("click", (event) => {
        const box = chart.getBoundingClientRect();
        const [x, y] = [event.clientX - box.left, event.clientY - box.top].map((side) => (200 * side) / box.width);
        pick(least((dot) => Math.hypot(dot[0] - x, dot[1] - y)));
      });
      chart.addEventListener("keydown", (event) => {
        const [axis, by] = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [1, -1], ArrowDown: [1, 1] }[event.key] ?? [];
        if (!by) return;
        event.preventDefault();
        const order = [...dots.keys()].sort((a, b) => dots[a][axis] - dots[b][axis] || a - b);
        const now = order.indexOf(chart.ariaValueNow - 1);
        pick(order[Math.min(Math.max(now < 0 ? order.length >> 1 : now + by, 0), order.length - 1)]);
      });
      Object.assign(chart, { role: "slider", tabIndex: 0, ariaValueMin: 0, ariaValueMax: dots.length, ariaValueNow: 0 });
    }
    block.querySelector(".hint").hidden = false;
  };
  document.querySelectorAll(".moves").forEach(choosable);

  // A link to a folded section opens it.
  const form = find("controls");
  if (!form) {
    const follow = () => { const target = find(address().anchor); if (target) reveal(target); };
    addEventListener("hashchange", follow);
    follow();
    return;
  }

  const list = find("pairs");
  const more = find("more");
  const { unit, most } = list.dataset;
  const atOnce = Number(most) || Infinity;
  const section = list.closest("section").id;
  const selects = [...form.querySelectorAll('select[id^="by-"]')];
  const controls = [find("search"), ...selects, find("order")];
  const nameOf = (control) => control.id.replace("by-", "");
  let room = atOnce;
  let chosen = [];

  // An item is an element of the list, made when it is first shown, with what it is found by.
  const items = [...list.children].map((element, place) => ({
    place,
    anchor: element.id,
    keys: { ...element.dataset },
    words: [...element.querySelectorAll(".text")].map((text) => text.textContent).join("\n").toLowerCase(),
    element: () => element,
  }));

  // Which holes of a form are searched: those within an element of the class `text`.
  const searched = ([, attributes, ...children], inside, found) => {
    for (const value of Object.values(attributes)) if (value.includes(HOLE)) found.push(false);
    for (const child of children) {
      if (typeof child !== "string") searched(child, inside || (child[1].class ?? "").split(" ").includes("text"), found);
      else if (child.includes(HOLE)) found.push(inside);
    }
    return found;
  };
  const unpack = async (packed) => {
    const { forms, pieces } = await unpacked(packed);
    const holes = forms.map((one) => searched(one, false, []).flatMap((inside, hole) => (inside ? [hole] : [])));
    for (const [form, anchor, keys, texts] of pieces) {
      let made = null;
      const element = () => {
        if (made) return made;
        made = build(forms[form], texts.values());
        made.className = "pair";
        made.id = anchor;
        return made;
      };
      const words = holes[form].map((hole) => texts[hole]).join("\n").toLowerCase();
      items.push({ place: items.length, anchor, keys, words, element });
    }
  };

  // A select called by-x asks for one of the words in an item's key x, for any, or for none.
  const asAsked = (words, asked) =>
    asked === "" || (asked === "any" ? words !== "" : asked === "none" ? words === "" : ` ${words} `.includes(` ${asked} `));

  const show = () => {
    list.replaceChildren(...chosen.slice(0, room).map((item) => item.element()));
    if (!more) return;
    more.hidden = chosen.length <= room;
    more.textContent = `Show ${Math.min(atOnce, chosen.length - room)} more of ${chosen.length}`;
  };

  let ordered = "";
  const sort = (key) => {
    const sign = key === "order" ? 1 : -1;
    const value = (item) => sign * Number(item.keys[key]);
    items.sort((a, b) => value(a) - value(b) || a.place - b.place);
    ordered = key;
  };

  // Each option says how many items it leaves, with the search and the other selects as they are.
  const count = (select, tally) => {
    for (const option of select.options) {
      option.dataset.words ??= option.text;
      const left = [...tally].reduce((sum, [key, n]) => sum + (asAsked(key, option.value) ? n : 0), 0);
      option.text = `${option.dataset.words} (${left})`;
    }
  };

  const choose = () => {
    if (find("order").value !== ordered) sort(find("order").value);
    const words = find("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const asked = selects.map((select) => ({ name: nameOf(select), value: select.value, tally: new Map() }));
    chosen = [];
    for (const item of items) {
      if (!words.every((word) => item.words.includes(word))) continue;
      const refusing = asked.filter(({ name, value }) => !asAsked(item.keys[name] ?? "", value));
      if (!refusing.length) chosen.push(item);
      for (const one of refusing.length ? refusing : asked) {
        const key = item.keys[one.name] ?? "";
        if (refusing.length < 2) one.tally.set(key, (one.tally.get(key) ?? 0) + 1);
      }
    }
    selects.forEach((select, place) => count(select, asked[place].tally));
    const none = `None of the ${items.length} ${unit} here matches; clear the filters.`;
    find("shown").textContent = chosen.length ? `${chosen.length} of the ${items.length} ${unit} here` : none;
    find("clear").hidden = controls.every((control) => control.value === first(control));
    if (find("kept")) find("kept").textContent = kept();
    show();
  };

  // The share of the chosen kept pairs of a text on which each model keeps its answer, over texts.
  const kept = () => {
    const texts = new Map();
    for (const { keys } of chosen) {
      if (keys.judged) texts.set(keys.judged, [...(texts.get(keys.judged) ?? []), keys[form.dataset.difference]]);
    }
    const mean = (shares) => shares.reduce((sum, share) => sum + share, 0) / shares.length;
    const models = [...find(`by-${form.dataset.difference}`).options].filter((option) => /^\d+$/.test(option.value));
    const shares = models.map(({ value, dataset }) => {
      const lost = mean([...texts.values()].map((pairs) => mean(pairs.map((key) => asAsked(key, value) ? 1 : 0))));
      return `${dataset.words.replace(/ differs$/, "")} ${(100 * (1 - lost)).toFixed(1)}\u00a0%`;
    });
    return texts.size ? `Kept, exploratory: ${shares.join(", ")}, mean of ${texts.size} texts chosen` : "";
  };

  const first = (control) => (control.options ? control.options[0].value : "");
  // In the address an option that is a place in a list has its name instead.
  const spelled = (option) => (/^\d+$/.test(option.value) ? option.dataset.words.replace(/ differs$/, "") : option.value);
  const inAddress = (control) => (control.selectedOptions ? spelled(control.selectedOptions[0]) : control.value);
  const fromAddress = (control, words) => {
    if (words === null || !control.options) return words ?? first(control);
    const options = [...control.options];
    const meant = options.find((option) => spelled(option) === words) ?? options.find((option) => option.value === words);
    return meant ? meant.value : first(control);
  };
  const keep = (anchor) => {
    const changed = controls.filter((control) => control.value !== first(control));
    const state = new URLSearchParams(changed.map((control) => [nameOf(control), inAddress(control)]));
    history.replaceState(null, "", `#${anchor}${changed.length ? `?${state}` : ""}`);
  };

  // Brings an item into view, one beyond those shown as well.
  const go = (item) => {
    room = Math.max(room, atOnce * Math.ceil((chosen.indexOf(item) + 1) / atOnce));
    show();
    reveal(item.element(), true);
    keep(item.anchor || section);
  };

  // What the address asks for: a state of the controls, an item, or a section.
  const follow = () => {
    const { anchor, state } = address();
    if (location.hash.includes("?")) {
      for (const control of controls) control.value = fromAddress(control, state.get(nameOf(control)));
      choose();
    }
    const item = anchor && items.find((one) => one.anchor === anchor);
    if (item && !chosen.includes(item)) {
      form.reset();
      choose();
    }
    if (item) go(item);
    else if (find(anchor)) reveal(find(anchor));
    if (anchor && !item) keep(anchor);
  };

  // The next difference after the item in focus, or before it.
  const step = (by) => {
    const differing = (item) => item.keys[form.dataset.difference];
    let place = chosen.findIndex((item) => item.anchor === document.activeElement.closest(".pair")?.id);
    if (place < 0 && by < 0) return;
    do place += by; while (chosen[place] && !differing(chosen[place]));
    if (chosen[place]) go(chosen[place]);
  };

  // The chosen items as rows: what a card says, once a row of its table.
  const rows = () => chosen.flatMap((item) => {
    const card = item.element();
    const about = { id: item.anchor, about: card.querySelector(".note").textContent.replace(/\s*#$/, "") };
    card.querySelectorAll("p.text").forEach((text, place) => { about[`text ${place + 1}`] = text.textContent; });
    return [...card.querySelectorAll("tbody tr")].map((row) => {
      const heads = [...row.closest("table").tHead.rows[0].cells];
      return { ...about, ...Object.fromEntries([...row.cells].map((cell, place) => [heads[place].textContent || "of", cell.textContent])) };
    });
  });
  // A spreadsheet would run a cell that begins as a formula does.
  const cell = (words = "") => `"${words.replace(/^[=+\-@\t\r]/, "'$&").replaceAll('"', '""')}"`;
  const csv = (found) => {
    const heads = [...new Set(found.flatMap(Object.keys))];
    return [heads, ...found.map((row) => heads.map((head) => row[head]))].map((row) => row.map((words) => cell(words)).join(",")).join("\r\n");
  };
  const copy = async (form, words) => {
    const said = await navigator.clipboard.writeText(words).then(() => `copied as ${form}`, () => "not copied: the browser refuses");
    find("shown").textContent = `${chosen.length} ${unit} ${said}`;
  };

  const start = async () => {
    const packed = find("packed");
    // A browser that cannot read what is packed shows the first ones, and the line on where all are.
    if (packed) await unpack(packed.content.textContent).then(() => { find("unshown").className = "printed"; }, () => {});
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", () => { room = atOnce; choose(); keep(section); });
    find("clear").addEventListener("click", () => { form.reset(); room = atOnce; choose(); keep(section); find("search").focus(); });
    more?.addEventListener("click", () => { room += atOnce; show(); });
    find("copy-csv")?.addEventListener("click", () => copy("CSV", csv(rows())));
    find("copy-json")?.addEventListener("click", () => copy("JSON", JSON.stringify(rows(), null, 1)));
    addEventListener("hashchange", follow);
    addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      // A letter would choose the next option that begins with it.
      if (event.target.closest?.("select") && /^\S$/u.test(event.key)) event.preventDefault();
      const typed = event.target.closest?.("input, select");
      if (!typed && form.dataset.difference && "np".includes(event.key)) step(event.key === "n" ? 1 : -1);
    });
    // Only the first are printed.
    let before = room;
    addEventListener("beforeprint", () => {
      before = room;
      room = atOnce;
      show();
    });
    addEventListener("afterprint", () => { room = before; show(); });
    // A browser may restore what was chosen before a reload.
    form.reset();
    form.hidden = false;
    choose();
    follow();
    document.body.dataset.ready = "";
    performance.mark("ready");
  };
  start();
})();
