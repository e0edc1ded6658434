/**
 * A program that shows a recorded scene, in any browser (`npm run dev:fake`), in pictures and in
 * tests. It answers what the real program answers (fake/scenes, which tests of Go record and check),
 * and notes the calls that change something without carrying them out: what the program does is
 * tested on the program.
 * Nothing of this is in the built window.
 */
import { AppError, type Bridge } from "./calls";
import { FakeBus } from "./fake/bus";
import { FakeChats } from "./fake/chats";
import { FakeContext } from "./fake/context";
import { FakeCouncil } from "./fake/council";
import { grown } from "./fake/grown";
import { FakePermissions } from "./fake/permissions";
import { FakeActivity, FakeModels, FakePlugins } from "./fake/plugins";
import { FakePrompts } from "./fake/prompts";
import { FakeQuestions } from "./fake/questions";
import { FakeShared } from "./fake/shared";
import { Scene } from "./fake/scene";
import type * as t from "./generated";

/** A call that changes something: "Chats.Rename", and its arguments. */
export interface Asked {
  name: string;
  args: unknown[];
}

/** The bridge, and the state behind it for tests to read and change. */
export interface Fake extends Bridge {
  bus: FakeBus;
  scene: Scene;
  chats: FakeChats & t.ChatsCalls;
  context: FakeContext & t.ContextCalls;
  council: FakeCouncil & t.CouncilCalls;
  plugins: FakePlugins & t.PluginsCalls;
  permissions: FakePermissions & t.PermissionsCalls;
  prompts: FakePrompts & t.PromptsCalls;
  questions: FakeQuestions & t.QuestionsCalls;
  shared: FakeShared & t.SharedCalls;
  models: FakeModels & t.ModelsCalls;
  activity: FakeActivity & t.ActivityCalls;
  hello: t.Hello;
  /** The calls that change something, newest last. */
  asked: Asked[];
  /** Texts copied, newest last. */
  copied: string[];
  /** The arguments of what was asked by a name. */
  given(name: string): unknown[][];
}

/** Whose answers have the revision of a topic. */
const topics: Record<string, t.Topic> = { Tools: "tools", Permissions: "permissions" };

export function fakeBridge({ scene: name = "chat", theme = "system" as t.Theme } = {}): Fake {
  const scene = new Scene(grown[name]?.of ?? name);
  const asked: Asked[] = [];
  const copied: string[] = [];
  const bus = new FakeBus();
  const call = (name: string, topic?: t.Topic) => {
    return async (...args: unknown[]) => {
      const question = scene.recorded(name, args);
      if (question !== undefined) {
        const answer = structuredClone(scene.answers[question]) as { revision?: number } | null;
        if (topic && answer?.revision) answer.revision = bus.revision(topic);
        return answer;
      }
      asked.push({ name, args });
      const failure = scene.failures[name];
      if (failure) throw new AppError(failure);
      return scene.acts[name];
    };
  };
  // A group of calls: its own, the recorded ones, and all others, which are noted.
  const group = <T extends object>(of: string, own: object) => {
    const calls = own as Record<string, unknown>;
    for (const question of Object.keys(scene.answers)) {
      const [name = "", method = ""] = question.split(/[. ]/);
      if (name === of && !(method in calls)) calls[method] = call(`${of}.${method}`, topics[of]);
    }
    return new Proxy(calls, {
      get: (target, method) =>
        method in target || typeof method !== "string" || !/^[A-Z]/.test(method)
          ? Reflect.get(target, method)
          : call(`${of}.${method}`),
    }) as T;
  };
  const hello = scene.of<t.Hello>("Window.Hello");
  hello.settings.theme = theme;
  const chats = new FakeChats(bus, scene);
  const fake: Fake = {
    bus,
    scene,
    hello,
    asked,
    copied,
    given: (name) => asked.filter((a) => a.name === name).map((a) => a.args),
    chats: group<Fake["chats"]>("Chats", chats),
    context: group<Fake["context"]>("Context", new FakeContext()),
    plugins: group<Fake["plugins"]>("Plugins", new FakePlugins(bus, scene)),
    tools: group<Fake["tools"]>("Tools", {}),
    permissions: group<Fake["permissions"]>("Permissions", new FakePermissions(bus, chats, scene)),
    prompts: group<Fake["prompts"]>("Prompts", new FakePrompts()),
    questions: group<Fake["questions"]>("Questions", new FakeQuestions(bus)),
    shared: group<Fake["shared"]>("Shared", new FakeShared()),
    transfer: group<Fake["transfer"]>("Transfer", {}),
    branches: group<Fake["branches"]>("Branches", {}),
    models: group<Fake["models"]>("Models", new FakeModels(bus, scene)),
    settings: {
      Get: async () => hello.settings,
      Set: async (patch) => (hello.settings = { ...hello.settings, ...patch, revision: bus.changed("settings") }),
    },
    programs: group<Fake["programs"]>("Programs", {}),
    activity: group<Fake["activity"]>("Activity", new FakeActivity(scene)),
    council: group<Fake["council"]>("Council", new FakeCouncil(bus, scene, asked)),
    window: group<Fake["window"]>("Window", { Hello: async () => hello }),
    onnotices: (listener) => bus.subscribe(listener),
    copy: async (text) => void copied.push(text),
    paste: async () => copied.at(-1) ?? "",
    media: (id) =>
      `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" width="320" height="200"><rect width="320" height="200" fill="#7fc4ae"/><text x="20" y="110">${id}</text></svg>`)}`,
  };
  grown[name]?.grow(fake);
  return fake;
}
