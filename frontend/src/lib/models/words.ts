/** What is known of a model, in words. Nothing is said of what is not known. */
import type { Model, ModelPrice } from "../bridge/generated";
import { s } from "../strings";

/** “128k”, “1M”, “1.05M”: how many tokens a model reads. */
export function tokens(n: number): string {
  if (n >= 1_000_000) return `${Number((n / 1_000_000).toFixed(2))}M`;
  if (n >= 1000) return `${Math.round(n / 1000)}k`;
  return String(n);
}

/** “$2.50”, “$0.05”, “$0.0375”: at least two places, and as many as it takes. */
function dollars(n: number): string {
  const short = n.toFixed(n > 0 && n < 0.1 ? 4 : 2).replace(/(\.\d\d\d*?)0+$/, "$1");
  return `$${short}`;
}

/** “$2.50 / $10.00” for a million tokens in and out, or “free”. */
export function price({ input, output }: ModelPrice): string {
  if (input === 0 && output === 0) return s.picker.free;
  return `${dollars(input)} / ${dollars(output)}`;
}

/** What a screen reader says of a row of the list: what is shown in it in that order, then what is drawn or in a heading. */
export function spoken(model: Model, shown: string, connection: string): string {
  const can = (["vision", "tools", "reasoning"] as const).filter((c) => model[c]).map((c) => s.models.capability[c]);
  return [
    model.title,
    shown,
    model.context_tokens > 0 ? tokens(model.context_tokens) : "",
    model.price ? price(model.price) : "",
    shown ? "" : connection,
    ...can,
  ]
    .filter(Boolean)
    .join(s.numbers.comma);
}

/** All that is known of a model, for one line and for screen readers. */
export function facts(model: Model): string {
  const { context_tokens: context, price: cost } = model;
  const can = (["vision", "tools", "reasoning"] as const).filter((c) => model[c]).map((c) => s.models.capability[c]);
  return [
    context > 0 ? s.picker.context(tokens(context)) : "",
    cost
      ? cost.input === 0 && cost.output === 0
        ? s.picker.free
        : s.picker.price(dollars(cost.input), dollars(cost.output))
      : "",
    can.join(s.numbers.comma),
  ]
    .filter(Boolean)
    .join(" · ");
}
