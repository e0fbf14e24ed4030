// The search box of the site. It works from a folder too: the index is a script beside this one, nothing is asked of
// anybody, and what is typed stays on the page. Without JavaScript there is no box. Texts enter the page as text only.
"use strict";

(() => {
  const MOST = 12;
  const root = document.currentScript.src;
  const plain = (text) => ` ${text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, " ").trim()} `;

  const element = (tag, attributes, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  };

  // One entry per heading: where it is, what is shown, and the texts that are searched with what a hit in each is worth.
  const entries = SEARCH_INDEX.flatMap(([page, title, headings]) =>
    headings.map(([anchor, heading, sentence, words], at) => ({
      href: new URL(at ? `${page}#${anchor}` : page, root).href,
      shown: at ? `${title}: ${heading}` : title,
      sentence,
      texts: at
        ? [[plain(heading), 6], [plain(sentence), 1], [plain(words), 0.25]]
        : [[plain(title), 10], [plain(page.replace(/.*\/|\.html$/g, "")), 10], [plain(sentence), 2], [plain(words), 0.25]],
      above: at ? plain(title) : "", // a heading is not found by its page's title alone
    })),
  );

  const score = (entry, words) => {
    let sum = 0;
    let own = false;
    for (const word of words) {
      const hits = entry.texts.map(([text, worth]) => (text.includes(` ${word} `) ? 2 * worth : text.includes(` ${word}`) ? worth : 0));
      const best = Math.max(...hits);
      const above = entry.above.includes(` ${word}`) ? 3 : 0;
      if (!best && !above) return 0;
      own ||= best > 0;
      sum += Math.max(best, above);
    }
    if (!own) return 0;
    const phrase = ` ${words.join(" ")} `;
    for (const [text, worth] of entry.texts) sum += text === phrase ? 4 * worth : text.includes(phrase) ? worth : 0;
    return sum;
  };

  const search = (typed) => {
    const words = plain(typed).trim().split(" ").filter(Boolean);
    if (!words.length) return null;
    const scored = entries.map((entry, at) => ({ entry, at, sum: score(entry, words) })).filter((hit) => hit.sum);
    return scored.sort((a, b) => b.sum - a.sum || a.at - b.at).map((hit) => hit.entry);
  };

  const box = element("input", { type: "search", id: "search", placeholder: "Search", autocomplete: "off", spellcheck: "false" });
  const said = element("p", { role: "status" });
  const list = element("ul", { "aria-label": "Results" });
  const results = element("div", { class: "results" }, said, list);
  const label = element("label", { for: "search" }, "Search the documentation");
  results.hidden = true;

  const show = () => {
    const hits = search(box.value);
    results.hidden = hits === null;
    const shown = (hits || []).slice(0, MOST);
    const more = hits && hits.length > MOST ? `, the best ${MOST} shown` : "";
    said.textContent = hits === null ? "" : hits.length ? `${hits.length} ${hits.length === 1 ? "result" : "results"}${more}` : "Nothing found";
    list.replaceChildren(
      ...shown.map((hit) => element("li", {}, element("a", { href: hit.href }, hit.shown), element("span", {}, hit.sentence))),
    );
  };

  const close = () => {
    box.value = "";
    show();
  };

  const move = (event) => {
    const stops = [box, ...list.querySelectorAll("a")];
    const at = stops.indexOf(document.activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") {
      close();
      box.focus();
    } else if (event.key === "Enter" && at === 0 && stops[1]) stops[1].click();
    else if (step && stops[at + step]) stops[at + step].focus();
    else return;
    event.preventDefault();
  };

  const whole = element("div", { role: "search", class: "search" }, label, box, results);
  box.addEventListener("input", show);
  whole.addEventListener("keydown", move);
  list.addEventListener("click", (event) => event.target.closest("a") && setTimeout(close)); // a link to this very page
  document.querySelector(".home").after(whole);
})();
