import { describe, expect, it } from "vitest";
import { s } from "../strings";
import { endNote } from "./ending";

describe("how a message ended", () => {
  it("an answer that Conclave's end cut off says so, wherever that was", () => {
    const head = { role: "assistant", state: "complete", reason: "" } as const;
    expect(endNote({ ...head, state: "interrupted" }, 1, false)).toBe(s.message.interrupted);
    expect(endNote({ ...head, reason: "interrupted" }, 1, true)).toBe(s.message.cutOff);
    expect(endNote({ ...head, reason: "stopped" }, 1, true)).toBe(s.message.stopped);
    expect(endNote({ ...head, reason: "done" }, 1, true)).toBe("");
  });
  it("a question whose answer never began says so until it is answered", () => {
    const head = { role: "user", state: "complete", reason: "interrupted" } as const;
    expect(endNote(head, 1, true)).toBe(s.message.notBegun);
    expect(endNote(head, 1, false)).toBe("");
    expect(endNote({ ...head, reason: "" }, 1, true)).toBe("");
  });
});
