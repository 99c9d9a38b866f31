"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const COLUMN = 92;  // least width of a level in the icicle, in pixels
  const LEAST = 0.03;  // of the height: what a keyboard comes to
  const SHEET = 700;  // pixels that every printer has in a line
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const one = (selector, root = document) => root.querySelector(selector);

  /** An element with attributes and children; texts are set as texts, never parsed. */
  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "style") element.style.cssText = value;
      else if (name === "onclick") element.addEventListener("click", value);
      else element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== null));
    return element;
  }

  function percent(share) {
    const value = 100 * share;
    if (value > 0 && value < 0.1) return "<0.1 %";
    const tenths = value.toFixed(1);
    if (value < 10 && Number(tenths) !== Math.round(value)) return tenths + " %";
    return (value > 99 && value < 100 ? Math.min(value, 99.9).toFixed(1) : value.toFixed(0)) + " %";
  }
  const signed = (value) => (value < 0 ? "−" : "+") + Math.abs(value).toFixed(1);
  const count = (value) => value.toLocaleString("en");

  const tip = make("div", { class: "tip", "aria-hidden": "true" });
  document.body.append(tip);
  function showTip(x, y, ...children) {
    (one("dialog[open]") || document.body).append(tip);
    tip.replaceChildren(...children.filter((child) => child !== null));
    tip.classList.add("shown");
    const left = Math.min(x + 14, innerWidth - tip.offsetWidth - 10);
    const below = y + 18 + tip.offsetHeight < innerHeight;
    tip.style.left = Math.max(8, left) + "px";
    tip.style.top = (below ? y + 18 : Math.max(8, y - 14 - tip.offsetHeight)) + "px";
  }
  const hideTip = () => tip.classList.remove("shown");
  const hideTipByKey = (event) => { if (event.key === "Escape") hideTip(); };
  document.addEventListener("keydown", hideTipByKey);

  function startTheme() {
    for (const button of all("[data-theme]")) button.addEventListener("click", toggleTheme);
  }
  function toggleTheme() {
    const root = document.documentElement;
    const dark = root.style.colorScheme
      ? root.style.colorScheme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.style.colorScheme = dark ? "light" : "dark";
  }

  // The icicle ------------------------------------------------------------------------------

  function startIcicle() {
    const svg = one("[data-icicle]");
    if (!svg) return;
    const boxes = JSON.parse(one("#boxes").textContent);
    const groups = all("[data-box]", svg);
    const height = Number(svg.dataset.height);
    let width = 0;
    let column = 0;
    const detail = one("[data-detail]");
    const trail = one("[data-trail]");
    let zoomed = -1;
    let chosen = -1;

    const labels = groups.map((group) => {
      const text = document.createElementNS(SVG, "text");
      const share = document.createElementNS(SVG, "text");
      share.setAttribute("class", "share");
      group.append(text, share);
      return [text, share];
    });

    function ancestors(number) {
      const chain = [];
      for (let at = number; at >= 0; at = boxes[at].parent) chain.unshift(at);
      return chain;
    }

    /** One unit is one pixel, so that labels can be read; a narrow drawing has fewer levels. */
    function measure() {
      width = svg.clientWidth - 4;
      const levels = Math.min(Number(svg.dataset.levels), Math.max(2, Math.floor(width / COLUMN)));
      column = width / levels;
      svg.setAttribute("viewBox", `-2 -2 ${width + 4} ${height + 4}`);
      svg.style.height = height + 4 + "px";
      draw();
    }

    function draw() {
      const top = zoomed < 0 ? { top: 0, height: 1, level: 0 } : boxes[zoomed];
      const above = new Set(ancestors(zoomed));
      boxes.forEach((box, number) => {
        const outer = above.has(number);
        const y = outer ? 0 : ((box.top - top.top) / top.height) * height;
        const tall = outer ? height : (box.height / top.height) * height;
        const x = (box.level - top.level) * column;
        const seen = x >= 0 && x < width - 1 && y + tall > 0 && y < height;
        const group = groups[number];
        group.style.display = seen ? "" : "none";
        if (!seen) return;
        group.setAttribute("tabindex", tall > LEAST * height ? 0 : -1);
        const rect = group.firstElementChild;
        rect.setAttribute("x", x);
        rect.setAttribute("y", y);
        rect.setAttribute("width", column);
        rect.setAttribute("height", Math.max(tall, 0.5));
        const [text, share] = labels[number];
        text.textContent = tall > 13 ? shortened(box.label, Math.floor((column - 14) / 7)) : "";
        text.setAttribute("x", x + 8);
        text.setAttribute("y", y + Math.min(tall / 2 + 4, 18));
        share.textContent = tall > 38 ? percent(box.height) : "";
        share.setAttribute("x", x + 8);
        share.setAttribute("y", y + 33);
      });
      drawTrail();
    }

    function shortened(label, length) {
      if (label.length <= length) return label;
      const parts = label.split(" / ");
      const short = (parts.length > 1 ? "…/" : "") + parts.pop();
      return short.length <= length ? short : short.slice(0, Math.max(1, length - 1)) + "…";
    }

    function drawTrail() {
      const steps = ancestors(chosen >= 0 ? chosen : zoomed);
      trail.replaceChildren(make("button", { type: "button", onclick: () => zoom(0) }, "whole page"));
      for (const number of steps) {
        trail.append("›", make("button", {
          type: "button", title: boxes[number].label, onclick: () => zoom(number),
        }, shortened(boxes[number].label, 26)));
      }
    }

    function zoom(number) {
      zoomed = boxes[number].merged || boxes[number].level === 0 ? -1 : number;
      chosen = number;
      draw();
      choose(number);
      groups[number].focus();  // what was pressed is gone
    }

    function choose(number) {
      chosen = number;
      groups.forEach((group, index) => group.classList.toggle("on", index === number));
      drawTrail();
      detail.replaceChildren(...describe(boxes[number], number));
      detail.scrollTop = 0;
    }

    function describe(box, number) {
      const name = box.label.split(" / ").pop();
      const parts = [
        make("div", {}, make("h3", {}, name),
          make("p", { class: "path" }, box.path && box.path !== name ? box.path.replaceAll("/", " / ") : "")),
      ];
      const rows = [];
      const add = (term, value) => rows.push(make("dt", {}, term), make("dd", {}, value));
      add("Share of the text", percent(box.height));
      if (!box.merged) {
        add("Characters", count(box.characters));
        add("Blocks", count(box.blocks));
        add("Pages", `${count(box.pages)} (${percent(box.pageShare)})`);
      }
      add("Mean importance", box.importance.toFixed(2));
      rows.push(meter(box.importance, `var(--s${Math.round(10 * box.importance)})`));
      if (!box.merged) {
        add("Kept", percent(box.keptShare));
        rows.push(meter(box.keptShare, "var(--keep)"));
      }
      parts.push(make("dl", {}, ...rows));
      if (!box.merged && zoomed !== number && box.level > 0) {
        parts.push(make("div", {}, make("button", {
          class: "action", type: "button", onclick: () => zoom(number),
        }, "Zoom to this place")));
      }
      if (box.examples && box.examples.length) {
        parts.push(make("ul", { class: "examples" }, ...box.examples.map(example)));
      }
      return parts;
    }

    function meter(share, tone) {
      return make("dd", { class: "wide" }, make("span", { class: "meter", style: `--tone:${tone}` },
        make("i", { style: `width:${(100 * share).toFixed(1)}%` })));
    }

    function example([text, kept, title, key]) {
      const source = templateOf(key)
        ? make("button", { type: "button", onclick: () => openPage(key) }, title)
        : document.createTextNode(title);
      return make("li", { class: kept ? "kept" : "" }, inWords(kept), text, make("span", {}, source));
    }

    svg.addEventListener("pointermove", (event) => {
      const group = event.target.closest("[data-box]");
      if (!group) return hideTip();
      const box = boxes[Number(group.dataset.box)];
      const first = box.examples && box.examples[0];
      showTip(event.clientX, event.clientY, make("b", {}, box.label),
        `${percent(box.height)} of the text · importance ${box.importance.toFixed(2)}` +
          (box.merged ? "" : ` · ${count(box.pages)} pages · kept ${percent(box.keptShare)}`),
        first ? make("div", { class: "soft" }, shortened(first[0], 110)) : null);
    });
    svg.addEventListener("pointerleave", hideTip);
    svg.addEventListener("click", (event) => {
      const group = event.target.closest("[data-box]");
      if (group) choose(Number(group.dataset.box));
    });
    svg.addEventListener("dblclick", (event) => {
      const group = event.target.closest("[data-box]");
      if (group) zoom(Number(group.dataset.box));
    });
    svg.addEventListener("keydown", (event) => {
      const group = event.target.closest("[data-box]");
      if (!group || (event.key !== "Enter" && event.key !== " ")) return;
      event.preventDefault();
      choose(Number(group.dataset.box));
    });
    document.addEventListener("show-place", (event) => {
      const place = event.detail;
      let best = -1;
      boxes.forEach((box, number) => {
        const holds = box.path && (place === box.path || place.startsWith(box.path + "/"));
        if (holds && (best < 0 || box.path.length >= boxes[best].path.length)) best = number;
      });
      if (best < 0) return;
      zoomed = -1;
      draw();
      choose(best);
      svg.scrollIntoView({ block: "center" });
    });
    new ResizeObserver(measure).observe(svg);
    measure();
    choose(0);
  }

  // The gallery -----------------------------------------------------------------------------

  const templateOf = (key) => all("template[data-page]").find((item) => item.dataset.page === key);

  function openPage(key) {
    const dialog = one("[data-dialog]");
    dialog.replaceChildren();
    stage(templateOf(key), dialog);
    dialog.showModal();
  }

  function startGallery() {
    const gallery = one("[data-gallery]");
    if (!gallery) return;
    const dialog = one("[data-dialog]");
    dialog.addEventListener("close", () => { hideTip(); document.body.append(tip); dialog.replaceChildren(); });
    for (const card of all("[data-open]")) card.addEventListener("click", () => openPage(card.dataset.open));
    one("[data-filter]").addEventListener("input", (event) => {
      const wanted = event.target.value.toLowerCase();
      for (const card of all(".page-card", gallery)) {
        card.hidden = !card.textContent.toLowerCase().includes(wanted);
        card.style.display = card.hidden ? "none" : "";
      }
      one("[data-found]").textContent = one(".page-card:not([hidden])", gallery) ? "" : "No page has this in its title or address.";
    });
    const orders = {
      new: (a, b) => a.dataset.order - b.dataset.order,
      noise: (a, b) => b.dataset.noise - a.dataset.noise,
      fit: (a, b) => a.dataset.fit - b.dataset.fit,
    };
    for (const button of all("[data-sort]")) {
      button.addEventListener("click", () => {
        for (const other of all("[data-sort]")) other.setAttribute("aria-pressed", other === button);
        gallery.append(...all(".page-card", gallery).sort(orders[button.dataset.sort]));
      });
    }
  }

  // The view of a page ------------------------------------------------------------------------

  /** Put a copy of a page's template into `target`; its frame loads only now. */
  function stage(template, target) {
    const copy = template.content.cloneNode(true);
    const view = one("[data-view]", copy);
    const frame = one("iframe", view);
    const rows = JSON.parse(view.dataset.rows);
    const panel = startPanel(view, frame, rows);
    frame.addEventListener("load", () => watchFrame(frame, rows, panel));
    target.append(copy);
    for (const button of all("[data-theme]", view)) button.addEventListener("click", toggleTheme);
    for (const button of all("[data-close]", view)) button.addEventListener("click", () => target.close());
  }

  function startPanel(view, frame, rows) {
    const why = one("[data-why]", view);
    const lists = { reading: one('[data-list="reading"]', view), blocks: one('[data-list="blocks"]', view) };
    let held = -1;

    const rowOf = (list, number) => one(`[data-row="${number}"]`, list);
    function entry(number, classes, child) {
      const row = make("button", {
        type: "button", class: classes, "data-row": number, dir: "auto", onclick: () => hold(number, true),
      }, child);
      row.addEventListener("pointerenter", () => mark(frame, number, true));
      row.addEventListener("pointerleave", () => mark(frame, number, number === held));
      row.addEventListener("focus", () => mark(frame, number, true, row.matches(":focus-visible")));
      row.addEventListener("blur", () => mark(frame, number, number === held));
      return row;
    }
    const kept = rows.map((row, number) => number).filter((number) => isKept(rows[number]));
    kept.sort((a, b) => rows[b].headline - rows[a].headline || a - b);
    lists.reading.append(...kept.map((number) =>
      entry(number, rows[number].headline ? "title" : "", rows[number].text)));
    const more = Number(view.dataset.kept) - kept.length;
    if (more > 0) lists.reading.append(make("p", { class: "soft" }, `And ${count(more)} blocks more.`));
    else if (!kept.length) lists.reading.append(make("p", { class: "soft" }, "Nothing was kept."));
    lists.blocks.append(...rows.map((row, number) =>
      entry(number, `block ${row.verdict}`, make("span", {}, inWords(isKept(row)), row.text))));

    const tabs = all("[data-tab]", view);
    function choose(tab) {
      for (const other of tabs) {
        other.setAttribute("aria-selected", other === tab);
        other.tabIndex = other === tab ? 0 : -1;
        lists[other.dataset.tab].hidden = other !== tab;
      }
    }
    tabs.forEach((tab, index) => {
      tab.addEventListener("click", () => choose(tab));
      tab.addEventListener("keydown", (event) => {
        if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
        const next = tabs[(index + 1) % tabs.length];  // there are two
        choose(next);
        next.focus();
      });
    });
    choose(tabs[0]);

    function hold(number, scrollFrame) {
      if (held >= 0) mark(frame, held, false);
      held = number;
      mark(frame, number, true, scrollFrame);
      why.replaceChildren(...explain(rows[number]));
      why.scrollTop = 0;
      for (const list of Object.values(lists)) {
        for (const row of all(".on", list)) row.classList.remove("on");
        const row = rowOf(list, number);
        if (!row) continue;
        row.classList.add("on");
        reveal(row, list);
      }
      why.parentElement.scrollTop = 0;
      document.dispatchEvent(new CustomEvent("block-held", { detail: { number, frame, view } }));
    }
    return { hold };
  }

  /** As `scrollIntoView` does, which would scroll what is around the list as well. */
  function reveal(row, list) {
    const [at, box] = [row.getBoundingClientRect(), list.getBoundingClientRect()];
    if (at.top < box.top) list.scrollTop -= box.top - at.top;
    else if (at.bottom > box.bottom) list.scrollTop += at.bottom - box.bottom;
  }

  function mark(frame, number, on, scroll = false) {
    const parts = all(`[data-block="${number}"]`, frame.contentDocument);
    for (const part of parts) part.classList.toggle("noiseclean-active", on);
    if (!scroll || !parts.length) return;
    const around = [];  // which is not to scroll with the frame
    for (let at = frame.parentElement; at; at = at.parentElement) around.push([at, at.scrollTop]);
    parts[0].scrollIntoView({ block: "center" });
    for (const [at, top] of around) at.scrollTo({ top, behavior: "instant" });
  }

  /** The frame runs no scripts of its own: this document listens to what happens in it. */
  function watchFrame(frame, rows, panel) {
    const page = frame.contentDocument;
    settle(page);
    frame.contentWindow.addEventListener("resize", () => settle(page));
    const blockOf = (event) => {
      const part = event.target.closest && event.target.closest("[data-block]");
      const number = part ? Number(part.getAttribute("data-block")) : -1;
      return rows[number] ? number : -1;
    };
    page.addEventListener("pointermove", (event) => {
      const number = blockOf(event);
      if (number < 0) return hideTip();
      const box = frame.getBoundingClientRect();
      const row = rows[number];
      const strongest = row.reasons.slice(0, 3).map(([, words, value, isSigned]) =>
        make("div", { class: "soft" }, `${words}${isSigned ? " (" + signed(value) + ")" : " " + figure(value)}`));
      showTip(box.left + event.clientX, box.top + event.clientY, row.sentence, ...strongest);
    });
    page.addEventListener("pointerleave", hideTip);
    page.documentElement.addEventListener("pointerleave", hideTip);
    page.addEventListener("click", (event) => {
      event.preventDefault();
      const number = blockOf(event);
      if (number >= 0) panel.hold(number, false);
    });
    for (const kind of ["submit", "auxclick", "dragstart"]) {
      page.addEventListener(kind, (event) => event.preventDefault());
    }
    // Of a frame that has the focus no browser says `:focus`.
    page.addEventListener("keyup", () => frame.classList.add("focused"));
    frame.contentWindow.addEventListener("blur", () => frame.classList.remove("focused"));
    page.addEventListener("keydown", (event) => {
      hideTipByKey(event);
      if (event.key === "Escape") one("[data-dialog]")?.close();
    });
  }

  /**
   * What a page fixes to the window would hide the rest of it: it stands where it is written.
   * A page that is wider than its frame is shown smaller, down to half its size.
   */
  function settle(page) {
    // All are read before one is changed: each change may cost the styles of the whole page.
    const stuck = all("*", page).filter((element) =>
      ["fixed", "sticky"].includes(page.defaultView.getComputedStyle(element).position));
    for (const element of stuck) element.style.setProperty("position", "static", "important");
    const root = page.documentElement;
    root.style.zoom = 1;
    root.style.zoom = Math.max(0.5, Math.min(1, root.clientWidth / root.scrollWidth));
  }

  /** A sheet of paper does not scroll: the frame becomes as wide as the sheet, as high as its page. */
  function unroll(frame) {
    const page = frame.contentDocument;
    frame.style.width = SHEET + "px";
    settle(page);
    frame.style.height = Math.ceil(page.documentElement.getBoundingClientRect().height) + "px";
  }

  addEventListener("beforeprint", () => all(".view iframe").forEach(unroll));
  addEventListener("afterprint", () => { for (const frame of all(".view iframe")) frame.style.cssText = ""; });

  const isKept = (row) => row.verdict.startsWith("kept");
  /** What colours tell, for those who do not see them. */
  const inWords = (kept) => make("b", { class: "sr" }, kept ? "Kept: " : "Left out: ");
  const figure = (value) => String(Number(value.toPrecision(3)));
  const TONES = { page: "--page", neighbours: "--neighbours", site: "--site", prior: "--prior" };

  function explain(row) {
    const tone = row.verdict.includes("override") ? "var(--override)" : "";
    const parts = [
      make("div", { class: "verdict" },
        make("i", { class: isKept(row) ? "dot kept" : "dot", style: tone && `background:${tone}` }),
        make("span", {}, row.sentence)),
      make("p", { class: "quote soft", dir: "auto" }, row.text),
      make("p", { class: "place" }, row.place.replaceAll("/", " / ")),
    ];
    if (row.parts.length) {
      parts.push(make("p", { class: "soft small" },
        `For (+) and against (−) the block, in log-odds: ${signed(row.log_odds)} in all, ${row.needed.toFixed(1)} needed.`));
      parts.push(make("div", { class: "sum" }, ...sums(row.parts)));
    }
    if (row.reasons.length) {
      parts.push(make("ul", { class: "reasons" }, ...row.reasons.map(([kind, words, value, isSigned]) =>
        make("li", { style: TONES[kind] ? `--tone:var(${TONES[kind]})` : "" },
          make("i"), make("span", {}, words), make("b", {}, isSigned ? signed(value) : figure(value))))));
    }
    if (one("[data-icicle]")) {
      parts.push(make("button", {
        class: "link small", type: "button", onclick: () => {
          one("[data-dialog]").close();
          document.dispatchEvent(new CustomEvent("show-place", { detail: row.place }));
        },
      }, "Show this place in the tree"));
    }
    return parts;
  }

  function sums(parts) {
    const most = Math.max(1, ...parts.map(([, value]) => Math.abs(value)));
    return parts.map(([kind, value]) => {
      const share = (50 * Math.abs(value)) / most;
      const side = value < 0 ? `right:50%;width:${share}%` : `left:50%;width:${share}%`;
      return make("div", { style: `--tone:var(${TONES[kind]})` }, make("span", { class: "soft" }, kind),
        make("span", { class: "track" }, make("i", { style: side })), make("b", {}, signed(value)));
    });
  }

  startTheme();
  startIcicle();
  startGallery();
  const main = one("[data-stage]");
  if (main) stage(one("template[data-page]"), main);
})();
