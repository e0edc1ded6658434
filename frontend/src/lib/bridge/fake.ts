/**
 * A program with fixed answers: it shows a scene in any browser (`npm run dev:fake`), in pictures
 * and in tests, and records the calls that change something without carrying them out: what the
 * program does is tested on the program. Nothing of this is in the built window.
 */
import type { Bridge } from "./calls";
import { FakeActivity } from "./fake/activity";
import { FakeBus } from "./fake/bus";
import { FakeChats } from "./fake/chats";
import { FakeCouncil } from "./fake/council";
import { FakeModels } from "./fake/models";
import { FakePermissions } from "./fake/permissions";
import { FakePlugins, FakeTools } from "./fake/plugins";
import { scenes } from "./fake/scenes";
import type * as t from "./generated";

/** A call that changes something: "Chats.Rename", and its arguments. */
export interface Asked {
  name: string;
  args: unknown[];
}

/** The bridge, and the state behind it for tests to read and change. */
export interface Fake extends Bridge {
  bus: FakeBus;
  chats: FakeChats & t.ChatsCalls;
  council: FakeCouncil & t.CouncilCalls;
  plugins: FakePlugins & t.PluginsCalls;
  tools: FakeTools & t.ToolsCalls;
  permissions: FakePermissions & t.PermissionsCalls;
  models: FakeModels & t.ModelsCalls;
  activity: FakeActivity & t.ActivityCalls;
  hello: t.Hello;
  /** What was asked and changed nothing, newest last. */
  asked: Asked[];
  /** Texts copied, newest last. */
  copied: string[];
  /** The arguments of what was asked by a name. */
  given(name: string): unknown[][];
}

/** What a question is answered with that nothing else answers. */
const answers: Record<string, unknown> = Object.fromEntries([
  ...["Chats.Delete", "Chats.DeleteDemo", "Plugins.Remove", "Plugins.Update", "Models.Remove"].map(
    (name) => [name, { token: "undo", sentence: "It is done." } satisfies t.Undo],
  ),
  ["Council.SavePreset", { token: "undo", sentence: "The preset was saved." } satisfies t.Undo],
  ["Permissions.Revoke", { token: "undo", sentence: "The rule was taken back." } satisfies t.Undo],
  ["Permissions.Sources", []],
  ["Plugins.Add", "moon"],
  ["Plugins.OpenInEditor", "gedit"],
  ["Plugins.New", "my_tool"],
  ["Models.Add", "mine"],
  ["Window.Toasts", []],
  ["Window.Report", "a1b2c3"],
  [
    "Window.LoadPicture",
    "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7",
  ],
  ["Activity.Export", "/home/ada/activity.jsonl"],
  ["Window.SaveFile", "/home/ada/file"],
  ["Window.SaveMedia", "/home/ada/file"],
]);

export function fakeBridge({ scene = "chat", theme = "system" as t.Theme } = {}): Fake {
  const asked: Asked[] = [];
  const copied: string[] = [];
  // A group whose scene answers some questions; the others are taken down.
  const still = <T extends object>(group: string, own: Partial<T> & object) =>
    new Proxy(own, {
      get(target, name) {
        if (name in target || typeof name !== "string" || !/^[A-Z]/.test(name))
          return Reflect.get(target, name) as unknown;
        return async (...args: unknown[]) => {
          asked.push({ name: `${group}.${name}`, args });
          return answers[`${group}.${name}`];
        };
      },
    }) as T;
  const bus = new FakeBus();
  const hello: t.Hello = {
    version: "0.1.0",
    platform: "linux",
    first_run: false,
    data_folder: "/home/ada/.local/share/conclave",
    plugins_folder: "/home/ada/.local/share/conclave/plugins",
    log_folder: "/home/ada/.local/share/conclave/logs",
    isolation: "Each plugin runs in its own process, held by Landlock and seccomp.",
    licence: "MIT",
    settings: {
      revision: 1,
      theme,
      zoom: 100,
      text_size: 15,
      reading_font: "sans",
      send_key: "enter",
      follow: false,
      scan_at_start: false,
      model_titles: true,
      plugin_spend: 1,
      plugin_tokens: 500000,
      http_tools: false,
      http_port: 48911,
      http_token: false,
      http_address: "",
      http_trouble: "",
      keys: {},
      editor: "",
      sidebar_open: true,
      sidebar_width: 264,
      dock_open: true,
      dock_width: 400,
      dock_tab: "tools",
    },
    open_chat: "",
    trouble: null,
  };
  const tools = new FakeTools(bus);
  const models = new FakeModels(bus);
  const chats = new FakeChats(bus, models);
  const fake: Fake = {
    bus,
    hello,
    asked,
    copied,
    given: (name) => asked.filter((a) => a.name === name).map((a) => a.args),
    chats: still<FakeChats & t.ChatsCalls>("Chats", chats),
    plugins: still<FakePlugins & t.PluginsCalls>("Plugins", new FakePlugins(bus, tools)),
    tools: still<FakeTools & t.ToolsCalls>("Tools", tools),
    permissions: still<FakePermissions & t.PermissionsCalls>(
      "Permissions",
      new FakePermissions(bus, chats),
    ),
    models: still<FakeModels & t.ModelsCalls>("Models", models),
    settings: {
      Get: async () => hello.settings,
      Set: async (patch) =>
        (hello.settings = { ...hello.settings, ...patch, revision: bus.changed("settings") }),
    },
    activity: still<FakeActivity & t.ActivityCalls>("Activity", new FakeActivity()),
    council: still<FakeCouncil & t.CouncilCalls>("Council", new FakeCouncil(bus, asked)),
    window: still<t.WindowCalls>("Window", { Hello: async () => hello }),
    onnotices: (listener) => bus.subscribe(listener),
    copy: async (text) => void copied.push(text),
    paste: async () => copied.at(-1) ?? "",
    media: (id) =>
      `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" width="320" height="200"><rect width="320" height="200" fill="#7fc4ae"/><text x="20" y="110">${id}</text></svg>`)}`,
  };
  (scenes[scene] ?? scenes.chat)?.(fake);
  return fake;
}
