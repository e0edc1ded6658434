/** Alt+Up and Alt+Down: from message to message. */
import type { App } from "../app.svelte";

/** Puts the focus on the message before or after the one that has it. */
export function stepMessage(app: App, step: 1 | -1): void {
  const chat = app.chat;
  if (!chat || chat.outline.length === 0) return;
  const focused = document.activeElement?.closest<HTMLElement>("[data-seq]")?.dataset.seq;
  const at = focused ? chat.outline.indexOf(Number(focused)) : step === 1 ? -1 : chat.outline.length;
  const seq = chat.outline[Math.min(Math.max(at + step, 0), chat.outline.length - 1)] as number;
  chat.target = { seq, focus: true };
}
