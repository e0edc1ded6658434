/** The folders refused to a plugin that are still not allowed, each once with the most it asked for. */
import type { Plugin, Refusal } from "../bridge/generated";

export function openRefusals({ refused, folders }: Plugin): Refusal[] {
  const open = new Map<string, Refusal>();
  for (const wish of refused) {
    if (wish.permission !== "filesystem" || !wish.path) continue;
    if (folders.some((f) => f.path === wish.path && (f.write || !wish.write))) continue;
    open.set(wish.path, open.get(wish.path)?.write ? { ...wish, write: true } : wish);
  }
  return [...open.values()];
}
