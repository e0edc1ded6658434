/** How a message ended, in words, when it did not simply end. */
import type { Entry } from "../bridge/generated";
import { s } from "../strings";

/**
 * The line under a message that was stopped, cut off or met a limit, or "".
 * last: nothing follows it, and nothing answers it now. A question that was cut off
 * before its answer began is only said to be where that still holds.
 */
export function endNote(
  head: Pick<Entry, "role" | "state" | "reason" | "notes">,
  parts: number,
  last: boolean,
): string {
  if (head.role !== "assistant") {
    return head.reason === "interrupted" && last ? s.message.notBegun : "";
  }
  if (head.state === "stopped" || head.reason === "stopped") return s.message.stopped;
  if (head.state === "interrupted") return s.message.interrupted;
  if (head.reason === "interrupted") return s.message.cutOff;
  if (head.reason === "limit") return s.message.limit;
  // Newer answers have a note that says so.
  return head.state === "complete" && parts === 0 && !head.notes ? s.message.empty : "";
}
