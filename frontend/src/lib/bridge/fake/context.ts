/** The context of a model that is hardly used, unless a test says otherwise. */
import type * as t from "../generated";

export class FakeContext {
  fill: t.Fill = {
    window: 128_000,
    answer: 8_000,
    system: 0,
    tools: 1_240,
    council: 0,
    summary: 0,
    turns: 2_310,
    draft: 0,
    used: 3_550,
    from: 0,
    left: 0,
    summed: null,
  };

  Fill = async (): Promise<t.Fill> => this.fill;
}
