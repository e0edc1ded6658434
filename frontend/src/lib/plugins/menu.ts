import Code from "@lucide/svelte/icons/code";
import Copy from "@lucide/svelte/icons/copy";
import Download from "@lucide/svelte/icons/download";
import FolderOpen from "@lucide/svelte/icons/folder-open";
import KeyRound from "@lucide/svelte/icons/key-round";
import LogOut from "@lucide/svelte/icons/log-out";
import RefreshCw from "@lucide/svelte/icons/refresh-cw";
import ScrollText from "@lucide/svelte/icons/scroll-text";
import Trash from "@lucide/svelte/icons/trash-2";
import type { App } from "../app.svelte";
import type { Plugin } from "../bridge/generated";
import { s } from "../strings";
import type { MenuItem } from "../ui/menu";
import { diagnosis } from "./details";

async function update(app: App, plugin: Plugin) {
  const notice = app.toasts.say(s.plugins.updating(plugin.name, plugin.origin), {
    label: s.plugins.addStop,
    run: () => void app.attempt(() => app.bridge.plugins.StopAdding()),
  });
  app.toasts.hold(notice);
  await app.undoable(() => app.bridge.plugins.Update(plugin.id));
  app.toasts.dismiss(notice);
}

/** The programs in whose form the configuration of an MCP server can be copied. */
const forms = [
  { form: "claude-desktop", title: "Claude" },
  { form: "vscode", title: "VS Code" },
  { form: "cursor", title: "Cursor" },
];

/** Copies of an MCP server's configuration; none for other plugins. */
function copies(app: App, plugin: Plugin): MenuItem[] {
  if (plugin.contract !== "mcp") return [];
  return forms.map(({ form, title }, i) => ({
    label: s.plugins.servers.copyFor(title),
    icon: Copy,
    separated: i === 0,
    run: () => app.attempt(async () => app.copy(await app.bridge.plugins.Configuration(plugin.id, form))),
  }));
}

/** What can be done with a plugin. A plugin on another computer has no files here. */
export function pluginMenu(app: App, plugin: Plugin, open: { onlog: () => void; onreach: () => void }): MenuItem[] {
  const { id } = plugin;
  const asks = plugin.state === "needs-approval" || plugin.state === "quarantined";
  const reload = {
    label: s.plugins.reload,
    icon: RefreshCw,
    run: () => app.attempt(() => app.bridge.plugins.Reload(id)),
  };
  const showLog = { label: s.plugins.showLog, icon: ScrollText, run: open.onlog };
  const copyDiagnosis = {
    label: s.plugins.copyDiagnosis,
    icon: Copy,
    run: () =>
      app.attempt(async () => {
        const [log, traffic] = await Promise.all([app.bridge.plugins.Log(id, 0), app.bridge.activity.Traffic(id)]);
        return app.copy(diagnosis(plugin, log.lines, traffic));
      }),
  };
  const signOut = plugin.signed_in !== "" && {
    label: s.plugins.signOut,
    icon: LogOut,
    run: () => app.attempt(() => app.bridge.plugins.SignOut(id)),
  };
  if (plugin.remote)
    return [reload, showLog, copyDiagnosis, signOut, ...copies(app, plugin)].filter((item) => item !== false);

  const items: (MenuItem | false)[] = [
    { label: s.plugins.openInEditor, icon: Code, run: () => app.openInEditor(id) },
    reload,
    plugin.origin !== "" && {
      label: s.plugins.update,
      icon: Download,
      run: () => void update(app, plugin),
    },
    !asks && { label: s.plugins.reach.menu, icon: KeyRound, run: open.onreach },
    showLog,
    copyDiagnosis,
    signOut,
    {
      label: s.plugins.openFolder,
      icon: FolderOpen,
      run: () => app.attempt(() => app.bridge.plugins.OpenFolder(id)),
    },
    ...copies(app, plugin),
    {
      label: s.plugins.remove,
      icon: Trash,
      danger: true,
      separated: true,
      run: () => app.undoable(() => app.bridge.plugins.Remove(id)),
    },
  ];
  return items.filter((item) => item !== false);
}
