/**
 * How the page reaches the program: the one place that touches `window.go` and
 * `window.runtime`. What can be asked is in generated.ts, which is written from Go.
 *
 * Go binds one small struct per group in package window (`window.go.window.Chats.Send`).
 * State classes take a {@link Bridge}; {@link wailsBridge} is the real one and
 * fake.ts a program with fixed answers.
 */
import type * as t from "./generated";

/** The calls of the page to the program, and its one event. */
export interface Bridge extends t.Calls {
  /** Calls back with each list of notices; the function returned ends it. */
  onnotices(listener: (notices: t.Notice[]) => void): () => void;
  /** Puts text on the clipboard. */
  copy(text: string): Promise<void>;
  /** The text on the clipboard. */
  paste(): Promise<string>;
  /** Address of a media file's bytes. */
  media(id: string): string;
}

/** The error that every bridge method rejects with. */
export class AppError extends Error implements t.Failure {
  readonly kind: t.FailureKind;
  readonly hint: string;
  readonly detail: string;
  readonly ref: string;

  constructor(failure: Partial<t.Failure> & { message: string }) {
    super(failure.message);
    this.name = "AppError";
    this.kind = failure.kind ?? "internal";
    this.hint = failure.hint ?? "";
    this.detail = failure.detail ?? "";
    this.ref = failure.ref ?? "";
  }

  /** Makes an AppError of whatever was thrown. */
  static of(cause: unknown): AppError {
    if (cause instanceof AppError) return cause;
    if (typeof cause === "object" && cause !== null && "message" in cause)
      return new AppError({ ...(cause as Partial<t.Failure>), message: String(cause.message) });
    return new AppError({ message: String(cause) });
  }

  /**
   * Makes an AppError of what a bound method rejected with: an Error whose message is a
   * Failure as JSON (FormatError in app/window/app.go), or, where Wails itself failed, plain text.
   */
  static rejected(cause: unknown): AppError {
    const error = AppError.of(cause);
    try {
      const failure: unknown = JSON.parse(error.message);
      if (typeof failure === "object" && failure !== null && "message" in failure) return AppError.of(failure);
    } catch {
      // Wails' own words
    }
    return error;
  }
}

type Bound = Record<string, (...args: unknown[]) => Promise<unknown>>;

interface WailsWindow {
  go?: { window?: Record<string, Bound | undefined> };
  runtime?: {
    EventsOn(name: string, callback: (...data: unknown[]) => void): () => void;
    ClipboardSetText(text: string): Promise<boolean>;
    ClipboardGetText(): Promise<string>;
  };
}

/** The event of all notices. */
const NOTICE_EVENT = "conclave:notice";

/** Whether the page runs inside the program's window. */
export function insideWails(): boolean {
  return (globalThis as WailsWindow).go?.window !== undefined;
}

/** The bridge to the program that shows this page. */
export function wailsBridge(): Bridge {
  const host = globalThis as WailsWindow;

  // A bound struct as an object whose methods throw AppErrors.
  function bound<T extends object>(name: string): T {
    return new Proxy({} as T, {
      get: (_, method: string) => {
        return async (...args: unknown[]) => {
          const call = host.go?.window?.[name]?.[method];
          if (!call) {
            throw new AppError({
              message: `The program has no ${name}.${method}.`,
              hint: "The window and the program are of different versions. Install Conclave again.",
            });
          }
          try {
            return await call(...args);
          } catch (cause) {
            throw AppError.rejected(cause);
          }
        };
      },
    });
  }

  return {
    chats: bound<t.ChatsCalls>("Chats"),
    context: bound<t.ContextCalls>("Context"),
    plugins: bound<t.PluginsCalls>("Plugins"),
    tools: bound<t.ToolsCalls>("Tools"),
    permissions: bound<t.PermissionsCalls>("Permissions"),
    questions: bound<t.QuestionsCalls>("Questions"),
    prompts: bound<t.PromptsCalls>("Prompts"),
    shared: bound<t.SharedCalls>("Shared"),
    transfer: bound<t.TransferCalls>("Transfer"),
    branches: bound<t.BranchesCalls>("Branches"),
    models: bound<t.ModelsCalls>("Models"),
    settings: bound<t.SettingsCalls>("Settings"),
    programs: bound<t.ProgramsCalls>("Programs"),
    council: bound<t.CouncilCalls>("Council"),
    activity: bound<t.ActivityCalls>("Activity"),
    window: bound<t.WindowCalls>("Window"),
    onnotices(listener) {
      return host.runtime?.EventsOn(NOTICE_EVENT, (notices) => listener(notices as t.Notice[])) ?? (() => {});
    },
    async copy(text) {
      if (host.runtime) await host.runtime.ClipboardSetText(text);
      else await navigator.clipboard.writeText(text);
    },
    // WebKitGTK lets no page read the clipboard; the program may.
    paste: () => host.runtime?.ClipboardGetText() ?? navigator.clipboard.readText(),
    media: (id) => `/media/${encodeURIComponent(id)}`,
  };
}
