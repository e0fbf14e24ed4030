// What a page looks like, asked from inside it: nothing here changes the page but `unfold`.
window.looks = (() => {
  const SLACK = 1; // pixels
  const shown = (node) => node.textContent.trim().replace(/\s+/g, " ").slice(0, 60);
  const where = (node) => {
    const home = node.closest("section, header, nav, footer, figure");
    const title = home && home.querySelector("h1, h2, h3, h4, h5, h6, .title");
    return `<${node.tagName.toLowerCase()}> "${shown(node)}" in "${title ? shown(title) : ""}"`;
  };

  // Ask the same of an element and of all around it; `known` keeps what each of them answered.
  const inherited = (node, known, ask) => {
    if (!(node instanceof Element)) return [];
    if (!known.has(node))
      known.set(node, [...ask(node), ...inherited(node.parentElement, known, ask)]);
    return known.get(node);
  };

  // Left out on purpose for the eye, kept for those who listen.
  const covers = (node) => {
    const style = getComputedStyle(node);
    if (style.clipPath === "inset(50%)" || style.display === "none") return ["covered"];
    return style.visibility !== "visible" || style.opacity === "0" ? ["unseen"] : [];
  };
  const hidden = (node, known = new Map()) =>
    inherited(node, known, covers).length > 0 ||
    !node.checkVisibility({ contentVisibilityAuto: true });

  const leaves = () => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = [];
    const known = new Map();
    while (walker.nextNode()) {
      const node = walker.currentNode;
      const parent = node.parentElement;
      if (!node.data.trim() || parent.closest("title, desc") || hidden(parent, known)) continue;
      found.push(node);
    }
    return found;
  };

  const boxes = () =>
    leaves().flatMap((node) => {
      const parent = node.parentElement;
      const drawn = parent.closest("svg");
      const range = document.createRange();
      range.selectNodeContents(node);
      const rects = drawn ? [parent.getBoundingClientRect()] : [...range.getClientRects()];
      return rects
        .filter((r) => r.width > 0 && r.height > 0)
        .map((r) => ({ node, parent, drawn, r }));
    });

  const symbols = () =>
    [...document.querySelectorAll("svg .role-legend-symbol path")].map((node) => ({
      node,
      parent: node,
      drawn: node.closest("svg"),
      r: node.getBoundingClientRect(),
    }));

  // Two texts on the same spot, or a text on the sign of a legend.
  const overlaps = () => {
    const all = [...boxes(), ...symbols()].sort((a, b) => a.r.top - b.r.top);
    const found = [];
    all.forEach((a, i) => {
      for (let j = i + 1; j < all.length && all[j].r.top < a.r.bottom - SLACK; j++) {
        const b = all[j];
        if (a.node === b.node) continue;
        const wide = Math.min(a.r.right, b.r.right) - Math.max(a.r.left, b.r.left);
        const high = Math.min(a.r.bottom, b.r.bottom) - Math.max(a.r.top, b.r.top);
        if (wide > SLACK && high > SLACK)
          found.push(`${where(a.parent)} and ${where(b.parent)}: ${wide.toFixed()}x${high.toFixed()}`);
      }
    });
    return found;
  };

  const block = (node) => {
    let up = node;
    while (up && getComputedStyle(up).display.startsWith("inline")) up = up.parentElement;
    return up;
  };

  const cuts = (node) => {
    const style = getComputedStyle(node);
    if (style.display.startsWith("inline") || style.overflow === "visible") return [];
    const below = node.scrollHeight > node.clientHeight + SLACK;
    return [
      ...(node.scrollWidth > node.clientWidth + SLACK ? ["cut at the side"] : []),
      ...(below && node !== document.documentElement ? ["cut below"] : []),
    ];
  };

  // Text outside of the window, of its own block, of a block that cuts, or of its picture's frame.
  const cut = () => {
    const found = [];
    const known = new Map();
    const wide = document.documentElement.clientWidth;
    for (const { parent, drawn, r } of boxes()) {
      const say = (what) => found.push(`${what}: ${where(parent)}`);
      if (r.left < -SLACK || r.right > wide + SLACK) say("outside of the window");
      const frame = (drawn ? drawn.closest("figure, td") : block(parent)).getBoundingClientRect();
      if (r.left < frame.left - SLACK || r.right > frame.right + SLACK) say("beside its block");
      if (drawn) {
        const edge = drawn.getBoundingClientRect();
        if (r.top < edge.top - SLACK || r.bottom > edge.bottom + SLACK) say("above or below");
        continue;
      }
      inherited(parent, known, cuts).forEach(say);
    }
    return [...new Set(found)];
  };

  // Words and numbers that go on in another line; ids may after an underscore.
  const broken = () => {
    const found = [];
    for (const node of leaves()) {
      const cell = node.parentElement;
      if (cell.closest("svg, code")) continue;
      const most = cell.closest(".long") ? 8 : 24;
      for (const word of node.data.matchAll(/[^ \n]+/g)) {
        if (word[0].length > most || !/^[\w.,()\u00a0%×]+$/.test(word[0])) continue;
        const range = document.createRange();
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        const tops = [...range.getClientRects()].map((r) => r.top);
        if (Math.max(...tops) - Math.min(...tops) > 4)
          found.push(`"${word[0]}" in ${where(cell)}`);
      }
    }
    return found;
  };

  // How small the smallest letters are, in pixels of the screen.
  const smallest = () =>
    Math.min(
      ...boxes().map(({ parent, drawn }) => {
        const size = parseFloat(getComputedStyle(parent).fontSize);
        const box = drawn && drawn.viewBox.baseVal;
        const edge = drawn && drawn.getBoundingClientRect();
        return drawn && box.width ? (size * edge.width) / box.width : size;
      }),
    );

  // Numbers beside an axis that nobody can take in.
  const ticks = () =>
    [...document.querySelectorAll("svg .role-axis-label text")]
      .filter((each) => /^[\d.,]{9,}$/.test(each.textContent))
      .map(where);

  // Cells of tables that nobody sees.
  // Cells that are not shown, but for those that are folded away, which are not printed.
  const unseen = () => {
    const known = new Map();
    return [...document.querySelectorAll("td, tbody th")]
      .filter((cell) => cell.textContent.trim() && !cell.closest("details") && hidden(cell, known))
      .map(where);
  };

  const scroll = () => document.documentElement.scrollWidth - document.documentElement.clientWidth;

  const unfold = (open) => {
    for (const each of document.querySelectorAll("details")) each.open = open;
  };

  // Whatever could run, ask for something or lead away.
  const active = () => {
    const found = [];
    for (const each of document.querySelectorAll("*")) {
      for (const { name, value } of each.attributes) {
        if (/^on|^style$|^src|^srcdoc$|^action$|^formaction$|^data$|^ping$/i.test(name))
          found.push(`${name}="${value}" on ${where(each)}`);
        if (/href$/i.test(name)) {
          const goal = value.startsWith("#") && document.getElementById(value.slice(1));
          if (!goal) found.push(`${name}="${value}" leads nowhere on ${where(each)}`);
        }
        if (/url\((?!#)/i.test(value) && each.tagName !== "META" && !/^aria-|^data-/.test(name))
          found.push(`${name}="${value}" on ${where(each)}`);
      }
    }
    return found;
  };

  const tags = () => [...new Set([...document.querySelectorAll("*")].map((e) => e.localName))];

  const twice = () => {
    const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
    return ids.filter((id, place) => ids.indexOf(id) !== place);
  };

  const text = () => document.body.innerText.replace(/\s+/g, " ");

  return { overlaps, cut, broken, smallest, ticks, unseen, scroll, unfold, active, tags, twice, text };
})();
