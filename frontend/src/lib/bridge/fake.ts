/**
 * An app in memory: everything the program does, well enough to drive every
 * screen in any browser (`npm run dev:fake`), in tests and in pictures. Nothing
 * of it is in the built window.
 */
import { AppError, type Bridge } from "./calls";
import { FakeBus } from "./fake/bus";
import { FakeChats } from "./fake/chats";
import { FakeModels } from "./fake/models";
import { FakePermissions } from "./fake/permissions";
import { FakePlugins, FakeTools } from "./fake/plugins";
import { scenes } from "./fake/scenes";
import type * as t from "./generated";

export interface FakeOptions {
  /** A fixture's name, see fake/scenes.ts. */
  scene?: string;
  /** Time between two pieces of a reply, in ms. */
  tick?: number;
  theme?: t.Theme;
}

/** The bridge, and the parts behind it for tests to look into and push. */
export interface Fake extends Bridge {
  bus: FakeBus;
  chats: FakeChats;
  plugins: FakePlugins;
  tools: FakeTools;
  permissions: FakePermissions;
  models: FakeModels;
  hello: t.Hello;
  /** Addresses opened, pictures loaded, texts copied and files saved, newest last. */
  done: {
    opened: string[];
    loaded: string[];
    copied: string[];
    saved: { name: string; text: string }[];
  };
}

export function fakeBridge(options: FakeOptions = {}): Fake {
  const bus = new FakeBus(options.tick === 0 ? 0 : 16);
  const undos = new Map<string, () => void>();
  const undo = (sentence: string, back: () => void): t.Undo => {
    const token = `undo-${undos.size + 1}`;
    undos.set(token, back);
    return { token, sentence };
  };
  const permissions = new FakePermissions(bus, undo);
  const tools = new FakeTools(bus);
  const models = new FakeModels(bus, undo);
  const chats = new FakeChats(bus, permissions, undo, options.tick ?? 24);
  chats.modelTitle = models.title;
  const plugins = new FakePlugins(bus, tools, undo);
  let settings: t.Settings = {
    revision: 1,
    theme: options.theme ?? "system",
    zoom: 100,
    text_size: 15,
    reading_font: "sans",
    send_key: "enter",
    follow: false,
    scan_at_start: false,
    model_titles: true,
    keys: {},
    editor: "",
    sidebar_open: true,
    sidebar_width: 264,
    dock_open: true,
    dock_width: 400,
    dock_tab: "tools",
  };
  const hello: t.Hello = {
    version: "0.1.0",
    platform: "linux",
    first_run: false,
    data_folder: "/home/ada/.local/share/conclave",
    plugins_folder: "/home/ada/.local/share/conclave/plugins",
    log_folder: "/home/ada/.local/share/conclave/logs",
    isolation: "Each plugin runs in its own process, held by Landlock and seccomp.",
    licence: "MIT",
    settings,
    open_chat: "",
    trouble: null,
  };
  const done: Fake["done"] = { opened: [], loaded: [], copied: [], saved: [] };
  const fake: Fake = {
    bus,
    chats,
    plugins,
    tools,
    permissions,
    models,
    hello,
    done,
    settings: {
      Get: async () => settings,
      Set: async (patch) => {
        settings = { ...settings, ...patch, revision: bus.changed("settings") };
        return settings;
      },
    },
    window: {
      Hello: async () => hello,
      Undo: async (token) => {
        const back = undos.get(token);
        if (!back)
          throw new AppError({
            kind: "not_found",
            message: "It is too late to undo that.",
            hint: "",
            ref: "",
          });
        undos.delete(token);
        back();
      },
      LoadPicture: async (url) => {
        done.loaded.push(url);
        return "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
      },
      OpenURL: async (url) => void done.opened.push(url),
      OpenFolder: async (which) => void done.opened.push(which),
      SaveFile: async (name, text) => {
        done.saved.push({ name, text });
        return `/home/ada/${name}`;
      },
      SaveMedia: async (id, name) => {
        done.saved.push({ name, text: id });
        return `/home/ada/${name}`;
      },
      Toasts: async () => [],
      Report: async () => "a1b2c3",
      Quit: async () => {},
    },
    onnotices: (listener) => bus.subscribe(listener),
    copy: async (text) => void done.copied.push(text),
    paste: async () => done.copied.at(-1) ?? "",
    media: (id) =>
      `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" width="320" height="200"><rect width="320" height="200" fill="#7fc4ae"/><text x="20" y="110">${id}</text></svg>`)}`,
  };
  (scenes[options.scene ?? "chat"] ?? scenes.chat)?.(fake);
  return fake;
}
