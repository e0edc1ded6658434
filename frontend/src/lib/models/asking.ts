/** How the model of a chat is asked: reasoning effort, temperature and length. */
import type { Asking, Model } from "../bridge/generated";
import { whole, s } from "../strings";

export const efforts = ["", "off", "low", "medium", "high"] as const;
export type Effort = (typeof efforts)[number];

export const effortOf = (asking: Asking): Effort => efforts.find((one) => one === asking.reasoning) ?? "";

/** What differs from the provider's own, “high · 0.2”; "" where nothing does, or the model takes none of it. */
export function said(asking: Asking, model?: Pick<Model, "reasoning">): string {
  const effort = effortOf(asking);
  return [
    effort && (model?.reasoning ?? true) ? s.asking.efforts[effort] : "",
    asking.temperature == null ? "" : String(asking.temperature),
    asking.max_tokens ? s.asking.atMost(whole(asking.max_tokens)) : "",
  ]
    .filter(Boolean)
    .join(" · ");
}
