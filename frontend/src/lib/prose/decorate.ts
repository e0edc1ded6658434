/**
 * What a finished block gets in the window: buttons on code and tables, and what is drawn
 * (draw.ts).
 */
import Copy from "@lucide/svelte/icons/copy";
import Save from "@lucide/svelte/icons/save";
import Table from "@lucide/svelte/icons/table";
import TextWrap from "@lucide/svelte/icons/text-wrap";
import { mount } from "svelte";
import { drawDiagrams, drawFormulas } from "./draw";
import { s } from "../strings";

/** Adds what the block needs; the function returned stops what is still drawn. */
export function decorate(block: HTMLElement): () => void {
  let alive = true;
  const changes = new MutationObserver(draw);
  let drawnIn = "";
  let drawing = Promise.resolve();
  function draw() {
    const now = colours();
    if (now === drawnIn) return; // each change of a setting sets them again
    drawnIn = now;
    const list = () => block.querySelectorAll<HTMLElement>("pre.mermaid:not([data-drawn]), .drawing");
    drawing = drawing.then(() => drawDiagrams([...list()], () => alive));
  }
  for (const figure of block.getElementsByTagName("figure")) dressCode(figure);
  for (const table of block.querySelectorAll("div.table")) dressTable(table);
  for (const box of block.querySelectorAll<HTMLInputElement>("li > input")) {
    box.ariaLabel ??= box.parentElement?.textContent?.trim().slice(0, 120) ?? "";
  }
  if (block.closest("[data-council]")) cite(block);
  const formulas = block.querySelectorAll<HTMLElement>("[data-tex]");
  if (formulas.length > 0) void drawFormulas([...formulas], () => alive);
  if (block.querySelector("pre.mermaid")) {
    draw();
    // A picture has the colours that the window had.
    changes.observe(document.documentElement, { attributeFilter: ["data-theme", "data-contrast"] });
  }
  return () => {
    alive = false;
    changes.disconnect();
  };
}

/** The colours that the window has. */
function colours(): string {
  const { theme, contrast } = document.documentElement.dataset;
  return `${theme} ${contrast}`;
}

const citation = /\[([a-z]{1,2}[1-9]\d?)\]/g;

// “[a2]” names a point of a member of the council: it becomes a button, whose clicks FoldedLine handles.
function cite(block: HTMLElement): void {
  const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  while (walker.nextNode()) texts.push(walker.currentNode as Text);
  for (const text of texts) {
    if (text.parentElement?.closest("pre, code, a, button")) continue;
    for (const match of [...text.data.matchAll(citation)].reverse()) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "cite";
      button.dataset.cite = button.textContent = match[1] as string;
      const rest = text.splitText(match.index);
      rest.deleteData(0, match[0].length);
      rest.before(button);
    }
  }
}

// Buttons carry what they do in data-do; prose/actions.ts acts on a press.
function makeBar(buttons: [what: string, label: string, icon: typeof Copy][]): HTMLElement {
  const bar = document.createElement("div");
  bar.className = "tools";
  for (const [what, label, icon] of buttons) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "icon-btn small";
    button.dataset.do = what;
    button.title = button.ariaLabel = label;
    mount(icon, { target: button, props: { size: 14 } });
    bar.append(button);
  }
  return bar;
}

let codeBar: HTMLElement | undefined;
let tableBar: HTMLElement | undefined;

function dressCode(figure: Element): void {
  codeBar ??= makeBar([
    ["wrap", s.message.codeWrap, TextWrap],
    ["save", s.message.codeSave, Save],
    ["copy", s.message.codeCopy, Copy],
  ]);
  figure.append(codeBar.cloneNode(true));
}

function dressTable(table: Element): void {
  tableBar ??= makeBar([
    ["csv", s.message.tableCSV, Table],
    ["markdown", s.message.tableMarkdown, Copy],
  ]);
  if (table.querySelector("tr + tr, tbody tr")) table.prepend(tableBar.cloneNode(true));
}
