/**
 * One message as the window holds it: its facts, and of its parts' blocks those that
 * were near the view. A streaming message is patched in place: only the blocks that
 * came are touched, so a finished block is drawn once.
 *
 * For the list a message is rows, one below the other: each block of text is one, each
 * tool card and attachment, and the line of folded reasoning, with its blocks behind
 * it once it is opened. What has no parts is one row.
 */
import type { Block, Call, Entry, Media, Part, PartKind, Spot, Want } from "../bridge/generated";

/** How high a row is that was not measured yet, in px. */
const guess: Record<PartKind, number> = {
  text: 72,
  reasoning: 72,
  tool_call: 48,
  tool_result: 0,
  media: 240,
};

/** One block of rendered HTML. */
export class BlockView {
  html = $state.raw("");
  done = $state.raw(false);
  /** The HTML was here once. */
  held = $state.raw(false);
  /** The rest of its code, which is folded where it is long, is unfolded: also when it comes into view again. */
  unfolded = $state.raw(false);
  /** It is not what the program has, or not here. */
  lacks = true;

  take(block: Block): void {
    if (block.keep > 0 && this.lacks) return; // it has no beginning to add to
    this.html = block.keep > 0 ? this.html.slice(0, block.keep) + block.html : block.html;
    this.done = block.done;
    this.held = true;
    this.lacks = false;
  }
}

/** One part of a message. Which fields count depends on kind. */
export class PartView {
  readonly kind: PartKind;
  /** How many blocks it has. */
  count = $state.raw(0);
  /** Reasoning or the details of a call are unfolded. */
  open = $state.raw(false);
  ms = $state.raw(0);
  done = $state.raw(false);
  call = $state.raw<Call | null>(null);
  media = $state.raw<Media | null>(null);

  /** How many rows come before its blocks. */
  readonly lead: number;
  #blocks: BlockView[] = [];
  #heights: number[] = []; // of the rows measured
  #measured = 0;
  #sum = 0;
  #guess: number;

  constructor(kind: PartKind) {
    this.kind = kind;
    this.lead = kind === "text" ? 0 : 1;
    this.#guess = guess[kind];
  }

  /** Takes in a part and returns how many blocks are new. */
  take(part: Part, whole: boolean): number {
    const before = this.count;
    if (whole) this.#blocks.forEach((block) => (block.lacks = true));
    if (this.#blocks.length > part.block_count) this.#blocks.length = part.block_count;
    this.count = part.block_count;
    for (const block of part.blocks) this.block(block.index).take(block);
    this.ms = part.ms;
    this.done = part.done;
    this.call = part.call;
    this.media = part.media;
    return Math.max(0, this.count - before);
  }

  block(i: number): BlockView {
    return (this.#blocks[i] ??= new BlockView());
  }

  /** The blocks of rows from up to to. */
  slice(from: number, to: number): BlockView[] {
    const blocks = [];
    for (let i = Math.max(0, from - this.lead); i < Math.min(this.count, to - this.lead); i++)
      blocks.push(this.block(i));
    return blocks;
  }

  get blocks(): BlockView[] {
    return this.slice(0, Infinity);
  }

  /** How long the HTML is that it holds. */
  get size(): number {
    return this.#blocks.reduce((n, block) => n + block.html.length, 0);
  }

  get rows(): number {
    return this.kind === "text" || (this.kind === "reasoning" && this.open) ? this.lead + this.count : this.lead;
  }

  height(row: number): number {
    return this.#heights[row] ?? this.#guess;
  }

  /** Notes how high a row is. What is guessed of the others follows, but not each time. */
  measure(row: number, height: number): void {
    const before = this.#heights[row];
    this.#heights[row] = height;
    this.#sum += height - (before ?? 0);
    if (before !== undefined) return;
    this.#measured++;
    if (this.#measured > 3 && isPower(this.#measured)) this.#guess = this.#sum / this.#measured;
  }
}

/** Whether a number is a power of two. */
export const isPower = (n: number): boolean => (n & (n - 1)) === 0;

/**
 * Whether something that is drawn of a message outside its parts changed. While it
 * streams only its text does, and nothing around it should be drawn again for that.
 */
function differs(a: Entry, b: Entry): boolean {
  return (
    a.state !== b.state ||
    b.state !== "streaming" ||
    a.model !== b.model ||
    a.hidden !== b.hidden ||
    a.created !== b.created ||
    a.other_branch !== b.other_branch ||
    a.siblings.join() !== b.siblings.join()
  );
}

/** One message: its facts (head) and its parts. */
export class EntryView {
  readonly seq: number;
  head = $state.raw() as Entry;
  parts = $state.raw<PartView[]>([]);
  #height = 0;
  #summed = 0; // rows in it, 0 = the sum is outdated
  #bare = 72; // its height without parts

  constructor(entry: Entry) {
    this.seq = entry.seq;
    this.take(entry);
  }

  /** Takes in a whole entry or a patch and returns how many blocks are new. */
  take(entry: Entry): number {
    let fresh = 0;
    this.#summed = 0;
    if (!this.head || differs(this.head, entry)) this.head = entry;
    const parts = this.parts.slice(0, entry.part_count);
    for (const part of entry.parts) {
      if (parts[part.index]?.kind !== part.kind) parts[part.index] = new PartView(part.kind);
      fresh += (parts[part.index] as PartView).take(part, entry.whole);
    }
    if (parts.length !== this.parts.length || parts.some((part, i) => part !== this.parts[i])) this.parts = parts;
    return fresh;
  }

  /** The tool calls, in order. */
  get calls(): Call[] {
    return this.parts.flatMap((part) => (part.call ? [part.call] : []));
  }

  get size(): number {
    return this.parts.reduce((n, part) => n + part.size, 0);
  }

  get rows(): number {
    return Math.max(1, this.rowOf({ part: this.parts.length, block: 0 }));
  }

  /** The row of a block, or of the part that has none. */
  rowOf({ part, block }: Spot): number {
    let row = 0;
    for (const before of this.parts.slice(0, part)) row += before.rows;
    const view = this.parts[part];
    return row + (view && view.rows > 1 ? Math.min(view.lead + block, view.rows - 1) : 0);
  }

  /** Calls back for each row, in order, until it returns true. */
  #each(call: (height: number, part: PartView | undefined, at: number, index: number) => unknown) {
    if (this.parts.every((part) => part.rows === 0)) call(this.#bare, undefined, 0, 0);
    for (const [index, part] of this.parts.entries())
      for (let at = 0; at < part.rows; at++) if (call(part.height(at), part, at, index)) return;
  }

  /** How high it is, as far as is known, in px. */
  get height(): number {
    const { rows } = this;
    if (this.#summed !== rows) {
      this.#summed = rows;
      this.#height = this.topOf(rows);
    }
    return this.#height;
  }

  /** How far below the beginning a row begins. */
  topOf(row: number): number {
    let top = 0;
    if (row > 0)
      this.#each((height) => {
        top += height;
        return --row <= 0;
      });
    return top;
  }

  /** The row at a height. */
  rowAt(y: number): number {
    let row = -1;
    this.#each((height) => {
      y -= height;
      row++;
      return y < 0;
    });
    return row;
  }

  /** Notes how high rows are, from one on. */
  measure(from: number, heights: number[]): void {
    const to = from + heights.length;
    let row = 0;
    this.#each((height, part, at) => {
      const now = heights[row - from];
      if (now !== undefined && Math.abs(now - height) > 0.01) {
        if (part) part.measure(at, now);
        else this.#bare = now;
        this.#summed = 0;
      }
      return ++row >= to;
    });
  }

  /** What is to be asked for so that rows from up to to are held. */
  wants(from: number, to: number): Want[] {
    const wants: Want[] = [];
    let row = 0;
    this.#each((_, part, at, index) => {
      const block = at - (part?.lead ?? 0);
      if (row >= from && part && block >= 0 && part.block(block).lacks) {
        const last = wants.at(-1);
        if (last?.part === index && last.to === block) last.to++;
        else wants.push({ seq: this.seq, part: index, from: block, to: block + 1 });
      }
      return ++row >= to;
    });
    return wants;
  }
}
