/** Temporary chats: in no list, and deleted by the program when they are left. */
import type { App } from "../app.svelte";
import { s } from "../strings";

/** Opens an empty temporary chat. What was written for a new chat goes along. */
export function newTemporary(app: App): Promise<boolean> {
  return app.attempt(async () => {
    const { chat, composer } = app;
    if (chat?.chat?.temporary && chat.empty) return void app.wish.composer++;
    const text = chat ? "" : composer.text;
    if (text) composer.put("");
    await app.openMade(() => app.bridge.transfer.Temporary(), text);
  });
}

/** Makes the open temporary chat one of the list. */
export function keepTemporary(app: App): Promise<boolean> {
  return app.attempt(async () => {
    await app.bridge.transfer.Keep(app.chat?.id ?? "");
    app.toasts.say(s.temporary.kept);
  });
}
