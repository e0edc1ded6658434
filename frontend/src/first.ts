/**
 * The field of the first frame (index.html), in which one can write before the window is loaded. The
 * composer takes its text over when it is mounted.
 */

const field = () => document.querySelector<HTMLTextAreaElement>("#first textarea");
let composing = false;

/** Follows what an input method composes in the field. Enter waits for the window, which can send. */
export function watch(): void {
  field()?.addEventListener("compositionstart", () => (composing = true));
  field()?.addEventListener("compositionend", () => (composing = false));
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

/** Takes the first frame away; returns what was written in its field, and where the caret was. */
export function takeAway(): { text: string; cursor: number } {
  const { value: text = "", selectionStart: cursor = 0 } = field() ?? {};
  document.getElementById("first")?.remove();
  return { text, cursor };
}
