import { AppError, type Bridge } from "./calls";

/** How many faults one page reports, so that one that repeats cannot fill the log. */
const MOST = 20;

/**
 * Reports uncaught errors of the page to the program, which logs them. An error that the
 * program itself reported is already logged and not sent back. The function returned ends it.
 */
export function reportFaults(bridge: Bridge): () => void {
  let reported = 0;

  function report(cause: unknown, where = "") {
    if ((cause instanceof AppError && cause.ref !== "") || reported >= MOST) return;
    reported++;
    const message = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
    const stack = (cause instanceof Error && cause.stack) || where;
    bridge.window.Report(message, stack).catch(() => {}); // the program is gone
  }

  const onerror = (e: ErrorEvent) => report(e.error ?? e.message, `${e.filename}:${e.lineno}:${e.colno}`);
  const onrejection = (e: PromiseRejectionEvent) => report(e.reason);
  addEventListener("error", onerror);
  addEventListener("unhandledrejection", onrejection);
  return () => {
    removeEventListener("error", onerror);
    removeEventListener("unhandledrejection", onrejection);
  };
}
