/** What Esc means when no overlay took it: leave find, leave settings, leave an edit, go to the composer. */
import type { App } from "../app.svelte";

/** One step outwards. It never denies and never stops. */
export function escape(app: App): void {
  if (app.find.open) app.find.close();
  else if (app.layout.sidebarFloats && app.layout.sidebarOver) app.layout.setSidebar(false);
  else if (app.layout.dockWide) app.layout.setWide(false);
  else if (app.layout.dockFloats && app.layout.dockOver) app.layout.setDock(false);
  else if (app.page) app.page = null;
  else if (app.chat?.picked) app.chat.picked = null;
  else if (app.chat?.editing) app.chat.leaveEdit();
  app.wish.composer++;
}
