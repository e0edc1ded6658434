/** A recorded scene: what the program answered while it was in one state. */
import type * as t from "../generated";

interface Recording {
  /** The scene that this one continues: what is not answered here is answered there. */
  on?: string;
  /** What of the answer to Window.Hello is otherwise than there. */
  hello?: Partial<Omit<t.Hello, "settings">> & { settings?: t.SettingsPatch };
  /** By question: "Chats.Pull chat-8". */
  answers: Record<string, unknown>;
  /** What the program returned to calls that change something. */
  acts?: Record<string, unknown>;
  /** What it refused to change, and why. */
  failures?: Record<string, t.Failure>;
}

const recordings = import.meta.glob<Recording>("./scenes/*.json", {
  eager: true,
  import: "default",
});

/** The time of all recordings. A scene is always as old as it was when it was recorded. */
const recordedAt = Date.parse("2026-11-21T09:00:00Z");
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** Adds to a chat the messages that it has from the scene before. */
function complete(pull: t.Pull, before: t.Pull): void {
  const all = new Map([...before.entries, ...pull.entries].map((entry) => [entry.seq, entry]));
  const seqs = pull.outline?.seqs ?? [];
  pull.entries = seqs.flatMap((seq) => all.get(seq) ?? []);
}

export class Scene {
  answers: Record<string, unknown> = {};
  acts: Record<string, unknown> = {};
  failures: Record<string, t.Failure> = {};

  constructor(name: string) {
    const by = Date.now() - recordedAt;
    const hellos: NonNullable<Recording["hello"]>[] = [];
    for (let next: string | undefined = name; next !== undefined;) {
      const recording: Recording | undefined = recordings[`./scenes/${next}.json`];
      if (!recording) throw new Error(`there is no scene ${next}`);
      const now = JSON.parse(JSON.stringify(recording), (_, v: unknown) =>
        typeof v === "string" && time.test(v) ? new Date(Date.parse(v) + by).toISOString() : v,
      ) as Recording;
      for (const [question, pull] of Object.entries(this.answers))
        if (question.startsWith("Chats.Pull ") && question in now.answers)
          complete(pull as t.Pull, now.answers[question] as t.Pull);
      this.answers = { ...now.answers, ...this.answers };
      this.acts = { ...now.acts, ...this.acts };
      this.failures = { ...now.failures, ...this.failures };
      if (now.hello) hellos.unshift(now.hello);
      next = now.on;
    }
    const hello = this.of<t.Hello>("Window.Hello");
    for (const { settings, ...others } of hellos) {
      Object.assign(hello, others);
      Object.assign(hello.settings, settings);
    }
  }

  /** The answer to a question, which a test may change; undefined if none was recorded. */
  find<T>(question: string): T | undefined {
    return this.answers[question] as T | undefined;
  }

  /** The answer to a question. */
  of<T>(question: string): T {
    if (!(question in this.answers)) throw new Error(`the scene has no answer to ${question}`);
    return this.answers[question] as T;
  }

  /** All answers to a question that has one argument, by that. */
  all<T>(question: string): Map<string, T> {
    const begin = `${question} `;
    const found = Object.entries(this.answers).filter(([asked]) => asked.startsWith(begin));
    return new Map(found.map(([asked, answer]) => [asked.slice(begin.length), answer as T]));
  }

  /** The question as it was recorded: with as many of its arguments as possible. */
  recorded(question: string, args: unknown[]): string | undefined {
    const end = args.findIndex((arg) => typeof arg === "object");
    for (let n = end < 0 ? args.length : end; n >= 0; n--) {
      const asked = [question, ...args.slice(0, n)].join(" ");
      if (asked in this.answers) return asked;
    }
    return undefined;
  }
}

/** One recorded thing of each kind, to make others like it. */
function samples() {
  const scene = new Scene("permission");
  const { chat, entries } = scene.of<t.Pull>(`Chats.Pull ${scene.of<t.Hello>("Window.Hello").open_chat}`);
  const entry = (role: t.EntryRole) => entries.find((e) => e.role === role && e.state === "complete");
  const parts = entries.flatMap((e) => e.parts);
  const call = parts.find((p) => p.call);
  return {
    chat: chat as t.Chat,
    question: entry("user") as t.Entry,
    answer: entry("assistant") as t.Entry,
    text: parts.find((p) => p.kind === "text" && p.done) as t.Part,
    callPart: call as t.Part,
    call: call?.call as t.Call,
    request: scene.of<t.PermissionRequestList>("Permissions.Requests").requests[0] as t.PermissionRequest,
    rule: new Scene("grants").of<t.RuleList>("Permissions.Rules").grants[0] as t.Rule,
    did: new Scene("activity").of<t.ActivityList>("Activity.List").entries[0] as t.ActivityEntry,
  };
}

let made: ReturnType<typeof samples> | undefined;
export const sample = () => (made ??= samples());
