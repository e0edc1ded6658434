import AppWindow from "@lucide/svelte/icons/app-window";
import Archive from "@lucide/svelte/icons/archive";
import Pencil from "@lucide/svelte/icons/pencil";
import Pin from "@lucide/svelte/icons/pin";
import Trash from "@lucide/svelte/icons/trash-2";
import type { App } from "../app.svelte";
import type { ChatRow } from "../bridge/generated";
import { s } from "../strings";
import type { MenuItem } from "../ui/menu";
import { transferMenu } from "./transfer";

/** What can be done with a chat of the list. */
export function rowMenu(app: App, of: ChatRow, rename: () => void): MenuItem[] {
  const { chats } = app.bridge;
  return [
    { label: s.tabs.open, icon: AppWindow, run: () => app.tabs.open(of.id) },
    {
      label: s.sidebar.rename,
      icon: Pencil,
      takesFocus: true,
      run: rename,
    },
    {
      label: of.pinned ? s.sidebar.unpin : s.sidebar.pin,
      icon: Pin,
      run: () => app.attempt(() => chats.SetPinned(of.id, !of.pinned)),
    },
    {
      label: of.archived ? s.sidebar.fromArchive : s.sidebar.toArchive,
      icon: Archive,
      run: () => app.archiveChat(of.id, !of.archived),
    },
    ...transferMenu(app, of.id),
    {
      label: s.sidebar.delete,
      icon: Trash,
      danger: true,
      separated: true,
      run: () => app.deleteChat(of.id),
    },
  ];
}
