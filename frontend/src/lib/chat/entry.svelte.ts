/**
 * One message as the window holds it. A streaming message is patched in place:
 * only the blocks that came are touched, so a finished block is drawn once.
 */
import type { Call, Entry, Media, Part, PartKind } from "../bridge/generated";

/** One block of rendered HTML. */
export class BlockView {
  html = $state.raw("");
  done = $state.raw(false);
}

/** One part of a message. Which fields count depends on kind. */
export class PartView {
  readonly kind: PartKind;
  blocks = $state<BlockView[]>([]);
  ms = $state.raw(0);
  done = $state.raw(false);
  call = $state.raw<Call | null>(null);
  media = $state.raw<Media | null>(null);

  constructor(kind: PartKind) {
    this.kind = kind;
  }

  /** Takes in a part and returns how many blocks are new. */
  take(part: Part): number {
    const before = this.blocks.length;
    for (const block of part.blocks) {
      while (this.blocks.length <= block.index) this.blocks.push(new BlockView());
      const view = this.blocks[block.index] as BlockView;
      view.html = block.keep > 0 ? view.html.slice(0, block.keep) + block.html : block.html;
      view.done = block.done;
    }
    if (this.blocks.length > part.block_count) this.blocks.length = part.block_count;
    this.ms = part.ms;
    this.done = part.done;
    this.call = part.call;
    this.media = part.media;
    return Math.max(0, this.blocks.length - before);
  }
}

/**
 * Whether something that is drawn of a message outside its parts changed. While it
 * streams only its text does, and nothing around it should be drawn anew for that.
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
  parts = $state<PartView[]>([]);

  constructor(entry: Entry) {
    this.seq = entry.seq;
    this.take(entry);
  }

  /** Takes in a whole entry or a patch and returns how many blocks are new. */
  take(entry: Entry): number {
    let fresh = 0;
    if (!this.head || differs(this.head, entry)) this.head = entry;
    for (const part of entry.parts) {
      let view = this.parts[part.index];
      if (!view || view.kind !== part.kind) {
        view = new PartView(part.kind);
        this.parts[part.index] = view;
        view = this.parts[part.index] as PartView;
      }
      fresh += view.take(part);
    }
    if (this.parts.length > entry.part_count) this.parts.length = entry.part_count;
    return fresh;
  }

  /** The tool calls, in order. */
  get calls(): Call[] {
    return this.parts.flatMap((part) => (part.call ? [part.call] : []));
  }
}
