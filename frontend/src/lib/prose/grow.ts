/**
 * Adds to a long block what has been written of it since. In the HTML of an open
 * block of code, table or paragraph (app/chat/render) what stays is before a seam, and
 * what is being written behind it; the first only grows.
 */
import { morph } from "./morph";

/** How much code is laid out together, in characters: some 60 lines. */
const together = 2500;

/** The same of a paragraph, from the beginning of what is not laid down: some 12 lines. */
const linesTogether = 1000;

interface Kind {
  seam: string;
  end: string;
  /** A selector of the pieces; the last one holds what is being written. */
  pieces: string;
  /** Puts what is added before the last of the pieces. */
  add: (pieces: Element[], html: string) => void;
}

const kinds: Kind[] = [
  {
    seam: "</code><code>",
    end: "</code></pre></figure>",
    pieces: "pre > code",
    add: (pieces, html) => {
      // Lines are laid out again when one is added, so there are only so many in an element.
      let lines = pieces.at(-2) as Element;
      if ((lines.textContent?.length ?? 0) > together) {
        const next = document.createElement("code");
        lines.after(next);
        lines = next;
      }
      lines.insertAdjacentHTML("beforeend", html);
    },
  },
  {
    seam: "</tbody><tbody>",
    end: "</tbody></table></div>",
    pieces: "table > tbody",
    add: (pieces, html) => pieces.at(-2)?.insertAdjacentHTML("beforeend", html),
  },
  {
    seam: "<span>",
    end: "</span></p>",
    pieces: "p > span:not([class])",
    add: (pieces, html) => {
      const tail = pieces.at(-1) as Element;
      tail.insertAdjacentHTML("beforebegin", html);
      layDown(tail.parentElement as Element, tail);
    },
  },
];

/**
 * Puts the first complete lines of a growing paragraph into an element of their own,
 * which is not laid out again: WebKit lays out all lines of an element when one changes,
 * and takes half a second for 16,000 characters. Not while something in it is selected.
 */
function layDown(paragraph: Element, tail: Element): void {
  const chosen = document.getSelection();
  if (chosen && !chosen.isCollapsed && chosen.containsNode(paragraph, true)) return;
  const before = [...paragraph.querySelectorAll(":scope > .laid")].at(-1);
  let length = 0;
  let node = before ? before.nextSibling : paragraph.firstChild;
  for (; node && node !== tail; node = node.nextSibling) {
    length += node.textContent?.length ?? 0;
    const at = node instanceof Text && length > linesTogether ? lineStart(node) : 0;
    if (at === 0) continue;
    const rest = (node as Text).splitText(at);
    const lines = document.createElement("span");
    lines.className = "laid";
    if (before) before.after(lines);
    else paragraph.prepend(lines);
    while (lines.nextSibling !== rest) lines.append(lines.nextSibling as Node);
    return;
  }
}

/** Where a line begins within a text, 0 when none does. */
function lineStart(text: Text): number {
  const range = document.createRange();
  let line: number | undefined;
  for (const word of text.data.matchAll(/\S+/g)) {
    range.setStart(text, word.index);
    range.setEnd(text, word.index + 1);
    const bottom = range.getClientRects()[0]?.bottom;
    if (bottom === undefined) continue;
    if (line !== undefined && bottom > line + 8) return word.index;
    line = bottom;
  }
  return 0;
}

/**
 * Makes the element, which shows the HTML `before`, show `html`. False when that
 * takes more than adding; the element is then as it was.
 */
export function grow(element: Element, before: string, html: string): boolean {
  const kind = kinds.find(({ end }) => html.trimEnd().endsWith(end));
  if (!kind) return false;
  const { seam, end } = kind;
  const a = before.lastIndexOf(seam);
  const b = html.lastIndexOf(seam);
  if (a < 0 || b < a || html.slice(0, a) !== before.slice(0, a)) return false;
  const pieces = [...element.querySelectorAll(kind.pieces)];
  const last = pieces.at(-1);
  if (!last || (seam.startsWith("</") && pieces.length < 2)) return false;
  if (b > a) kind.add(pieces, html.slice(a, b));
  morph(last, html.slice(b + seam.length, html.lastIndexOf(end)));
  return true;
}

/** Ends of elements, as they stand behind the words that were written last. */
const ends = /(?:<\/[a-z][a-z0-9]*>|\s)*$/;

/**
 * Makes the element, which shows the HTML `before`, show `html` where that has more words at
 * its end and nothing else is new, as with most pieces of a reply. False when there is more
 * to it; the element is then as it was.
 */
export function addWords(element: Element, before: string, html: string): boolean {
  let from = before.length - (ends.exec(before.slice(-200))?.[0].length ?? 0);
  if (!html.startsWith(before.slice(0, from))) return false;
  while (from < before.length && before[from] === html[from]) from++; // an element ended here
  const end = before.slice(from);
  const words = html.slice(from, html.length - end.length);
  if (!html.endsWith(end) || !words || /[<&\r]/.test(words)) return false;
  let last: Element | null = element;
  for (let n = end.split("</").length; n > 1 && last; n--) last = last.lastElementChild;
  if (!last) return false;
  if (last.lastChild instanceof Text) last.lastChild.appendData(words);
  else last.append(words);
  return true;
}
