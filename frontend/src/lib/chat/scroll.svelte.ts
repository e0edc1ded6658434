/**
 * The transcript's view: following the end, holding a question at the top,
 * bringing a message into view. It moves the view only while the reader has not
 * moved it since.
 */
import { flushSync } from "svelte";
import type { VirtualizerHandle } from "virtua/svelte";
import type { OpenChat } from "./chat.svelte";
import { Follow } from "./follow.svelte";

/** Gap between the top of the view and a question that was just sent, in px. */
const questionGap = 24;
/** Least height of the last line, where the turn's status stands, in px. */
export const tailHeight = 64;
/** How much of the lower end of the view the pill may take, in px. */
const pillHeight = 56;
/** A scroll this soon after the reader's own wheel, key or touch is the reader's, in ms. */
const handLasts = 600;
/** A scroll this soon after something changed size may be the list keeping its place, in ms. */
const settlingLasts = 300;
/** How long a message that was brought into view is kept there while sizes settle, in ms. */
const pinLasts = 500;

const scrollKeys = ["ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End", " "];

export class TranscriptScroll {
  readonly follow = new Follow();
  /** Space under the last message, so that a question can be at the top. */
  room = $state.raw(0);
  /** The pill would lie over the buttons of a permission card. */
  covers = $state.raw(false);
  scroller = $state.raw<HTMLElement>();
  list = $state.raw<VirtualizerHandle>();

  #hand = -handLasts; // when the reader last moved the view
  #dragging = false; // a pointer is down: on the scroll bar, or selecting
  #settled = -settlingLasts; // when something last changed size
  #pin: {
    seq: number;
    align: "start" | "center";
    until: number;
    inside: (() => DOMRect | undefined) | undefined;
  } | null = null;
  #expected = -1; // where this put the view
  #question = 0; // held at the top
  #holding = false; // nobody has moved the view since the question was put there

  constructor(private chat: () => OpenChat) {}

  #measure(mover: "window" | "somebody" | "reader" = "window"): void {
    const { scroller, list } = this;
    if (!list || !scroller) return;
    const { outline, paragraphs } = this.chat();
    if (this.#question) {
      const at = outline.indexOf(this.#question);
      const used = list.getItemOffset(outline.length) + tailHeight - list.getItemOffset(at);
      this.room = at < 0 ? 0 : Math.max(0, scroller.clientHeight - questionGap - used);
    }
    const bottom = scroller.getBoundingClientRect().bottom;
    this.covers = [...scroller.querySelectorAll("[data-answers]")].some((buttons) => {
      const { top, bottom: end } = buttons.getBoundingClientRect();
      return end > bottom - pillHeight && top < bottom;
    });
    const size = scroller.scrollHeight - this.room;
    this.follow.scrolled(scroller.scrollTop, scroller.clientHeight, size, paragraphs, mover);
  }

  #scrollTo(offset: number): void {
    if (!this.scroller) return;
    this.scroller.scrollTop = offset;
    this.#expected = this.scroller.scrollTop;
  }

  toEnd(): void {
    this.#scrollTo(this.scroller?.scrollHeight ?? 0);
  }

  /** The pill: leave what was held, go to the end and follow. */
  letGo(): void {
    this.#pin = null;
    this.#holding = false;
    this.#question = 0;
    this.room = 0;
    this.follow.toEnd();
  }

  /** A question was sent: there is room for it to go to the top. Bring it there next. */
  hold(question: number): void {
    this.#question = question;
    this.#holding = true;
    this.follow.hold();
    this.room = this.scroller?.clientHeight ?? 0;
  }

  /**
   * Brings a message into view and keeps it there while the messages around it are
   * measured, or until the reader moves. (The list's own scrollToIndex would do so
   * for as long as anything changes size, which is as long as an answer streams,
   * and against the reader.) Where inside gives a place in the message, that is
   * what is brought.
   */
  bring(seq: number, align: "start" | "center", inside?: () => DOMRect | undefined): void {
    this.follow.hold();
    if (seq !== this.#question) this.#holding = false;
    this.#pin = { seq, align, until: performance.now() + pinLasts, inside };
    this.#keepPin();
  }

  #keepPin(): void {
    const { scroller, list } = this;
    const pin = this.#pin;
    const at = pin ? this.chat().outline.indexOf(pin.seq) : -1;
    if (!list || !scroller || !pin || at < 0 || performance.now() > pin.until) {
      this.#pin = null;
      return;
    }
    const place = pin.inside?.();
    if (place) {
      const top = place.top - scroller.getBoundingClientRect().top;
      this.#scrollTo(scroller.scrollTop + top - (scroller.clientHeight - place.height) / 2);
      return;
    }
    const middle = (scroller.clientHeight - list.getItemSize(at)) / 2;
    const space = pin.align === "start" ? questionGap : Math.max(questionGap, middle);
    this.#scrollTo(list.getItemOffset(at) - space);
  }

  /**
   * Settles the view after each change of size, before it is painted; the function
   * returned ends it. (The list tells of sizes before they are laid out.)
   */
  observe(): (() => void) | undefined {
    const { scroller, list } = this;
    const content = scroller?.firstElementChild;
    if (!scroller || !list || !content) return undefined;
    const sizes = new ResizeObserver(this.settle);
    sizes.observe(scroller);
    sizes.observe(content);
    return () => sizes.disconnect();
  }

  /** Something changed size, or more came. */
  settle = (): void => {
    this.#settled = performance.now();
    if (this.#pin) this.#keepPin();
    else if (this.follow.following) this.toEnd();
    this.#measure();
    if (!this.#pin) this.#keepQuestion();
  };

  // When an answer ends its last line goes and its buttons come: the view would be
  // cut short for a moment, and the question jump.
  #keepQuestion(): void {
    const { scroller, list } = this;
    const at = this.#holding ? this.chat().outline.indexOf(this.#question) : -1;
    if (!scroller || !list || at < 0) return;
    const offset = list.getItemOffset(at) - questionGap;
    if (Math.abs(scroller.scrollTop - offset) < 1) return;
    flushSync(); // the room below is there
    this.#scrollTo(offset);
  }

  onscroll = (): void => {
    const now = performance.now();
    if (!this.scroller) return; // it has just gone
    const own = Math.abs(this.scroller.scrollTop - this.#expected) < 2;
    if (own) this.#measure();
    else if (this.#dragging || now - this.#hand < handLasts) {
      this.#holding = false;
      this.#measure("reader");
    } else this.#measure(now - this.#settled < settlingLasts ? "window" : "somebody");
  };

  #readerMoves(): void {
    this.#hand = performance.now();
    this.#pin = null;
    this.#holding = false;
  }

  onwheel = (event: WheelEvent): void => {
    this.#readerMoves();
    if (event.deltaY < 0) this.follow.readerMovedUp();
  };

  onkeydown = (event: KeyboardEvent): void => {
    if (!scrollKeys.includes(event.key)) return;
    this.#readerMoves();
    if (["ArrowUp", "PageUp", "Home"].includes(event.key)) this.follow.readerMovedUp();
  };

  ontouchmove = (): void => {
    this.#readerMoves();
    this.follow.readerMovedUp();
  };

  onpointerdown = (): void => {
    this.#dragging = true;
    this.#pin = null;
    this.#holding = false; // what a press opens may need the room
    addEventListener("pointerup", () => (this.#dragging = false), { once: true });
  };

  /** A bar's drag may end without a pointerup; the next move without a button tells. */
  onpointermove = (event: PointerEvent): void => {
    if (event.buttons === 0) this.#dragging = false;
  };

  /** The keyboard went to something in the transcript, which may have scrolled to it. */
  onfocusin = (): void => this.#readerMoves();

  onselectstart = (): void => {
    if (this.chat().running) this.follow.readerMovedUp();
  };
}
