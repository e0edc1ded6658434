/** What comes of a press only a moment later, when another chat may be open, or when it fails. */
import { flushSync, mount, unmount } from "svelte";
import { expect, test, vi } from "vitest";
import { inApp } from "../app.svelte";
import { council, member, three } from "./make";
import type { Council, Member } from "../bridge/generated";
import { s } from "../strings";
import { startApp, until } from "../testing";
import CouncilTop from "./CouncilTop.svelte";
import MemberForm from "./MemberForm.svelte";
import Members from "./Members.svelte";
import { Panel } from "./panel.svelte";
import { RunState } from "./run.svelte";
import TaskDetail from "./TaskDetail.svelte";

vi.mock("./picture", () => ({ small: () => Promise.resolve("a small picture") }));

const [researcher, sceptic] = three as [Member, Member];

/** The app on a chat whose council is not that of the other chat. */
async function twoChats() {
  const { app, fake } = await startApp("councilset");
  await until("the council", () => app.council.settings !== null);
  const here = app.chat?.id ?? "";
  const other = fake.chats.add("Another", new Date()).chat.id;
  const councils = new Map([
    [here, council([researcher])],
    [other, council([{ ...researcher, name: "Another’s" }])],
  ]);
  fake.council.Settings = async (...[chat]: string[]) => ({
    ...fake.council.settings,
    council: councils.get(chat ?? "") as Council,
    scope: `chat ${chat}`,
    own: `chat ${chat}`,
  });
  await app.council.switchTo(here);
  const target = document.createElement("div");
  document.body.append(target);
  /** Chooses a file, and goes to the other chat before it is read. */
  const chooseAndLeave = async (call: { begun: boolean; go: () => void }) => {
    const input = target.querySelector("input[type=file]") as HTMLInputElement;
    const file = { name: "a file", text: () => Promise.resolve("{}") };
    Object.defineProperty(input, "files", { value: [file] });
    input.dispatchEvent(new Event("change", { bubbles: true }));
    await until("the file to be read", () => call.begun);
    await app.openChat(other);
    await until("the other council", () => app.council.settings?.scope === `chat ${other}`);
    call.go();
    await until("it to be kept", () => fake.given("Council.Set").length > 0);
    await app.council.saved();
    const [chat, scope, kept] = fake.given("Council.Set")[0] as [string, string, Council];
    expect([chat, scope, fake.given("Council.Set").length]).toEqual([here, `chat ${here}`, 1]);
    expect(app.council.council?.members.map((m) => m.name)).toEqual(["Another’s"]);
    app.close();
    return kept;
  };
  return { app, fake, target, context: inApp(app), chooseAndLeave };
}

/** A call of the program that is held until go is called. */
function held<T>(answer: T) {
  const call = { begun: false, go: () => {}, ask };
  function ask(): Promise<T> {
    call.begun = true;
    return new Promise((resolve) => (call.go = () => resolve(answer)));
  }
  return call;
}

test("a council that was read from a file is that of the chat it was chosen in", async () => {
  const { app, fake, target, context, chooseAndLeave } = await twoChats();
  const panel = new Panel(app);
  const reading = held(council([sceptic]));
  fake.council.ReadCouncil = reading.ask;
  const top = mount(CouncilTop, { target, props: { panel, onadd: () => {} }, context });
  flushSync();
  const kept = await chooseAndLeave(reading);
  expect(kept.members.map((m) => m.id)).toEqual([sceptic.id]);
  await unmount(top);
});

test("a member that was read from a file comes into the council it was chosen in", async () => {
  const { fake, target, context, chooseAndLeave } = await twoChats();
  const reading = held(member("x", "Xena"));
  fake.council.ReadMember = reading.ask;
  const list = mount(Members, { target, context });
  flushSync();
  const kept = await chooseAndLeave(reading);
  expect(kept.members.map((m) => m.id)).toEqual([researcher.id, "x"]);
  await unmount(list);
});

test("a picture becomes that of the member it was chosen for", async () => {
  const { fake, target, context, chooseAndLeave } = await twoChats();
  const drawing = held("picture-1");
  fake.council.Avatar = drawing.ask;
  const form = mount(MemberForm, { target, props: { member: researcher, place: 0 }, context });
  flushSync();
  const kept = await chooseAndLeave(drawing);
  expect(kept.members).toEqual([{ ...researcher, persona: { ...researcher.persona, avatar: "picture-1" } }]);
  await unmount(form);
});

test("a thumb that could not be kept is not pressed", async () => {
  const { app, fake } = await startApp("council");
  const [id = ""] = fake.council.runs.map((one) => one.run);
  const state = new RunState(app.bridge, app.notices, id, () => {});
  await state.open();
  const of = state.lanes.find((one) => one.key === "researcher");
  const task = of?.view.tasks.find((one) => one.kind === "answer");
  if (!of || !task) throw new Error("the scene has no answer of the researcher");
  const target = document.createElement("div");
  document.body.append(target);
  const rates: { ok: () => void; fail: () => void }[] = [];
  fake.council.Rate = () =>
    new Promise<void>((ok, bad) => {
      const error = new Error(`It is locked for ${rates.length} s.`);
      rates.push({ ok, fail: () => bad(error) });
    });
  const detail = mount(TaskDetail, {
    target,
    props: { panel: new Panel(app), run: state, lane: of, task, live: false, tone: 1 },
    context: inApp(app),
  });
  flushSync();
  const button = (label: string) => target.querySelector<HTMLElement>(`[aria-label="${label}"]`);
  await until("the points", () => button(s.council.helped("a1")) !== null);
  const pressed = () => {
    flushSync();
    return [s.council.helped("a1"), s.council.didNotHelp("a1")].map(
      (label) => button(label)?.ariaPressed ?? button(label)?.getAttribute("aria-pressed"),
    );
  };
  button(s.council.helped("a1"))?.click();
  expect(pressed()).toEqual(["true", "false"]);
  rates[0]?.fail();
  await until("it to be said", () => app.toasts.list.length > 0);
  expect(pressed()).toEqual(["false", "false"]);
  // One that was pressed after it stays.
  button(s.council.helped("a1"))?.click();
  button(s.council.didNotHelp("a1"))?.click();
  rates[1]?.fail();
  rates[2]?.ok();
  await until("that to be said", () => app.toasts.list.length > 1);
  expect(pressed()).toEqual(["false", "true"]);
  await unmount(detail);
  state.close();
  app.close();
});
