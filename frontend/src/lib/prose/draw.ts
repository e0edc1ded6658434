/**
 * What the window draws from a reply: formulas by KaTeX and diagrams by Mermaid. Both
 * libraries are loaded with the first block that needs them. What they make of foreign text
 * can neither run, nor load anything, nor leave its place: a formula is text of KaTeX's own
 * making, painted within its box, and a diagram is a flat picture, in which nothing can be
 * pressed and nothing of the window is reached. What cannot be drawn stays as it was written.
 */
import { s } from "../strings";

/** Draws the formulas among elements, which carry their TeX in data-tex. */
export async function drawFormulas(elements: HTMLElement[], alive: () => boolean): Promise<void> {
  const [{ default: katex }] = await Promise.all([import("katex"), import("katex/dist/katex.min.css")]);
  if (!alive()) return;
  for (const element of elements) {
    const tex = element.dataset.tex ?? "";
    try {
      if (!drawable(tex)) throw new Error(s.message.mathFailed);
      // As text and not as a tree, since the parser bounds how deep elements lie in each other.
      const html = katex.renderToString(tex, {
        displayMode: element.matches("div, .display"),
        output: "htmlAndMathml",
        strict: "ignore",
        errorColor: "var(--danger)", // of a command that is not drawn
        maxExpand: 200,
        maxSize: 40,
        trust: false,
      });
      if (html.length > mostDrawn || depth(html) > deepestDrawn) throw new Error(s.message.mathFailed);
      element.innerHTML = html;
      element.dataset.drawn = "";
    } catch {
      element.dataset.drawn = "failed";
      element.title = s.message.mathFailed;
    }
  }
}

/** A formula of this many characters fills several screens. */
const longestFormula = 8_000;
/** Elements and text of one drawn formula, in characters: an ordinary long one has 100,000. */
const mostDrawn = 1_000_000;
/**
 * How deep elements of one drawn formula may lie in each other. A continued fraction of ten levels
 * has 75, of twenty 145. Readers of the screen descend into each, and one that meets many hundred gives up on
 * the whole window.
 */
const deepestDrawn = 200;
const definition = /\\(?:[gex]?def|(?:future)?let|(?:re|provide)?newcommand|providecommand|global|long)(?![a-zA-Z])/;

/**
 * Whether a formula is short enough and defines no commands, with which a few
 * characters become millions.
 */
export function drawable(tex: string): boolean {
  return tex.length <= longestFormula && !definition.test(tex);
}

/** How deep elements lie in each other in what KaTeX makes, which closes each. */
export function depth(html: string): number {
  let now = 0;
  let most = 0;
  for (const [tag] of html.matchAll(/<[^>]*>/g)) {
    if (tag.startsWith("</")) now--;
    else if (!tag.endsWith("/>")) most = Math.max(most, ++now);
  }
  return most;
}

/** The kinds of diagrams drawn: those whose size is in proportion to their source. */
const kinds = new Set(
  "flowchart flowchart-v2 sequence class classDiagram state stateDiagram er gantt pie journey mindmap timeline gitGraph quadrantChart xychart requirement kanban sankey".split(
    " ",
  ),
);
const longestSource = 20_000;
const mostEdges = 250;
/** Sides of a picture in CSS pixels; a larger one is shown smaller. */
const longestSide = 8_000;

let drawn = 0;
let last: Promise<unknown> = Promise.resolve(); // Mermaid draws one at a time

/** Draws diagrams, or redraws them from the source in data-source. */
export async function drawDiagrams(elements: HTMLElement[], alive: () => boolean): Promise<void> {
  const { default: mermaid } = await import("mermaid");
  for (const element of elements) {
    const source = element.dataset.source ?? element.textContent ?? "";
    const drawing = last.then(async () => {
      if (!alive()) return;
      const picture = await pictureOf(mermaid, source);
      if (alive()) element.replaceWith(picture);
    });
    last = drawing.catch(() => {
      element.dataset.drawn = "failed";
      element.title = s.message.diagramFailed;
    });
    await last;
  }
}

/** Mermaid's settings, in the colours of the window. A diagram may not change those named in secure. */
function settings(kind: string) {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const fontFamily = getComputedStyle(document.body).fontFamily;
  return {
    startOnLoad: false,
    // Strict, and drawn in a frame that it makes and we take away. A graph of commits, which is
    // made of plain text alone, cannot be drawn in one.
    securityLevel: kind === "gitGraph" ? ("strict" as const) : ("sandbox" as const),
    suppressErrorRendering: true,
    htmlLabels: false,
    flowchart: { htmlLabels: false },
    class: { htmlLabels: false },
    maxTextSize: longestSource,
    maxEdges: mostEdges,
    logLevel: "fatal" as const,
    fontFamily,
    theme: "base" as const,
    themeVariables: {
      fontFamily,
      darkMode: style.colorScheme === "dark",
      background: colour("--surface"),
      primaryColor: colour("--raised"),
      primaryTextColor: colour("--text"),
      primaryBorderColor: colour("--line-strong"),
      secondaryColor: colour("--accent-tint"),
      tertiaryColor: colour("--sunk"),
      lineColor: colour("--text-2"),
      textColor: colour("--text"),
      noteBkgColor: colour("--warn-tint"),
      noteTextColor: colour("--text"),
    },
    secure: [
      "secure",
      "securityLevel",
      "startOnLoad",
      "maxTextSize",
      "maxEdges",
      "suppressErrorRendering",
      "htmlLabels",
      "logLevel",
      "dompurifyConfig",
      "themeCSS",
      "fontFamily",
      "altFontFamily",
      "layout",
      "look",
      "legacyMathML",
      "forceLegacyMathML",
    ],
  };
}

interface Mermaid {
  initialize(settings: object): void;
  detectType(text: string): string;
  render(id: string, text: string, container: Element): Promise<{ svg: string }>;
}

/** Draws a source as a flat picture. Throws when it cannot be drawn. */
async function pictureOf(mermaid: Mermaid, source: string): Promise<HTMLElement> {
  if (source.length > longestSource || endless(source)) throw new Error(s.message.diagramFailed);
  mermaid.initialize(settings("")); // it knows no kind before its first settings
  const kind = mermaid.detectType(source);
  if (!kinds.has(kind)) throw new Error(s.message.diagramFailed);
  mermaid.initialize(settings(kind));
  // Drawn out of sight, where nothing can be pressed or seen while it is measured.
  const bench = document.createElement("div");
  bench.inert = true;
  bench.ariaHidden = "true";
  bench.style.cssText = "position:fixed;left:-20000px;top:0;width:1000px;height:800px;contain:strict;visibility:hidden";
  document.body.append(bench);
  try {
    // Formulas in a diagram are HTML, which a flat picture has none of: they stay as written.
    const flat = source.replaceAll("$$", "$\u200b$");
    const { svg } = await mermaid.render(`drawing-${++drawn}`, flat, bench);
    return flatPicture(unframed(svg), source);
  } finally {
    bench.remove();
  }
}

/** Mermaid adds days to a task until one is not excluded; with all seven, for ever. */
function endless(source: string): boolean {
  const excluded = [...source.matchAll(/^\s*excludes\s+(.*)$/gim)].map((m) => m[1]).join(" ");
  const days = new Set(excluded.toLowerCase().match(/weekends|monday|tuesday|wednesday|thursday|friday/g));
  return days.size >= 5 || /\b\d{5,}\s*(?:y|M|w|d|h)\b/.test(source);
}

/** The SVG that Mermaid returns, or that is in the frame that it returns. */
function unframed(frame: string): string {
  if (frame.startsWith("<svg")) return frame;
  const encoded = /;base64,([^"]+)"/.exec(frame)?.[1] ?? "";
  const page = new TextDecoder().decode(Uint8Array.from(atob(encoded), (c) => c.charCodeAt(0)));
  return page.slice(page.indexOf("<svg"), page.lastIndexOf("</svg>") + "</svg>".length);
}

/** An SVG as an image: engines run no script in one, load nothing for it, and paint it in its box. */
function flatPicture(svg: string, source: string): HTMLElement {
  const parsed = new DOMParser().parseFromString(svg, "image/svg+xml");
  const root = parsed.documentElement;
  const [, , width = 0, height = 0] = (root.getAttribute("viewBox") ?? "").split(/[\s,]+/).map(Number);
  if (root.localName !== "svg" || !(width > 0) || !(height > 0)) throw new Error(s.message.diagramFailed);
  const scale = Math.min(1, longestSide / Math.max(width, height));
  root.setAttribute("width", String(Math.ceil(width * scale)));
  root.setAttribute("height", String(Math.ceil(height * scale)));
  root.style.maxWidth = "";
  const image = document.createElement("img");
  image.alt = source;
  image.width = Math.ceil(width * scale);
  image.height = Math.ceil(height * scale);
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(root))}`;
  const box = document.createElement("div");
  box.className = "drawing";
  box.dataset.source = source;
  box.append(image);
  return box;
}
