/** Scenes that are too large to be recorded: recorded things, many times over or with long names. */
import type { Fake } from "../fake";
import type * as t from "../generated";
import { textPart } from "./chats";
import { note } from "./permissions";

const times = <T>(n: number, make: (i: number) => T) => Array.from({ length: n }, (_, i) => make(i));

const long = (text: string) => text.padEnd(90, "-of-an-unusual-length");

export const longParagraph = (i: number) =>
  `<p>Paragraph ${i + 1}. The scheduler keeps ${i + 3} workers busy; each one takes a job from <code>queue-${i}</code> and reports back. When the queue is empty the worker sleeps, and wakes on a signal. This sentence is here so that a paragraph has the length a person would write.</p>`;

/** The code and the table of the recorded chat. */
function drawn(f: Fake): string[] {
  const { entries } = f.chats.of(f.hello.open_chat);
  const blocks = entries.flatMap((e) => e.parts.flatMap((p) => p.blocks));
  return ["figure", "table"].map((tag) => blocks.find((b) => b.html.includes(`<${tag}`))?.html ?? "");
}

/** Opens a new chat of questions and their answers. */
function conversation(f: Fake, title: string, turns: [string, string[]][]): void {
  const c = f.chats.add(title, new Date());
  for (const [question, answer] of turns) {
    f.chats.say(c, "user", [textPart([`<p>${question}</p>`])]);
    f.chats.say(c, "assistant", [textPart(answer)]);
  }
  f.hello.open_chat = c.chat.id;
}

/** The scene that each is made from, and what is added. */
export const grown: Record<string, { of: string; grow: (f: Fake) => void }> = {
  long: {
    of: "chat",
    grow: (f) => {
      const [code = ""] = drawn(f);
      conversation(
        f,
        "Ten thousand messages",
        times(5000, (i) => [
          `Question ${i + 1}: what about queue ${i}?`,
          i % 7 === 0 ? [longParagraph(i), code] : [longParagraph(i)],
        ]),
      );
    },
  },
  question: {
    of: "chat",
    grow: (f) => f.questions.ask(f.hello.open_chat),
  },
  shared: { of: "chat", grow: (f) => f.shared.begin() },
  questionaddress: {
    of: "chat",
    grow: (f) =>
      f.questions.ask(f.hello.open_chat, {
        message: "Sign in at the railway to go on.",
        fields: [],
        address: "https://аpple.example/authorize?state=4711&redirect=conclave",
        host: "xn--pple-43d.example",
      }),
  },
  longanswers: {
    of: "chat",
    grow: (f) => {
      const [code = "", table = ""] = drawn(f);
      const part = (at: string) => [
        `<h3>Part ${at}</h3>`,
        longParagraph(Number(at)),
        code,
        table,
        `<p>The end of part ${at}.</p>`,
      ];
      conversation(
        f,
        "Long answers",
        times(20, (i) => [`Question ${i + 1}?`, times(60, (n) => part(`${i + 1}.${n + 1}`)).flat()]),
      );
    },
  },
  manychats: {
    of: "empty",
    grow: (f) => {
      for (let i = 0; i < 50_000; i++)
        f.chats.add(`Chat number ${i + 1}`, new Date(Date.now() - i * 1_700_000), {
          pinned: i === 40 || i === 90,
        });
    },
  },
  manytools: {
    of: "chat",
    grow: (f) => {
      const list = f.scene.of<t.ToolList>("Tools.List");
      const [tool] = list.tools as [t.Tool];
      list.tools = times(316, (i) => {
        const group = Math.floor(i / 16) + 1;
        const [plugin, name] = [`set${group}`, `tool_${i + 1}`];
        const named = { id: `${plugin}:${name}`, plugin, plugin_name: `Set ${group}`, name };
        const said = { title: `Tool ${i + 1}`, description: `Does thing ${i + 1}.` };
        return { ...tool, ...named, ...said, wire_name: name };
      });
    },
  },
  manypermissions: {
    of: "grants",
    grow: (f) => {
      const matrix = f.scene.of<t.Matrix>("Permissions.Matrix");
      const row = matrix.rows.reduce((a, b) => (b.capabilities.length > a.capabilities.length ? b : a));
      matrix.rows = times(200, (i) => ({ ...row, plugin: `p${i + 1}`, name: `Plugin ${i + 1}` }));
    },
  },
  // Every name a person, a plugin or a server gives is 90 characters of one word.
  longnames: {
    of: "approval",
    grow: (f) => {
      const { models, plugins, permissions, chats, council } = f;
      models.connections = models.connections.map((c) =>
        c.built_in ? c : { ...c, title: long(c.title), host: long(c.host) },
      );
      models.models = models.models.map((m) => ({
        ...m,
        title: long(m.title),
        id: long(m.id),
        name: `${m.connection}/${long(m.id)}`,
      }));
      models.default = models.models.at(-1)?.name ?? "";
      const local = f.scene.of<t.LocalServer[]>("Models.ScanLocal");
      for (const server of local) {
        server.title = long(server.title);
        server.version = long(server.version);
      }
      plugins.list = plugins.list.map((p) => ({
        ...p,
        name: long(p.name),
        version: long(p.version),
      }));
      for (const tool of f.scene.of<t.ToolList>("Tools.List").tools) {
        tool.title = long(tool.title);
        tool.wire_name = long(tool.wire_name);
        tool.plugin_name = long(tool.plugin_name);
      }
      permissions.grants = permissions.grants.map((rule) => ({
        ...rule,
        plugin_name: long(rule.plugin_name),
        sentence: rule.sentence.replace(rule.tool, long(rule.tool)),
      }));
      for (const { chat } of chats.all.values()) if (chat.title) chat.title = long(chat.title);
      council.choices.presets = council.choices.presets.flatMap((preset) => [
        preset,
        { ...preset, name: long(preset.name), sentence: "", own: true },
      ]);
    },
  },
  longrequest: {
    of: "approval",
    grow: (f) => {
      grown.longnames?.grow(f);
      const text = "Three things to do on Tuesday.\nCall the printer.";
      const path = "Reports/tuesday.md";
      f.permissions.ask(f.chats.of(f.hello.open_chat), note("tuesday.md"), { path, text });
    },
  },
};
