/**
 * The words looked for, marked where they stand on the screen. They are CSS
 * highlights: the text itself is not touched, so a selection in it stays.
 */

const maxMarks = 500;

/** The ranges of the text below root that match words, in any case. */
export function places(root: Element, words: string): Range[] {
  const nodes: { node: Text; from: number }[] = [];
  let text = "";
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode as Text;
    nodes.push({ node, from: text.length });
    text += node.data;
  }
  const lower = text.toLowerCase();
  const exact = lower.length !== text.length;
  const [where, what] = exact ? [text, words] : [lower, words.toLowerCase()];
  const found: Range[] = [];
  let at = 0;
  let n = 0;
  while (what && found.length < maxMarks && (at = where.indexOf(what, at)) >= 0) {
    const end = at + what.length;
    const range = document.createRange();
    while ((nodes[n + 1]?.from ?? Infinity) <= at) n++;
    const first = nodes[n];
    let last = n;
    while ((nodes[last + 1]?.from ?? Infinity) < end) last++;
    const final = nodes[last];
    if (first && final) {
      range.setStart(first.node, at - first.from);
      range.setEnd(final.node, end - final.from);
      found.push(range);
    }
    at = end;
  }
  return found;
}

/** A place of the words: the message, the row of its block, and how many stand before it there. */
export interface WordAt {
  seq: number;
  row: number;
  nth: number;
}

/** The words at a place, where its row is on the page. */
function rangeAt(scroller: Element, words: string, { seq, row, nth }: WordAt): Range | undefined {
  const block = scroller.querySelector(`article[data-seq="${seq}"] [data-row="${row}"]`);
  return block ? places(block, words)[nth] : undefined;
}

/** What find counts in: what is said and thought, not the cards of calls. */
const counted = "article .body .prose [data-row]";

/** Marks the words in all messages on the screen, and those at a place as found. */
function mark(scroller: Element, words: string, at?: WordAt): void {
  if (!("highlights" in CSS)) return;
  const others = new Highlight();
  const found = new Highlight();
  const here = at && words ? rangeAt(scroller, words, at) : undefined;
  for (const body of words ? scroller.querySelectorAll(counted) : [])
    for (const range of places(body, words)) {
      const mine = range.startContainer === here?.startContainer && range.startOffset === here.startOffset;
      (mine ? found : others).add(range);
    }
  CSS.highlights.set("find", others);
  CSS.highlights.set("find-here", found);
}

/** Marks the words, also in messages that scroll into view, until what it returns is called. */
export function keepMarked(scroller: Element, words: string, at: () => WordAt | undefined): () => void {
  const draw = () => mark(scroller, words, at());
  let frame = requestAnimationFrame(draw);
  const changes = new MutationObserver(() => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(draw);
  });
  changes.observe(scroller, { childList: true, subtree: true, characterData: true });
  return () => {
    changes.disconnect();
    cancelAnimationFrame(frame);
    mark(scroller, "");
  };
}

/** Where on the screen the words at a place are; folded code is unfolded for them. */
export function placeIn(scroller: Element, words: string, at: WordAt): DOMRect | undefined {
  const range = rangeAt(scroller, words, at);
  const folded = range?.startContainer.parentElement?.closest<HTMLDetailsElement>(".code-rest:not([open])");
  if (folded) folded.open = true;
  return range?.getBoundingClientRect();
}
