// Whether all fits that names of any length and script are shown in: what the page draws is measured.
import { expect } from "@playwright/test";

/** What a person cannot press: it is outside the window, or something lies over its middle. */
export const lost = (page) =>
  page.evaluate(() => {
    const kinds = "button, a[href], input, textarea, summary, [role=tab], [role=switch]";
    const shown = (e) =>
      e.checkVisibility({ visibilityProperty: true }) && // not in a closed part
      !e.closest("[inert], [aria-hidden=true], .sr, .veil");
    const over = "[role=dialog], [role=menu], [role=listbox], .dock.floats, .side.floats";
    const open = document.querySelector(over) ?? document;
    const found = [];
    for (const control of open.querySelectorAll(kinds)) {
      if (!shown(control) || control.closest(".more")) continue; // a row's menu shows when pointed at
      control.scrollIntoView({ block: "nearest", inline: "nearest" });
      const box = control.getBoundingClientRect();
      const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
      const name = (control.getAttribute("aria-label") ?? control.textContent).trim().slice(0, 40);
      if (box.right > innerWidth + 1 || box.left < -1) found.push(`${name}: outside the window`);
      else {
        const top = document.elementFromPoint(x, y);
        const label = control.closest("label");
        const pill = top?.closest(".pill"); // it points at a request, and goes when pressed
        if (top && !pill && !control.contains(top) && !top.contains(control) && !label?.contains(top))
          found.push(`${name}: under ${top.getAttribute("class") ?? top.tagName}`);
      }
    }
    for (const region of document.querySelectorAll("[data-region], .page, .pane, .sheet-body"))
      if (region.scrollWidth > region.clientWidth + 1)
        found.push(`${region.getAttribute("aria-label") ?? region.className}: scrolls sideways`);
    if (document.documentElement.scrollWidth > innerWidth) found.push("the page scrolls sideways");
    return found;
  });

/** A name of 90 characters of each kind. One of emoji has 90 with what joins them. */
const kinds = {
  "one word": "of-an-unusual-length-",
  Arabic: "مستند طويل جدا بلا نهاية ",
  Chinese: "一个非常非常长的名字",
  emoji: "👩‍👩‍👧‍👦🏳️‍🌈",
};

/**
 * Puts a long name in place of every name that the scene has, wherever the page shows it: in texts, hints,
 * labels and fields. That is done on what is drawn, so that each state is led to by the names that its test knows.
 */
const rename = (page, name) =>
  page.evaluate((name) => {
    const state = (globalThis.renamed ??= { names: null, texts: new Map() });
    if (!state.names) {
      const { fake } = globalThis;
      const keys = /^(title|name|plugin_name|model_title|chat_title|host|tool|plugin|file)$/;
      const names = new Set();
      const seen = new Set();
      const look = (value, key) => {
        if (typeof value === "string") {
          if (keys.test(key) && value.length > 2 && /^[^\n]{3,120}$/.test(value)) names.add(value);
        } else if (value && typeof value === "object" && !seen.has(value)) {
          seen.add(value);
          const inner = value instanceof Map ? [...value] : Object.entries(value);
          for (const [k, v] of inner) look(v, Array.isArray(value) ? key : k);
        }
      };
      for (const part of [fake.scene.answers, fake.chats.all, fake.plugins.list, fake.models.models]) look(part, "");
      for (const part of [fake.permissions.requests, fake.council.runs, fake.questions.waiting, fake.shared])
        look(part, "");
      // A label of the page is no name, though it has the same words.
      for (const word of ["Today", "Model", "Notes", "Name", "Text", "Settings", "Tools"]) names.delete(word);
      const escaped = [...names]
        .sort((a, b) => b.length - a.length)
        .map((n) => n.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
      state.names = new RegExp(`(?<![\\p{L}\\p{N}_])(?:${escaped.join("|")})(?![\\p{L}\\p{N}_])`, "gu");
    }
    const { names, texts } = state;
    const put = (owner, key, get, set) => {
      const had = texts.get(owner) ?? {};
      had[key] ??= get();
      texts.set(owner, had);
      if (had[key]) set(had[key].replace(names, name));
    };
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode;
      if (node.parentElement.closest("script, style, .prose, pre, code, .well, kbd, svg")) continue;
      put(
        node,
        "data",
        () => node.data,
        (text) => (node.data = text),
      );
    }
    for (const element of document.body.querySelectorAll("[title], [aria-label]"))
      for (const key of ["title", "aria-label"])
        if (element.hasAttribute(key))
          put(
            element,
            key,
            () => element.getAttribute(key),
            (text) => element.setAttribute(key, text),
          );
    for (const field of document.body.querySelectorAll("input:not([type=range]), textarea"))
      put(
        field,
        "value",
        () => field.value,
        (text) => /** only names are longer */ (field.value = text),
      );
  }, name);

/** What does not fit in what is drawn: text out of its box, cut without a hint, over other text; buttons out of their card. */
const crowded = (page) =>
  page.evaluate(() => {
    const found = new Set();
    const say = (element, what) => {
      const of = element.closest("[class]");
      const text = element.textContent.trim().replace(/\s+/g, " ").slice(0, 24);
      found.add(`${what}: <${of?.tagName.toLowerCase()} class="${of?.getAttribute("class") ?? ""}"> ${text}`);
    };
    const over = [...document.querySelectorAll("[role=dialog], [role=menu], .popup, .dock.floats, .side.floats")].at(
      -1,
    );
    const root = over ?? document.body;
    const seen = (element) =>
      element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) &&
      !element.closest("[inert], .sr, .veil, .toasts, .tip, svg, .prose, .katex, #first");
    const style = new Map();
    const styleOf = (element) => {
      if (!style.has(element)) style.set(element, getComputedStyle(element));
      return style.get(element);
    };
    const scrolls = (element) => /auto|scroll/.test(styleOf(element).overflowX);
    const clips = (element) => /hidden|clip/.test(styleOf(element).overflowX);
    const painted = (element) => {
      const s = styleOf(element);
      const filled = s.backgroundColor !== "rgba(0, 0, 0, 0)";
      return filled || (parseFloat(s.borderLeftWidth) > 0 && parseFloat(s.borderRightWidth) > 0);
    };
    const lines = [];
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    while (walker.nextNode()) {
      const node = walker.currentNode;
      const owner = node.parentElement;
      if (!node.data.trim() || !seen(owner)) continue;
      range.selectNodeContents(node);
      for (const rect of range.getClientRects()) {
        if (rect.width < 2) continue;
        let { left, right, top, bottom } = rect;
        let hint = false;
        for (let box = owner; box && box !== document.documentElement; box = box.parentElement) {
          hint ||= box.hasAttribute("title") || box.hasAttribute("aria-label");
          const inline = styleOf(box).display === "inline" || styleOf(box).display === "contents";
          if (inline) continue;
          const b = box.getBoundingClientRect();
          const out = right > b.right + 1.5 || left < b.left - 1.5;
          if (scrolls(box)) {
            if (out && !box.matches("pre, .well, .diff, [role=tablist], .tabs, .sunk, .lanes, .table, table, .scrolls"))
              say(owner, `scrolls sideways in .${box.className}`);
          } else if (clips(box)) {
            const cut = right > b.right + 1.5 || left < b.left - 1.5;
            if (cut && styleOf(box).textOverflow !== "ellipsis" && !box.matches(".centre, .frame, body, .composer"))
              say(owner, `cut without a sign by .${box.className}`);
            if (cut && styleOf(box).textOverflow === "ellipsis") {
              if (!hint && !owner.closest(".cut")) say(owner, "cut without a hint"); // see Tooltip.svelte
              const rtl = /^[^\p{L}]*[\u0590-\u08ff]/u.test(node.data);
              if (rtl && styleOf(box).direction !== "rtl") say(owner, "cut at its beginning");
            }
          } else if (out && painted(box)) say(owner, `leaves .${box.className || box.tagName}`);
          if (scrolls(box) || clips(box)) {
            [left, right] = [Math.max(left, b.left), Math.min(right, b.right)];
          }
          if (/hidden|clip|auto|scroll/.test(styleOf(box).overflowY)) {
            [top, bottom] = [Math.max(top, b.top), Math.min(bottom, b.bottom)];
          }
          if (right - left < 2 || bottom - top < 4) break;
        }
        if (right - left >= 2 && bottom - top >= 4) lines.push({ owner, left, right, top, bottom });
      }
    }
    // Text over text: more than half as high as the lower of both.
    lines.sort((a, b) => a.top - b.top);
    for (let i = 0; i < lines.length; i++)
      for (let j = i + 1; j < lines.length && lines[j].top < lines[i].bottom; j++) {
        const [a, b] = [lines[i], lines[j]];
        if (a.owner === b.owner || a.owner.contains(b.owner) || b.owner.contains(a.owner)) continue;
        const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (wide < 4 || high < Math.min(a.bottom - a.top, b.bottom - b.top) / 2) continue;
        // What lies under something else is not seen.
        const at = document.elementFromPoint(Math.max(a.left, b.left) + wide / 2, Math.max(a.top, b.top) + high / 2);
        const layer = (e) => e.closest(".stuck, .over, .pill, .floats, .popup, [data-sheet], .tools, .more") ?? root;
        if (layer(a.owner) !== layer(b.owner) || !at) continue;
        say(a.owner, `over “${b.owner.textContent.trim().slice(0, 24)}”`);
      }
    for (const button of root.querySelectorAll("button, input, [role=switch]")) {
      if (!seen(button)) continue;
      const b = button.getBoundingClientRect();
      if (b.width < 2) continue;
      for (let box = button.parentElement; box && box !== document.body; box = box.parentElement) {
        if (scrolls(box) || clips(box)) break;
        const a = box.getBoundingClientRect();
        if (painted(box) && (b.right > a.right + 1.5 || b.left < a.left - 1.5)) say(button, `leaves .${box.className}`);
      }
    }
    return [...found];
  });

/** How the page is laid out for each kind of name. Right to left with the script that runs so. */
const layouts = [
  { kind: "one word", width: 900, zoom: 200 },
  { kind: "one word", width: 1280, zoom: 100 },
  { kind: "Arabic", width: 900, zoom: 100, dir: "rtl" },
  { kind: "Chinese", width: 1280, zoom: 200 },
  { kind: "emoji", width: 900, zoom: 200 },
];

/** What of the names of each kind does not fit in a state of the page, by how it is laid out. */
export async function unfit(page) {
  const before = page.viewportSize();
  const found = {};
  for (const { kind, width, zoom, dir = "ltr" } of layouts) {
    const text = [...kinds[kind].repeat(30)].slice(0, 90).join("").trim();
    await page.setViewportSize({ width, height: before.height });
    await page.evaluate(
      async ([zoom, dir]) => {
        document.documentElement.dir = dir;
        const { fake } = globalThis;
        if (fake.hello.settings.zoom !== zoom) await fake.settings.Set({ zoom });
      },
      [zoom, dir],
    );
    await page.waitForFunction(
      (zoom) => parseFloat(getComputedStyle(document.documentElement).fontSize) === (16 * zoom) / 100,
      zoom,
    );
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    await rename(page, text);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const wrong = await crowded(page);
    if (wrong.length > 0) found[`${kind}, ${width} wide at ${zoom} %`] = wrong.slice(0, 12);
  }
  return found;
}

/** Fails where a name of some kind does not fit. The page is left in the last layout. */
export const fits = async (page) => expect(await unfit(page)).toEqual({});
