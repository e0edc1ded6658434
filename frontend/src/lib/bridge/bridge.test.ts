import { afterEach, describe, expect, test, vi } from "vitest";
import { AppError, insideWails, wailsBridge } from "./calls";
import { Notices, Puller } from "./events";
import { fakeBridge } from "./fake";
import { until } from "../testing";

afterEach(() => vi.unstubAllGlobals());

describe("the real bridge", () => {
  test("calls the bound method with its arguments", async () => {
    const Send = vi.fn().mockResolvedValue({ conversation: "c", turn: "t", seq: 1 });
    vi.stubGlobal("go", { window: { Chats: { Send } } });
    expect(insideWails()).toBe(true);
    const message = { text: "hi", attachments: [], model: "", no_tools: false };
    expect(await wailsBridge().chats.Send("c", message)).toEqual({
      conversation: "c",
      turn: "t",
      seq: 1,
    });
    expect(Send).toHaveBeenCalledWith("c", message);
  });

  // What Callback of Wails' runtime does with a message that holds an error.
  const wailsRejects = (error: string) => () => Promise.reject(new Error(error));

  test("a rejection becomes an AppError with what a person reads", async () => {
    const failure = { kind: "locked", message: "The store is in use.", hint: "Close it.", ref: "" };
    vi.stubGlobal("go", { window: { Chats: { Stop: wailsRejects(JSON.stringify(failure)) } } });
    const error = await wailsBridge()
      .chats.Stop("c")
      .catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject(failure);
  });

  test("what Wails itself says stays as it is", async () => {
    const text = 'error parsing arguments: {"x"}';
    vi.stubGlobal("go", { window: { Chats: { Stop: wailsRejects(text) } } });
    await expect(wailsBridge().chats.Stop("c")).rejects.toMatchObject({
      kind: "internal",
      message: text,
    });
  });

  test("a method that the program lacks says what to do", async () => {
    vi.stubGlobal("go", { window: {} });
    await expect(wailsBridge().chats.Stop("c")).rejects.toMatchObject({
      kind: "internal",
      hint: expect.stringContaining("Install"),
    });
  });

  test("whatever was thrown is an AppError", () => {
    expect(AppError.of("text")).toMatchObject({ kind: "internal", message: "text" });
    expect(AppError.of(new TypeError("t"))).toMatchObject({ kind: "internal", message: "t" });
  });
});

describe("notify, then pull", () => {
  test("notices while a pull runs cause one more pull, not one each", async () => {
    let held = 0;
    let pulls = 0;
    let release = () => {};
    const puller = new Puller(
      () => held,
      async () => {
        pulls++;
        await new Promise<void>((resolve) => (release = resolve));
        held = pulls === 1 ? 1 : 5;
      },
    );
    puller.notice(1);
    for (const revision of [2, 3, 4, 5]) puller.notice(revision);
    release();
    await until("a second pull", () => pulls === 2);
    release();
    await until("the newest revision", () => held === 5);
    puller.notice(5);
    expect(pulls).toBe(2);
  });

  test.each(["finds nothing new", "fails"])("a notice during a pull that %s causes another", async (how) => {
    let held = 1;
    let program = 1;
    const answers: (() => void)[] = [];
    const puller = new Puller(
      () => held,
      async () => {
        const [revision, failed] = [program, how === "fails" && answers.length === 0];
        await new Promise<void>((resolve) => answers.push(resolve));
        if (failed) throw new Error("gone");
        held = revision;
      },
    );
    const refreshed = puller.refresh();
    puller.notice((program = 2)); // after the first pull was answered, before the answer arrives
    answers[0]?.();
    await until("a second pull", () => answers.length === 2);
    answers[1]?.();
    await refreshed;
    expect(held).toBe(2);
  });

  test("a pull that brings nothing newer does not spin", async () => {
    let pulls = 0;
    const puller = new Puller(
      () => 1,
      async () => void pulls++,
    );
    puller.notice(9);
    await puller.refresh();
    expect(pulls).toBe(2);
  });

  test("a failed pull is told, and the next notice tries again", async () => {
    const told: unknown[] = [];
    let held = 0;
    const puller = new Puller(
      () => held,
      async () => {
        if (told.length === 0) throw new Error("no");
        held = 2;
      },
      (cause) => told.push(cause),
    );
    puller.notice(1);
    await until("the failure", () => told.length === 1);
    puller.notice(2);
    await until("the second pull", () => held === 2);
  });

  test("a watcher hears only of its own thing, and nothing after it left", async () => {
    const fake = fakeBridge();
    const notices = new Notices(fake);
    const heard: number[] = [];
    const off = notices.watch("chat", "a", (revision) => heard.push(revision));
    fake.bus.changed("chat", "b");
    fake.bus.changed("chat", "a");
    await until("one notice", () => heard.length === 1);
    off();
    let others = 0;
    notices.watch("chat", "a", () => others++);
    fake.bus.changed("chat", "a");
    await until("the other watcher", () => others === 1);
    expect(heard).toHaveLength(1);
    notices.close();
  });
});
