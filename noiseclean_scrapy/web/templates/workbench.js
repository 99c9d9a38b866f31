"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const one = (selector, root = document) => root.querySelector(selector);
  const say = (text) => { one("[data-status]").textContent = text; };

  /** The JSON of an answer; what went wrong is thrown in words. */
  async function ask(path, body) {
    const options = body === undefined ? {} : {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    };
    const answer = await fetch(path, { ...options, credentials: "same-origin" }).catch(() => {
      throw new Error("The workbench does not answer: is noiseclean serve still running?");
    });
    const text = await answer.text();
    if (!answer.ok) {
      let reason = text;
      try { reason = JSON.parse(text).error; } catch { /* it was said in plain words */ }
      throw new Error(reason || answer.statusText);
    }
    return JSON.parse(text);
  }

  async function attempt(work) {
    const problem = one("[data-problem]");
    if (problem) problem.textContent = "";
    try {
      await work();
    } catch (error) {
      if (problem) problem.textContent = error.message;
    }
  }

  // Light and dark stay as they were chosen -----------------------------------------------------

  function keepTheme() {
    const root = document.documentElement;
    const chosen = localStorage.getItem("theme");
    if (chosen === "light" || chosen === "dark") root.style.colorScheme = chosen;
    for (const button of all("[data-theme]")) {
      button.addEventListener("click", () => localStorage.setItem("theme", root.style.colorScheme));
    }
  }

  // Live figures --------------------------------------------------------------------------------

  function show(part, text) {
    if (part.textContent === String(text)) return;
    part.textContent = text;
    part.classList.add("fresh");
    setTimeout(() => part.classList.remove("fresh"), 1500);
  }

  function listen() {
    const wanted = "[data-totals],[data-site],[data-proposal],[data-change],[data-wait-review],[data-crawl]";
    if (!one(wanted)) return;
    const kinds = {};
    const on = (kind, work) => { kinds[kind] = (event) => work(JSON.parse(event.data)); };
    let source = null;
    // A browser has six connections to a server: a window that nobody sees gives its own back.
    function connect() {
      source?.close();
      source = document.hidden ? null : new EventSource("/events");
      for (const [kind, work] of Object.entries(kinds)) source?.addEventListener(kind, work);
    }
    const known = one("[data-total=sites]")?.textContent;
    on("totals", (totals) => {
      for (const part of all("[data-total]")) show(part, totals[part.dataset.total]);
      const thing = one("[data-thing=sites]");
      if (thing) thing.textContent = totals.sites === "1" ? "site" : "sites";
      const more = one("[data-more]");
      if (more) more.hidden = totals.sites === known;
    });
    on("site", (site) => {
      for (const row of all("[data-site]")) {
        if (row.dataset.site !== site.name) continue;
        for (const part of all("[data-value]", row)) show(part, site[part.dataset.value]);
      }
    });
    on("crawl", (crawl) => {
      const card = one(`[data-crawl="${crawl.id}"]`);
      for (const part of card ? all("[data-part]", card) : []) show(part, crawl[part.dataset.part]);
    });
    on("review", (review) => {
      if (review.is_ready && one("[data-wait-review]")) location.reload();
    });
    on("proposal", (proposal) => {
      const part = one("[data-proposal]");
      if (!part || part.dataset.proposal !== proposal.id || part.dataset.done) return;
      one("[data-progress]", part).value = proposal.looked_at;
      one("[data-count]", part).textContent = proposal.looked_at;
      if (proposal.is_done) location.reload();
    });
    on("change", (change) => {
      for (const part of all("[data-change]")) {
        if (part.dataset.change !== change.id) continue;
        const bar = one("[data-progress]", part);
        if (bar) [bar.max, bar.value] = [change.of || 1, change.pages];
        if (part.dataset.state !== change.state) location.reload();
      }
    });
    document.addEventListener("visibilitychange", connect);
    addEventListener("pagehide", () => source?.close());
    connect();
  }

  // Teaching ------------------------------------------------------------------------------------

  function startTeaching() {
    const panel = one("[data-teach]");
    if (!panel) return;
    const form = one("[data-rule]", panel);
    const { level, where } = form.elements;
    let found = null;
    let frame = null;

    function tell(stands, selector = "") {
      one("[data-stands]", panel).textContent = stands;
      one("[data-selector]", panel).textContent = selector;
    }
    function enable(isPossible) {
      for (const button of all("button", form)) button.disabled = !isPossible(button.value);
    }

    /** What is known of the block before is not of this one: no rule is made of it. */
    function begin(number) {
      panel.dataset.block = number;
      found = null;
      level.replaceChildren();
      enable(() => false);
      point("");
      tell("Looking where it stands …");
    }

    document.addEventListener("block-held", (event) => attempt(async () => {
      const { number, view } = event.detail;
      frame = event.detail.frame;
      const why = one("[data-why]", view);
      if (panel.parentElement !== why.parentElement) why.after(panel);
      panel.hidden = false;
      begin(number);
      const isHeld = () => panel.dataset.block === String(number);
      const path = `/api/pages/${encodeURIComponent(panel.dataset.key)}/places?block=${number}`;
      const answer = await ask(path).catch((error) => {
        if (!isHeld()) return null;
        tell("");
        throw error;
      });
      if (!isHeld()) return;
      found = answer;
      level.replaceChildren(...found.levels.map((box, index) => {
        const option = document.createElement("option");
        option.value = index;
        option.textContent = `${box.name} (${box.characters.toLocaleString("en")} characters here)`;
        return option;
      }));
      const text = document.createElement("option");
      text.value = "text";
      text.textContent = "this very text, wherever it stands";
      level.append(text);
      describe();
    }));

    /** What is chosen: a box, or the text alone. */
    const choice = () => level.value === "text" ? { selector: found.text } : found.levels[level.value];

    function describe() {
      if (!found) return;
      const box = choice();
      if (level.value === "text") {
        enable((verdict) => verdict !== "title");
        return tell("The rule is for this text alone.", box.selector);
      }
      enable(() => box);
      if (!box) return tell("This part has no place of its own.");
      const sample = found.of < found.pages ? ` looked at, of ${found.pages.toLocaleString("en")}` : "";
      const text = `This box stands on ${box.pages.toLocaleString("en")} of ` +
        `${found.of.toLocaleString("en")} pages${sample}.`;
      tell(text, box.selector + (where.value ? ` on ${found.pattern}` : ""));
      point(box.selector);
      say(text);
    }

    /** The places of the box are framed in the page; of none, none. */
    function point(selector) {
      const page = frame.contentDocument;
      for (const part of all(".noiseclean-place", page)) part.classList.remove("noiseclean-place");
      if (!selector) return;
      // Of elements that HTML does not know the names are gone there, mostly those with a hyphen.
      const unnamed = [/(^|> )\w+-[\w-]*/g, /(^|> )[\w-]+/g].map((n) => selector.replace(n, "$1*"));
      const found = [selector, ...unnamed].map((way) => all(way, page));
      for (const part of found.find((places) => places.length) ?? []) {
        part.classList.add("noiseclean-place");
      }
    }

    level.addEventListener("change", describe);
    where.addEventListener("change", describe);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const verdict = event.submitter?.value;
      const box = found && choice();
      if (!verdict || !box) return;
      enable(() => false);  // a double click makes one rule
      attempt(async () => {
        const proposal = await ask("/api/proposals", {
          page: panel.dataset.key,
          verdict: level.value === "text" ? `${verdict}_text` : verdict,
          selector: box.selector,
          pattern: where.value ? found.pattern : "",
        }).catch((error) => { describe(); throw error; });
        location.assign(`/proposals/${proposal.id}`);
      });
    });
  }

  function startDeciding() {
    for (const button of all("[data-take]")) {
      button.addEventListener("click", () => attempt(async () => {
        button.disabled = true;
        await ask(`/api/proposals/${button.dataset.take}/take`, {}).finally(() => { button.disabled = false; });
        location.assign("/rules");
      }));
    }
    for (const button of all("[data-undo]")) {
      button.addEventListener("click", () => attempt(async () => {
        await ask(`/api/changes/${button.dataset.undo}/undo`, {});
        location.reload();
      }));
    }
  }

  // `autofocus` complains where somebody is already in another field.
  function focusFirst() {
    const field = one("[data-first]");
    if (field && document.activeElement === document.body) field.focus();
  }

  keepTheme();
  focusFirst();
  listen();
  startTeaching();
  startDeciding();
})();
