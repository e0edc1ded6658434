/**
 * What one can do in the first frame (index.html) before the window is loaded: write in its field, whose
 * text the composer takes over when it is mounted, choose a chat, which is opened then, and press a shortcut,
 * which is run then.
 */
import { s } from "./lib/strings";

const field = () => document.querySelector<HTMLTextAreaElement>("#first textarea");
let composing = false;
let chosen = "";
let pressed: KeyboardEvent | null = null;

/** Keeps the last key that may be a shortcut; which are, the window knows. */
function press(event: KeyboardEvent): void {
  const { ctrlKey, metaKey, altKey, key } = event;
  if ((ctrlKey || metaKey || altKey || /^F\d/.test(key)) && !["Control", "Meta", "Alt"].includes(key)) pressed = event;
}

/** Puts the frame, which is written in English, in the language of the page and in its direction. */
export function say(direction: string | null = null): void {
  document.documentElement.lang = s.page.language;
  document.documentElement.dir = direction ?? s.page.direction;
  const [newChat, search] = document.querySelectorAll("#first .side > div");
  newChat?.replaceChildren(s.sidebar.newChat);
  search?.replaceChildren(s.sidebar.search);
  const at = field();
  if (!at) return;
  at.placeholder = s.composer.placeholder;
  at.ariaLabel = s.composer.label;
}

/** Follows what an input method composes in the field. Enter waits for the window, which can send. */
export function watch(): void {
  document.addEventListener("keydown", press);
  field()?.addEventListener("compositionstart", () => (composing = true));
  field()?.addEventListener("compositionend", () => (composing = false));
  document.querySelector("#first .rows")?.addEventListener("click", (event) => {
    const row = (event.target as Element).closest<HTMLElement>("[data-chat]");
    if (!row) return;
    document.querySelector("#first .current")?.classList.remove("current");
    row.classList.add("current");
    chosen = row.dataset.chat ?? "";
  });
  field()?.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) event.preventDefault();
  });
}

/** Resolves once no input method composes in the field, which would lose what it has. */
export async function composed(): Promise<void> {
  const at = field();
  if (composing && at)
    await new Promise((resolve) => {
      for (const end of ["compositionend", "blur"]) at.addEventListener(end, resolve, { once: true });
    });
}

/**
 * Takes the first frame away; returns what was written in its field, where the caret was, the chat that was
 * chosen, "" for none, and the key that may be a shortcut.
 */
export function takeAway(): { text: string; cursor: number; chat: string; key: KeyboardEvent | null } {
  document.removeEventListener("keydown", press);
  const { value: text = "", selectionStart: cursor = 0 } = field() ?? {};
  document.getElementById("first")?.remove();
  return { text, cursor, chat: chosen, key: pressed };
}
