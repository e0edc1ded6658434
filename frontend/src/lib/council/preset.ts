/** Choosing a council preset for the open chat. */
import type { App } from "../app.svelte";
import type { CouncilPreset } from "../bridge/generated";
import { s } from "../strings";

/** Sets a copy of a preset in the open chat only, and offers to undo that. */
export function choosePreset(app: App, { name, council }: CouncilPreset): Promise<boolean> {
  const chat = app.chat?.id ?? "";
  return app.attempt(async () => {
    const takeBack = await app.council.setHere(chat, { ...council, enabled: true });
    app.sayWithUndo(s.council.chosen(name), takeBack);
  });
}
