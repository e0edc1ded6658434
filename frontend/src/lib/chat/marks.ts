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

/** Marks the words in all messages on the screen, and those of message seq as found. */
function mark(scroller: Element, words: string, seq: number): void {
  if (!("highlights" in CSS)) return;
  const others = new Highlight();
  const found = new Highlight();
  for (const body of words ? scroller.querySelectorAll("article .body") : []) {
    const mine = body.closest<HTMLElement>("article")?.dataset.seq === String(seq);
    for (const range of places(body, words)) (mine ? found : others).add(range);
  }
  CSS.highlights.set("find", others);
  CSS.highlights.set("find-here", found);
}

/** Marks the words, also in messages that scroll into view, until what it returns is called. */
export function keepMarked(scroller: Element, words: string, seq: number): () => void {
  const draw = () => mark(scroller, words, seq);
  let frame = requestAnimationFrame(draw);
  const changes = new MutationObserver(() => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(draw);
  });
  changes.observe(scroller, { childList: true, subtree: true, characterData: true });
  return () => {
    changes.disconnect();
    cancelAnimationFrame(frame);
    mark(scroller, "", 0);
  };
}

/** Where the words occur first in message seq. */
export function placeIn(scroller: Element, words: string, seq: number): DOMRect | undefined {
  const body = scroller.querySelector(`article[data-seq="${seq}"] .body`);
  return body ? places(body, words)[0]?.getBoundingClientRect() : undefined;
}
