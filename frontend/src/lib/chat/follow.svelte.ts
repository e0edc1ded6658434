/**
 * Who owns the scroll position. The transcript follows the end only while the
 * end is in view; any upward move of the reader stops it at once, and nothing
 * but the reader (or the pill) starts it again.
 */

/** How far from the end still counts as at the end, in px. */
const near = 24;

export class Follow {
  /** The end is in view. */
  atEnd = $state.raw(true);
  /** New text scrolls into view. */
  following = $state.raw(true);
  /** Paragraphs there were when the end was last in view. */
  #seen = 0;
  #offset = 0;
  /** Paragraphs that came below the view. */
  missed = $state.raw(0);

  /** The reader moved up: a wheel, a key, a touch, a selection. */
  readerMovedUp = (): void => {
    this.following = false;
  };

  /**
   * The view is at offset of size, showing viewport px; paragraphs counts all that
   * came. mover says who moved it: the window itself, somebody (a scroll bar, or
   * the list keeping its place), or surely the reader. Only a reader who came back
   * to the end begins the following again.
   */
  scrolled(
    offset: number,
    viewport: number,
    size: number,
    paragraphs: number,
    mover: "window" | "somebody" | "reader" = "window",
  ): void {
    this.atEnd = size - viewport - offset <= near;
    if (mover !== "window" && !this.atEnd && offset < this.#offset - 1) this.following = false;
    if (mover === "reader" && this.atEnd && offset > this.#offset) this.following = true;
    this.#offset = offset;
    if (this.atEnd) {
      this.#seen = paragraphs;
      this.missed = 0;
    }
  }

  /** More came; call before measuring. */
  grew(paragraphs: number): void {
    this.missed = this.atEnd ? 0 : Math.max(0, paragraphs - this.#seen);
  }

  /** A question was sent: it goes to the top and the view holds still. */
  hold(): void {
    this.following = false;
  }

  /** The pill, or End: go to the end and follow. */
  toEnd(): void {
    this.following = true;
    this.missed = 0;
  }
}
