/** Chats as files, and copies of chats. */
import Copy from "@lucide/svelte/icons/copy";
import CopyPlus from "@lucide/svelte/icons/copy-plus";
import Download from "@lucide/svelte/icons/download";
import type { App } from "../app.svelte";
import type { Format } from "../bridge/generated";
import { s } from "../strings";
import type { MenuItem } from "../ui/menu";

/** Asks where, and writes a chat there. */
export function exportChat(app: App, id: string, format: Format): Promise<boolean> {
  return app.attempt(async () => {
    const { path, note } = await app.bridge.transfer.Export(id, format);
    if (path) app.toasts.say(s.transfer.saved(path, note));
  });
}

/** Opens a copy of a chat, up to the message seq, or of all for 0. */
export function copyChat(app: App, id: string, seq = 0): Promise<boolean> {
  return app.attempt(async () => {
    await app.openChat(await app.bridge.transfer.Copy(id, seq));
    app.toasts.say(seq ? s.transfer.branched : s.transfer.copied);
  });
}

/** Asks for a file of a chat, and opens what comes of it. */
export function importChat(app: App): Promise<boolean> {
  return app.attempt(async () => {
    const { conversation, messages, notes } = await app.bridge.transfer.Import();
    if (!conversation) return;
    app.page = null;
    await app.openChat(conversation);
    app.toasts.say([s.transfer.imported(messages), ...notes].join(" "));
  });
}

/** Asks where, and writes a copy of everything there. */
export function backup(app: App): Promise<boolean> {
  return app.attempt(async () => {
    const { path, note } = await app.bridge.transfer.Backup();
    if (path) app.toasts.say(s.transfer.saved(path, note));
  });
}

/** What can be done with a chat as a whole, for its menus. */
export function transferMenu(app: App, id: string): MenuItem[] {
  const formats: Format[] = ["md", "html", "json"];
  return [
    { label: s.transfer.duplicate, icon: CopyPlus, run: () => copyChat(app, id) },
    {
      label: s.transfer.copyText,
      icon: Copy,
      separated: true,
      run: () => app.attempt(async () => app.copy(await app.bridge.transfer.Text(id))),
    },
    ...formats.map((format) => ({
      label: s.transfer.exportAs[format],
      icon: Download,
      run: () => exportChat(app, id, format),
    })),
  ];
}
