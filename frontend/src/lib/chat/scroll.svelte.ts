/**
 * The transcript's view: following the end, holding a question at the top,
 * bringing a message into view. It moves the view only while the reader has not
 * moved it since.
 */
import { flushSync } from "svelte";
import type { Find, Spot } from "../bridge/generated";
import type { OpenChat, Target } from "./chat.svelte";
import { Follow } from "./follow.svelte";
import { placeIn, type WordAt } from "./marks";
import { Rows, type RowAt } from "./rows.svelte";

/** Gap between the top of the view and a question that was just sent, in px. */
const questionGap = 24;
/** Least height of the last line, which shows the turn's status, in px. */
export const tailHeight = 64;
/** How much of the lower end of the view the pill may take, in px. */
const pillHeight = 56;
/** A scroll this soon after the reader's own wheel, key or touch is the reader's, in ms. */
const handLasts = 600;
/** A scroll this soon after something changed size may be the view keeping its place, in ms. */
const settlingLasts = 300;
/** How long a message stays pinned after it was brought into view, while sizes settle, in ms. */
const pinLasts = 500;
/** What stays free above and below a card that is brought into view after another, in px. */
const cardGap = 8;
/** How long after its last move the view is at rest, in ms. */
const restsAfter = 150;
/** How often rows are measured and shown before the view is left as it is. */
const most = 8;
/** How many screens above and below the view are pulled before they are seen. */
const ahead = 2;

const scrollKeys = ["ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End", " "];

/** A message that was brought into view, and what of it. */
interface Pin {
  seq: number;
  align: "start" | "center";
  /** By the clock of the page, in ms; Infinity until it is drawn. */
  until: number;
  /** The block that is shown; undefined is the message's beginning. */
  spot: () => Spot | undefined;
  /** The place in it that is shown. */
  inside: () => DOMRect | undefined;
  /** The selector of the card that is shown, which may not be there yet; "" for none. */
  card: string;
}

export class TranscriptScroll {
  readonly follow = new Follow();
  /** Space under the last message, so that a question can be at the top. */
  room = $state.raw(0);
  /** The pill would lie over the buttons of a permission card. */
  covers = $state.raw(false);
  scroller = $state.raw<HTMLElement>();
  content = $state.raw<HTMLElement>();
  readonly rows: Rows;

  #hand = -handLasts; // when the reader last moved the view
  #focusing = false; // the keyboard goes to what was brought into view
  #dragging = false; // a pointer is down: on the scroll bar, or selecting
  #settled = -settlingLasts; // when something last changed size
  #pin: Pin | null = null;
  /** A row in view, and where it was: it stays there when what is above it changes. */
  #anchor: { row: Element; y: number } | null = null;
  #moved = -handLasts; // when the view last moved by itself or by hand
  #rests: ReturnType<typeof setTimeout> | undefined;
  #expected = -1; // where this put the view
  #cut = 0; // by how much the browser moved the view up since what scrolls became less high, in px
  #question = 0; // held at the top
  #holding = false; // the view has not moved since the question was put there
  /** A card that was answered in view, its row, and how much was written by then. */
  #answered: { card: Element; row: Element; paragraphs: number } | null = null;

  constructor(private chat: () => OpenChat) {
    this.rows = new Rows(chat);
  }

  #measure(mover: "window" | "somebody" | "reader" = "window"): void {
    const { scroller, content, rows } = this;
    if (!scroller) return;
    const { outline, paragraphs } = this.chat();
    if (this.#question) {
      const at = outline.indexOf(this.#question);
      const used = rows.end + tailHeight - rows.top(at);
      this.room = at < 0 ? 0 : Math.max(0, scroller.clientHeight - questionGap - used);
    }
    const bottom = scroller.getBoundingClientRect().bottom;
    this.covers = [...scroller.querySelectorAll("[data-answers]")].some((buttons) => {
      const { top, bottom: end } = buttons.getBoundingClientRect();
      return end > bottom - pillHeight && top < bottom;
    });
    // The space below the last text or card is empty and does not count.
    const last = content?.nextElementSibling?.lastElementChild ?? content;
    const size = last ? this.#yOf(last) + last.getBoundingClientRect().height : 0;
    this.follow.scrolled(scroller.scrollTop, scroller.clientHeight, size, paragraphs, mover);
  }

  #scrollTo(offset: number): void {
    if (!this.scroller) return;
    this.scroller.scrollTop = offset;
    this.#expected = this.scroller.scrollTop;
  }

  /** Where an element is in what scrolls, whatever of it is in view. */
  #yOf(element: Element): number {
    const { scroller } = this;
    if (!scroller) return 0;
    const top = element.getBoundingClientRect().top - scroller.getBoundingClientRect().top;
    return top + scroller.scrollTop;
  }

  /**
   * Puts on the page what is in view, and the view where it is to be: first by what was
   * guessed, and again with what was then measured, until nothing moves.
   */
  #layOut(place: () => number): void {
    const { scroller, content, rows } = this;
    if (!scroller?.clientHeight || !content) return;
    flushSync(); // what was pulled is drawn
    const kept = this.#kept();
    for (let pass = 0; pass < most; pass++) {
      rows.measure(content);
      const top = place();
      const { scrollTop } = scroller;
      if (!rows.show(top, top + scroller.clientHeight, kept)) break;
      flushSync();
      this.#cut = scrollTop - scroller.scrollTop;
    }
    this.#cut = 0;
    // What is not drawn or not pulled yet has no size: the time begins once it is there, and where
    // it is to be. However long drawing takes, it is not over while the view is laid out.
    if (this.#pin?.until === Infinity && this.#pinned()) {
      this.#pin.until = performance.now() + pinLasts;
    }
    this.#choose();
    const top = scroller.scrollTop + rows.shift;
    const screen = scroller.clientHeight;
    this.chat().want(rows.wants(top - ahead * screen, top + (1 + ahead) * screen), rows.shown);
  }

  /** The row that was brought into view; undefined while it is not drawn or not pulled. */
  #pinned(): Element | undefined {
    const pin = this.#pin;
    const article = pin && this.content?.querySelector(`article[data-seq="${pin.seq}"]`);
    if (!article || !this.chat().held(pin.seq) || article.querySelector(".waits")) return undefined;
    if (pin.card && !this.content?.querySelector(pin.card)) return undefined; // its call has not arrived
    return article.querySelector(`[data-row="${this.#rowOf(pin)}"]`) ?? article;
  }

  /** The row of its message that a pin names. */
  #rowOf({ seq, spot }: Pick<Pin, "seq" | "spot">): number {
    const at = spot();
    return (at && this.chat().held(seq)?.rowOf(at)) ?? 0;
  }

  /** Chooses a row in view that stays where it is: the one that was brought there, if it can be. */
  #choose(): void {
    const { scroller, content } = this;
    if (!scroller || !content) return;
    const view = scroller.getBoundingClientRect();
    const inView = [...content.querySelectorAll("[data-row]")].filter(
      (row) => row.getBoundingClientRect().bottom > view.top + 1,
    );
    const pinned = this.#pinned();
    const row =
      inView.find((row) => row === pinned && row.getBoundingClientRect().top < view.bottom) ??
      inView.find((row) => !row.matches(".waits")) ??
      inView[0];
    this.#anchor = row ? { row, y: this.#yOf(row) } : null;
  }

  #atAnchor = (): number => {
    const { scroller, rows } = this;
    if (!scroller) return 0;
    const { shift } = rows;
    const anchor = this.#anchor?.row.isConnected ? this.#anchor : null;
    const y = anchor ? this.#yOf(anchor.row) : 0;
    const moved = anchor ? y - anchor.y : 0;
    // To set the place of a view that moves by itself would stop it.
    const moves = performance.now() - this.#moved < restsAfter;
    rows.drift = moves ? shift + moved : 0;
    const was = scroller.scrollTop + this.#cut;
    const top = was + shift + moved;
    if (anchor && (rows.drift === 0 || rows.drift >= rows.topShown) && Math.abs(moved) >= 1) {
      this.#scrollTo(was + moved);
      anchor.y = y;
    }
    return top;
  };

  /** The rows that the keyboard and the selection are in. */
  #kept(): RowAt[] {
    const { content } = this;
    const chosen = getSelection();
    const ends = chosen?.isCollapsed === false ? [chosen.anchorNode, chosen.focusNode] : [];
    return [document.activeElement, ...ends].flatMap((node) => {
      const element = node instanceof Element ? node : node?.parentElement;
      const row = element?.closest<HTMLElement>("[data-row]");
      const seq = content?.contains(row ?? null) && row?.closest<HTMLElement>("article")?.dataset.seq;
      const index = this.chat().outline.indexOf(Number(seq));
      return index < 0 ? [] : [{ index, row: Number(row?.dataset.row) }];
    });
  }

  toEnd(): void {
    this.#layOut(this.#atEnd);
  }

  #atEnd = (): number => {
    const { scroller, rows } = this;
    rows.drift = 0;
    this.#scrollTo(scroller?.scrollHeight ?? 0);
    return rows.end + tailHeight - (scroller?.clientHeight ?? 0);
  };

  /** Stops keeping anything in place or bringing it into view. */
  #release(): void {
    this.#pin = null;
    this.#answered = null;
    this.#holding = false;
  }

  /** The pill: leave what was held, go to the end and follow. */
  letGo(): void {
    this.#release();
    this.#question = 0;
    this.room = 0;
    this.follow.toEnd();
  }

  /** A question was sent: there is room for it to go to the top. Bring it there next. */
  hold(question: number): void {
    this.#question = question;
    this.#answered = null;
    this.#holding = true;
    this.follow.hold();
    this.room = this.scroller?.clientHeight ?? 0;
  }

  /**
   * Brings a message into view and keeps it there while the messages around it are
   * measured, or until the reader moves.
   */
  bring(seq: number, align: "start" | "center", at: Partial<Pick<Pin, "spot" | "inside" | "card">> = {}): void {
    this.follow.hold();
    this.#answered = null;
    if (seq !== this.#question) this.#holding = false;
    this.#pin = { spot: () => undefined, inside: () => undefined, card: "", ...at, seq, align, until: Infinity };
    this.#layOut(this.#atPin);
  }

  /** Shows what is asked for: a message, or in it a request's card, a spot or words. */
  show({ seq, request, spot, nth = 0, focus }: Target, words: string): void {
    const card = request ? `[data-request~="${CSS.escape(request)}"]` : "";
    const inside = () => {
      if (card) return this.scroller?.querySelector(card)?.getBoundingClientRect();
      return words && spot && this.scroller
        ? placeIn(this.scroller, words, this.wordAt({ seq, spot, nth }))
        : undefined;
    };
    const at = () => (request ? this.chat().spotOf(seq, request) : spot);
    this.bring(seq, "center", { spot: at, inside, card });
    if (focus) this.#focus(seq);
  }

  /** The row in which words that were found stand. */
  wordAt({ seq, spot, nth }: Find): WordAt {
    return { seq, row: this.#rowOf({ seq, spot: () => spot }), nth };
  }

  /** Gives a message that was brought into view the keyboard. */
  #focus(seq: number): void {
    this.#focusing = true;
    this.content?.querySelector<HTMLElement>(`article[data-seq="${seq}"]`)?.focus({ preventScroll: true });
    this.#focusing = false;
  }

  #atPin = (): number => {
    const { scroller, rows } = this;
    const pin = this.#pin;
    const index = pin ? this.chat().outline.indexOf(pin.seq) : -1;
    if (!scroller || !pin || index < 0) {
      this.#pin = null;
      return this.#atAnchor();
    }
    rows.drift = 0;
    const place = pin.inside();
    if (place) {
      const top = place.top - scroller.getBoundingClientRect().top;
      this.#scrollTo(scroller.scrollTop + top - (scroller.clientHeight - place.height) / 2);
      return scroller.scrollTop + rows.shift;
    }
    const row = this.#rowOf(pin);
    const height = row > 0 ? 0 : rows.top(index + 1) - rows.top(index);
    const middle = (scroller.clientHeight - height) / 2;
    const space = pin.align === "start" ? questionGap : Math.max(questionGap, middle);
    const top = rows.topOf({ index, row }) - space;
    this.#scrollTo(top);
    return top;
  };

  /**
   * Settles the view after each change of size, before it is painted; the function
   * returned ends it.
   */
  observe(): (() => void) | undefined {
    const { scroller, content } = this;
    if (!scroller || !content) return undefined;
    const sizes = new ResizeObserver(this.settle);
    sizes.observe(scroller);
    sizes.observe(content);
    return () => sizes.disconnect();
  }

  /** Something changed size, or more came. */
  settle = (): void => {
    this.#settled = performance.now();
    // From here on the row stays where it is as any other in view would.
    if (this.#pin && this.#settled > this.#pin.until) this.#pin = null;
    if (this.#pin) this.#layOut(this.#atPin);
    else if (this.follow.following) this.toEnd();
    else this.#layOut(this.#atAnchor);
    this.#measure();
    if (!this.#pin && !this.#showNext()) this.#keepQuestion();
  };

  /**
   * A card was answered by somebody who was at it. If it was in view, the next card that waits, or a
   * question of the call that was allowed, comes into view as a whole, as far as what was answered stays
   * in view: whoever answers one looks for the next there, and would else find its buttons cut off. That
   * is the one move that nobody asked for. It is not made once the reader moves the view or presses
   * something in it, or once more was written in between, which is read then: the pill and the shortcut
   * lead to the card. The focus does not go there, and its buttons arm again.
   */
  answered = (card: Element): void => {
    const row = card.closest("[data-row]");
    const { scroller } = this;
    if (!scroller || !row || !scroller.contains(card)) return;
    const view = scroller.getBoundingClientRect();
    const { top, bottom } = card.getBoundingClientRect();
    const inView = bottom > view.top && top < view.bottom;
    this.#answered = inView ? { card, row, paragraphs: this.chat().paragraphs } : null;
  };

  /** Shows the card that waits behind the one that was answered; whether that moved the view. */
  #showNext(): boolean {
    const { scroller } = this;
    const from = this.#answered;
    if (!scroller || !from || from.card.isConnected) return false;
    const gone = !from.row.isConnected || this.chat().paragraphs > from.paragraphs;
    const next = [...scroller.querySelectorAll("[data-request], [data-question]")].find(
      (card) =>
        from.row.contains(card) || (from.row.compareDocumentPosition(card) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0,
    );
    if (!gone && !next) return false; // it may come
    this.#answered = null;
    if (gone || !next || this.follow.following) return false;
    const view = scroller.getBoundingClientRect();
    const card = next.getBoundingClientRect();
    const over = card.bottom + cardGap - view.bottom;
    const by = Math.min(over, from.row.getBoundingClientRect().top - cardGap - view.top);
    // Of a card that is further down not even its beginning would be seen.
    if (by < 1 || card.top - by > view.bottom - pillHeight) return false;
    this.#holding = false;
    this.#scrollTo(scroller.scrollTop + by);
    this.#layOut(this.#atAnchor);
    this.#measure();
    return true;
  }

  // When an answer ends its last line goes and its buttons come: the view would be
  // cut short for a moment, and the question jump.
  #keepQuestion(): void {
    const { scroller, rows } = this;
    const at = this.#holding ? this.chat().outline.indexOf(this.#question) : -1;
    if (!scroller || at < 0) return;
    const offset = rows.top(at) - questionGap;
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
    if (own) return;
    this.#moved = now;
    clearTimeout(this.#rests);
    this.#rests = setTimeout(() => {
      if (!this.#pin && !this.follow.following) this.#layOut(this.#atAnchor);
    }, restsAfter + 50);
    this.#layOut(this.#atAnchor);
  };

  #readerMoves(): void {
    this.#hand = performance.now();
    this.#release();
  }

  onwheel = (event: WheelEvent): void => {
    this.#readerMoves();
    if (event.deltaY < 0) this.follow.readerMovedUp();
  };

  onkeydown = (event: KeyboardEvent): void => {
    if (!scrollKeys.includes(event.key)) return;
    this.#readerMoves();
    if (["ArrowUp", "PageUp", "Home"].includes(event.key)) this.follow.readerMovedUp();
    // To the ends at once: what is between is neither pulled nor measured.
    const here = event.target instanceof Element && event.target.matches(".scroller, article");
    if (!here || event.ctrlKey || event.altKey || event.shiftKey) return;
    if (event.key === "Home") this.bring(this.chat().outline[0] ?? 0, "start");
    else if (event.key === "End") {
      this.letGo();
      this.toEnd();
    } else return;
    event.preventDefault();
  };

  ontouchmove = (): void => {
    this.#readerMoves();
    this.follow.readerMovedUp();
  };

  onpointerdown = (): void => {
    this.#dragging = true;
    this.#release(); // what a press opens may need the room
    addEventListener("pointerup", () => (this.#dragging = false), { once: true });
  };

  /** The drag of a scroll bar may end without a pointerup; the next move without a button shows it. */
  onpointermove = (event: PointerEvent): void => {
    if (event.buttons === 0) this.#dragging = false;
  };

  /** The keyboard went to something in the transcript, which may have scrolled to it. */
  onfocusin = (): void => {
    if (!this.#focusing) this.#readerMoves();
  };

  onselectstart = (): void => {
    this.#answered = null;
    if (this.chat().running) this.follow.readerMovedUp();
  };
}
