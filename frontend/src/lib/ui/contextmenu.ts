/** The items of a right click, or the menu key, by the elements under it, innermost first. */
import type { Attachment } from "svelte/attachments";
import type { MenuItem } from "./menu";

const registered = new WeakMap<Element, () => MenuItem[]>();

/** Gives an element, or the one around it that matches selector, a menu. */
export function menuOf(items: () => MenuItem[], selector = ""): Attachment<Element> {
  return (node) => {
    const owner = selector ? node.closest(selector) : node;
    if (!owner) return;
    registered.set(owner, items);
    return () => void registered.delete(owner);
  };
}

/** The items of the innermost element around target that has a menu. */
export function itemsAround(target: Element): MenuItem[] {
  for (let at: Element | null = target; at; at = at.parentElement) {
    const items = registered.get(at);
    if (items) return items();
  }
  return [];
}

/** Puts groups of items one below the other, a line between them. */
export function grouped(...groups: MenuItem[][]): MenuItem[] {
  return groups
    .filter((group) => group.length > 0)
    .flatMap((group, g) => group.map((item, i) => (g > 0 && i === 0 ? { ...item, separated: true } : item)));
}

export type TextField = HTMLInputElement | HTMLTextAreaElement;

/** The field that holds text around an element, null when there is none. */
export function textField(target: Element): TextField | null {
  const field = target.closest<TextField>("textarea, input");
  if (!field || field.disabled) return null;
  const none = "checkbox, radio, range, button, submit, file, color".split(", ");
  return none.includes(field.type) ? null : field;
}

/** The text selected in a field; "" where the browser does not tell, and of a password. */
export function selectedIn(field: TextField): string {
  if (field.type === "password") return "";
  const { selectionStart: from, selectionEnd: to } = field;
  return from === null || to === null ? "" : field.value.slice(from, to);
}

/**
 * Puts text into the field that has the focus, as if it had been pasted: the field
 * may take the paste itself, and the browser can undo it.
 */
export function paste(field: TextField, text: string): void {
  const data = new DataTransfer();
  data.setData("text/plain", text);
  const event = new ClipboardEvent("paste", {
    clipboardData: data,
    bubbles: true,
    cancelable: true,
  });
  if (field.dispatchEvent(event)) document.execCommand("insertText", false, text);
}
