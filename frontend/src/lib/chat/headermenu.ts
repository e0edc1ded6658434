import Archive from "@lucide/svelte/icons/archive";
import FileText from "@lucide/svelte/icons/file-text";
import Folder from "@lucide/svelte/icons/folder";
import GitBranch from "@lucide/svelte/icons/git-branch";
import Globe from "@lucide/svelte/icons/globe";
import Pencil from "@lucide/svelte/icons/pencil";
import Search from "@lucide/svelte/icons/search";
import Trash from "@lucide/svelte/icons/trash-2";
import Users from "@lucide/svelte/icons/users";
import type { App } from "../app.svelte";
import { s } from "../strings";
import type { MenuItem } from "../ui/menu";
import { transferMenu } from "./transfer";

/** What can be done with the open chat. */
export function headerMenu(
  app: App,
  chat: { id: string; temporary?: boolean },
  open: Record<"rename" | "system" | "project" | "sources" | "branches", () => void>,
): MenuItem[] {
  return [
    {
      label: s.chat.find,
      icon: Search,
      keys: app.keys.label("find"),
      takesFocus: true,
      run: () => app.keys.run("find"),
    },
    { label: s.chat.rename, icon: Pencil, takesFocus: true, run: open.rename },
    { label: s.branches.title, icon: GitBranch, keys: app.keys.label("branchMap"), run: open.branches },
    { label: s.chat.system, icon: FileText, run: open.system },
    { label: s.chat.project, icon: Folder, run: open.project },
    { label: s.chat.sources, icon: Globe, run: open.sources },
    ...(app.council.settings ? [{ label: s.council.ofChat, icon: Users, run: () => app.showCouncil() }] : []),
    ...transferMenu(app, chat.id),
    ...(chat.temporary
      ? []
      : [{ label: s.sidebar.toArchive, icon: Archive, run: () => app.archiveChat(chat.id, true) }]),
    {
      label: s.sidebar.delete,
      icon: Trash,
      danger: true,
      separated: true,
      run: () => (chat.temporary ? app.newChat() : app.deleteChat(chat.id)),
    },
  ];
}
