/// <reference path="../spindle.d.ts" />

export interface Greet {
  name: string;
  when: string;
}

/** greeting greets with the words in the extension's storage, which are its own. */
export async function greeting({ name = "everybody", when = "" }: Partial<Greet>): Promise<string> {
  const words = await spindle.storage.getJson<Record<string, string>>("greetings.json", { fallback: {} });
  return `${words[when] ?? "Hello"}, ${name}!`;
}
