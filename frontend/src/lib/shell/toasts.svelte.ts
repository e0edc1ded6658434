/** Short notices at the foot of the window: what was done with its undo, and what failed. */
import { untrack } from "svelte";
import type { AppError } from "../bridge/calls";

export interface Toast {
  key: number;
  tone: "plain" | "danger";
  text: string;
  hint: string;
  /** Reference of an internal fault. */
  ref: string;
  action: { label: string; run: () => void } | null;
}

/** How long a notice is shown, in ms. One with a button is shown longer. */
const stays = 5000;
const staysToPress = 12000;
const most = 3;

export class Toasts {
  list = $state.raw<Toast[]>([]);
  #keys = 0;
  #timers = new Map<number, ReturnType<typeof setTimeout>>();

  /** Returns the notice's key, for hold and dismiss. */
  say(text: string, action: Toast["action"] = null): number {
    return this.#add({ tone: "plain", text, hint: "", ref: "", action });
  }

  fail(error: AppError, action: Toast["action"] = null): void {
    if (error.kind === "canceled") return;
    const { message: text, hint, ref } = error;
    this.#add({ tone: "danger", text, hint, ref, action });
  }

  /** An effect that says something does not depend on what is said. */
  #add(toast: Omit<Toast, "key">): number {
    return untrack(() => {
      const same = this.list.find((t) => t.text === toast.text);
      if (same) this.dismiss(same.key);
      const key = ++this.#keys;
      this.list = [...this.list, { key, ...toast }].slice(-most);
      this.resume(key);
      return key;
    });
  }

  /** The pointer or the focus is on it: it stays. */
  hold(key: number): void {
    clearTimeout(this.#timers.get(key));
  }

  resume(key: number): void {
    this.hold(key);
    const toast = this.list.find((t) => t.key === key);
    if (!toast) return;
    const time = toast.action || toast.tone === "danger" ? staysToPress : stays;
    this.#timers.set(
      key,
      setTimeout(() => this.dismiss(key), time),
    );
  }

  dismiss(key: number): void {
    clearTimeout(this.#timers.get(key));
    this.#timers.delete(key);
    this.list = this.list.filter((t) => t.key !== key);
  }
}
