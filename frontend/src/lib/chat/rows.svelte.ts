/**
 * Which rows of the messages are on the page, and where: those in view and a little
 * around it, as elements one below the other, with an empty space above and below as
 * high as the rest. A row is measured while it is on the page, and guessed before.
 */
import type { Want } from "../bridge/generated";
import type { OpenChat } from "./chat.svelte";
import { isPower, type EntryView } from "./entry.svelte";

/** A row of the message at an index of the path. */
export interface RowAt {
  index: number;
  row: number;
}

/** The rows of a message that are on the page: from up to to. */
export interface Shown {
  seq: number;
  index: number;
  from: number;
  /** Infinity when its end is. */
  to: number;
}

/** How far beyond the view rows are on the page, in px, at least and when they change. */
const least = 250;
const beyond = 600;
/** How far beyond those a row is taken off the page again, in px, while more are written. */
const spare = 2000;
/** How far from the view a row with the keyboard or the selection stays on the page, in px. */
const reach = 20_000;
/** How much one pull may ask for. */
const most = 200;
/** Assumed height of an unknown message before any was measured, in px. */
const guess = 120;

const isBefore = (a: RowAt, b: RowAt): boolean => a.index < b.index || (a.index === b.index && a.row < b.row);

export class Rows {
  shown = $state.raw<Shown[]>([]);
  above = $state.raw(0);
  below = $state.raw(0);

  #tops: number[] = []; // of the messages by index, and the end
  #heights = new Map<number, number>(); // of messages that were measured, by seq
  #usual = guess;

  constructor(private chat: () => OpenChat) {}

  /** The shift that show is to leave. */
  drift = 0;

  /** Where the message at an index begins, in px. That behind the last is the end. */
  top(index: number): number {
    return this.#tops[index] ?? 0;
  }

  /** Where all messages end. */
  get end(): number {
    return this.#tops[this.chat().outline.length] ?? 0;
  }

  topOf({ index, row }: RowAt): number {
    const body = this.#body(index);
    return body ? this.top(index) + body.topOf(row) : this.top(row > 0 ? index + 1 : index);
  }

  #body(index: number): EntryView | undefined {
    const { outline, editing, held } = this.chat();
    const seq = outline[index] ?? 0;
    return seq === editing ? undefined : held(seq);
  }

  /** The row at a height. */
  at(y: number): RowAt {
    let from = 0;
    let to = this.chat().outline.length - 1;
    while (from < to) {
      const middle = (from + to + 1) >> 1;
      if (this.top(middle) <= y) from = middle;
      else to = middle - 1;
    }
    return { index: from, row: this.#body(from)?.rowAt(y - this.top(from)) ?? 0 };
  }

  /** Measures what is on the page: content holds the messages, with a space on either side. */
  measure(content: Element): void {
    const { editing, held } = this.chat();
    for (const [i, { seq, from }] of this.shown.entries()) {
      const place = content.children[i + 1];
      if (!place) break;
      const box = place.getBoundingClientRect();
      const heights: number[] = [];
      let top = box.top;
      for (const row of place.querySelectorAll("[data-row]")) {
        const bottom = Math.max(top, row.getBoundingClientRect().bottom);
        heights.push(bottom - top);
        top = bottom;
      }
      // What is below the last row belongs to it.
      heights[Math.max(0, heights.length - 1)] = (heights.at(-1) ?? 0) + box.bottom - top;
      const body = seq === editing ? undefined : held(seq);
      body?.measure(from, heights);
      if (body || seq === editing) this.#note(seq, body?.height ?? box.height);
    }
    this.#add();
  }

  #note(seq: number, height: number): void {
    const { size } = this.#heights;
    this.#heights.set(seq, height);
    if (this.#heights.size === size || !isPower(size + 1)) return;
    let sum = 0;
    for (const height of this.#heights.values()) sum += height;
    this.#usual = sum / (size + 1);
  }

  #add(): void {
    const { outline, editing, held } = this.chat();
    let top = 0;
    this.#tops = outline.map((seq) => {
      const before = top;
      const body = seq === editing ? undefined : held(seq);
      top += body?.height ?? this.#heights.get(seq) ?? this.#usual;
      return before;
    });
    this.#tops.push(top);
  }

  /**
   * Puts on the page what belongs there when the view shows what is from top to bottom;
   * keep are rows that stay if they are not too far away. Reports whether that changed
   * anything.
   */
  show(top: number, bottom: number, keep: RowAt[]): boolean {
    let from = top - beyond;
    let to = bottom + beyond;
    for (const row of keep) {
      const y = this.topOf(row);
      if (y > top - reach && y < bottom + reach) [from, to] = [Math.min(from, y), Math.max(to, y)];
    }
    const covered = this.#covers(top - least, bottom + least) && !this.#exceeds(from - spare, to + spare);
    if (!covered) this.shown = this.#between(this.at(from), this.at(to));
    if (this.topShown <= this.drift) this.drift = 0; // what is above has no other place
    const above = this.topShown - this.drift;
    const below = this.end - this.#to;
    const moved = Math.abs(above - this.above) > 0.5 || Math.abs(below - this.below) > 0.5;
    if (moved) [this.above, this.below] = [above, below];
    return !covered || moved;
  }

  /** How far the rows on the page are above where they are to be when the view is at rest. */
  get shift(): number {
    return this.shown.length > 0 ? this.topShown - this.above : 0;
  }

  /** Where what is on the page begins and ends. */
  get topShown(): number {
    const first = this.shown[0];
    return first ? this.topOf({ index: first.index, row: first.from }) : 0;
  }

  get #to(): number {
    const last = this.shown.at(-1);
    if (!last) return 0;
    return last.to === Infinity ? this.top(last.index + 1) : this.topOf({ index: last.index, row: last.to });
  }

  /** Whether what is on the page is there still, and reaches from top to bottom. */
  #covers(top: number, bottom: number): boolean {
    const { outline } = this.chat();
    const rows = (index: number) => this.#body(index)?.rows ?? 1;
    const there = this.shown.every(({ seq, index, from, to }, i) => {
      const ends = to === Infinity || to === rows(index);
      const goes = ends || (i === this.shown.length - 1 && to < rows(index));
      return outline[index] === seq && from < rows(index) && goes;
    });
    return there && this.topShown <= Math.max(0, top) && this.#to >= Math.min(bottom, this.end);
  }

  /** Whether rows are on the page that lie before what is at top or behind what is at bottom. */
  #exceeds(top: number, bottom: number): boolean {
    const [first, last] = [this.shown[0], this.shown.at(-1)];
    if (!first || !last) return false;
    const end = last.to === Infinity ? (this.#body(last.index)?.rows ?? 1) : last.to;
    return (
      isBefore({ index: first.index, row: first.from }, this.at(top)) ||
      isBefore(this.at(bottom), { index: last.index, row: end - 1 })
    );
  }

  #between(from: RowAt, to: RowAt): Shown[] {
    const { outline } = this.chat();
    const shown: Shown[] = [];
    for (let index = from.index; index <= Math.min(to.index, outline.length - 1); index++) {
      const body = this.#body(index);
      const end = index === to.index ? to.row + 1 : Infinity;
      shown.push({
        seq: outline[index] as number,
        index,
        from: index === from.index ? from.row : 0,
        // What is added behind the end of a message is seen at once. Nobody knows how
        // many rows one has that is not here.
        to: !body ? 1 : end < body.rows ? end : Infinity,
      });
    }
    return shown;
  }

  /** What is to be asked for so that all from top to bottom is here. */
  wants(top: number, bottom: number): Want[] {
    const { outline, editing } = this.chat();
    const [from, to] = [this.at(top), this.at(bottom)];
    const wants: Want[] = [];
    for (let index = from.index; index <= Math.min(to.index, outline.length - 1); index++) {
      const seq = outline[index] as number;
      const begin = index === from.index ? from.row : 0;
      const end = index === to.index ? to.row + 1 : Infinity;
      const body = this.#body(index);
      if (body) wants.push(...body.wants(begin, end));
      else if (seq !== editing) wants.push({ seq, part: 0, from: 0, to: 0 });
    }
    return wants.slice(0, most);
  }
}
