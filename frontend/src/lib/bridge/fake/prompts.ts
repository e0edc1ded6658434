/** The person's own prompts; there are none until a test adds some. */
import type * as t from "../generated";

export class FakePrompts {
  own: t.OwnPrompt[] = [];

  List = async (): Promise<t.OwnPrompt[]> => this.own;
  Places = async (): Promise<t.PromptPlace[]> => [];
  Fill = async (text: string, values: Record<string, string>): Promise<string> =>
    text.replace(/\{\{(\w+)[^}]*\}\}/g, (_, name: string) => values[name] ?? "");
}
