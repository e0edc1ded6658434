/**
 * The texts of the window in the language of the page: src/messages/LANGUAGE.json, by the same paths. A text
 * that holds values is a function; what its parameters are, the file and its notes say (messages.js).
 */
import type { Messages } from "../messages/messages";

/** What can be loaded, by its code. */
const languages: Record<string, () => Promise<{ default: Messages }>> = {
  en: () => import("messages:en"),
  zh: () => import("messages:zh"),
};

/** The texts. They are there before any other module of the window runs (boot.ts). */
export let s: Messages;

/** Loads a language, English where there is none of that code. A page keeps its language until it is loaded again. */
export async function speak(language: string): Promise<void> {
  const load = languages[language.split("-")[0] ?? ""] ?? (() => import("messages:en"));
  s = (await load()).default;
}

/** A whole number in groups of three: “9,400”. Without Intl, whose tables a window's start would wait for. */
export function whole(n: number): string {
  return String(n).replace(/\B(?=(\d{3})+$)/g, s.numbers.group);
}
