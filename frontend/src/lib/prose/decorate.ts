/**
 * What a finished block gets in the window: buttons on code and tables, formulas
 * by KaTeX and drawings by Mermaid. Both libraries are loaded with the first
 * block that needs them.
 */
import { s } from "../strings";

/** Adds what the block needs; the function returned stops what is still loading. */
export function decorate(block: HTMLElement): () => void {
  let alive = true;
  for (const figure of block.getElementsByTagName("figure")) dressCode(figure);
  for (const table of block.querySelectorAll("div.table")) dressTable(table);
  for (const box of block.querySelectorAll<HTMLInputElement>("li > input")) {
    box.ariaLabel ??= box.parentElement?.textContent?.trim().slice(0, 120) ?? "";
  }
  const formulas = block.querySelectorAll<HTMLElement>("[data-tex]");
  if (formulas.length > 0) void math([...formulas], () => alive);
  const drawings = block.querySelectorAll<HTMLElement>("pre.mermaid");
  if (drawings.length > 0) void diagrams([...drawings], () => alive);
  return () => (alive = false);
}

// Buttons carry what they do in data-do; prose/actions.ts acts on a press.
function makeBar(buttons: [what: string, label: string][]): HTMLElement {
  const bar = document.createElement("div");
  bar.className = "tools";
  for (const [what, label] of buttons) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "tool-btn";
    button.dataset.do = what;
    button.textContent = label;
    bar.append(button);
  }
  return bar;
}

let codeBar: HTMLElement | undefined;
let tableBar: HTMLElement | undefined;

function dressCode(figure: Element): void {
  codeBar ??= makeBar([
    ["wrap", s.message.codeWrap],
    ["save", s.message.codeSave],
    ["copy", s.message.codeCopy],
  ]);
  figure.append(codeBar.cloneNode(true));
}

function dressTable(table: Element): void {
  tableBar ??= makeBar([
    ["csv", s.message.tableCSV],
    ["markdown", s.message.tableMarkdown],
  ]);
  if (table.querySelector("tr + tr, tbody tr")) table.append(tableBar.cloneNode(true));
}

async function math(elements: HTMLElement[], alive: () => boolean): Promise<void> {
  const [{ default: katex }] = await Promise.all([
    import("katex"),
    import("katex/dist/katex.min.css"),
  ]);
  if (!alive()) return;
  for (const element of elements) {
    const tex = element.dataset.tex ?? "";
    try {
      katex.render(tex, element, {
        displayMode: element.matches("div, .display"),
        output: "htmlAndMathml",
        strict: "ignore",
        maxExpand: 200,
        maxSize: 40,
        trust: false,
      });
      element.dataset.drawn = "";
    } catch {
      element.title = s.message.mathFailed;
    }
  }
}

let drawn = 0;

async function diagrams(elements: HTMLElement[], alive: () => boolean): Promise<void> {
  const { default: mermaid } = await import("mermaid");
  if (!alive()) return;
  const dark = document.documentElement.dataset.theme === "dark";
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: "strict",
    theme: dark ? "dark" : "neutral",
    fontFamily: "inherit",
    suppressErrorRendering: true,
  });
  for (const element of elements) {
    const source = element.dataset.source ?? element.textContent ?? "";
    try {
      const { svg } = await mermaid.render(`drawing-${++drawn}`, source);
      if (!alive()) return;
      const image = document.createElement("div");
      image.className = "drawing";
      image.setAttribute("role", "img");
      image.setAttribute("aria-label", source);
      // Mermaid's own output under securityLevel strict: its sanitizer has been over it.
      image.innerHTML = svg;
      element.replaceWith(image);
    } catch {
      element.dataset.drawn = "failed";
      element.title = s.message.diagramFailed;
    }
  }
}
