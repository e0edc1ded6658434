/**
 * The bound API: every question the window asks of the program, typed, and the
 * one place that touches `window.go` and `window.runtime`.
 *
 * Go binds one small struct per group in package app (`window.go.app.Chats.Send`).
 * State classes take a {@link Bridge}; {@link wailsBridge} is the real one and
 * fake.ts an app in memory. All methods return promises and reject with an
 * {@link AppError}. Calls run concurrently in Go and may overtake one another;
 * nothing here relies on their order.
 */
import type * as t from "./types";

export interface Chats {
  /** Rows [offset, offset+limit) of the list. limit is at most 200. */
  List(query: t.ChatQuery, offset: number, limit: number): Promise<t.ChatList>;
  /** What changed since the revision; 0 opens the conversation. */
  Pull(conversation: string, since: number): Promise<t.Pull>;
  /** Whole entries by seq, at most 200, in the order asked; unknown ones are left out. */
  Messages(conversation: string, seqs: number[]): Promise<t.Entry[]>;
  /** Saves the message and starts a turn. conversation "" makes one. Returns at once. */
  Send(conversation: string, message: t.Outgoing): Promise<t.Sent>;
  /** Stops the running turn and keeps what was said; no turn is no error. */
  Stop(conversation: string): Promise<void>;
  /** Answers again beside entry seq (an answer); model "" = the chat's. */
  Regenerate(conversation: string, seq: number, model: string): Promise<t.Sent>;
  /**
   * Changes a message. answerAgain false: text changes, later messages stay (user
   * and assistant entries). true: a sibling is made and answered (user entries).
   */
  Edit(conversation: string, seq: number, text: string, answerAgain: boolean): Promise<t.Sent>;
  /** Shows the path through the sibling with this seq, to its newest leaf. */
  SwitchVersion(conversation: string, seq: number): Promise<void>;
  /** Keeps an entry from the model, or gives it back. */
  SetHidden(conversation: string, seq: number, hidden: boolean): Promise<void>;
  /** The Markdown source of an entry's text, for copy, quote and edit. */
  Source(conversation: string, seq: number): Promise<string>;
  /** The exact requests behind an answer. */
  Info(conversation: string, seq: number): Promise<t.MessageInfo>;
  /** Everything about one tool call. */
  Call(conversation: string, call: string): Promise<t.CallDetail>;
  /** Messages of the visible path that hold the words, in order, at most 1,000. */
  Find(conversation: string, words: string): Promise<t.Find[]>;
  /** The conversation is being looked at: it is read, and opened at the next start. "" = none. */
  Seen(conversation: string): Promise<void>;
  Rename(conversation: string, title: string): Promise<void>;
  SetPinned(conversation: string, pinned: boolean): Promise<void>;
  SetArchived(conversation: string, archived: boolean): Promise<void>;
  SetModel(conversation: string, model: string): Promise<void>;
  SetSystem(conversation: string, text: string): Promise<void>;
  /** Deletes it, with undo until the program quits. A running turn is stopped. */
  Delete(conversation: string): Promise<t.Undo>;
  /** Deletes every chat that is marked demo. */
  DeleteDemo(): Promise<t.Undo>;
  /** The half-written message. conversation "" is the one of the welcome page. */
  Draft(conversation: string): Promise<t.Draft>;
  SaveDraft(conversation: string, draft: t.Draft): Promise<void>;
  /** Keeps a file; data is its bytes in base64, at most 20 MiB decoded. */
  Attach(name: string, mimeType: string, data: string): Promise<t.Media>;
}

export interface Plugins {
  List(): Promise<t.PluginList>;
  Show(id: string): Promise<t.PluginDetail>;
  Enable(id: string): Promise<void>;
  Disable(id: string): Promise<void>;
  Reload(id: string): Promise<void>;
  /** Approves what a person has read: digest must still be Plugin.digest, else kind conflict. */
  Approve(id: string, digest: string, developing: boolean): Promise<void>;
  /** quarantined: keeps serving the approved version, and asks again only after the next change. */
  KeepOld(id: string, digest: string): Promise<void>;
  SetDeveloping(id: string, developing: boolean): Promise<void>;
  /** Grants or denies one of Plugin.permissions. */
  SetPermission(id: string, permission: string, granted: boolean): Promise<void>;
  /** The permission filesystem, of one folder or file. */
  GrantFolder(id: string, path: string, write: boolean): Promise<void>;
  RevokeFolder(id: string, path: string): Promise<void>;
  /** Moves its folder out of the plugins folder, with undo. */
  Remove(id: string): Promise<t.Undo>;
  /**
   * Installs what Plugin.packages lists into an environment of the plugin's own, in the
   * background. digest must still be Packages.digest, else kind conflict. build: also what
   * exists as source only, whose code then runs. elsewhere: also from Packages.elsewhere.
   */
  /** Of the packages that nobody declared, only those named in guessed are installed. */
  InstallPackages(
    id: string,
    digest: string,
    build: boolean,
    elsewhere: boolean,
    guessed: string[],
  ): Promise<void>;
  /** Stops the installation; what arrived is kept for another. None is no error. */
  StopPackages(id: string): Promise<void>;
  /** Deletes its environment. */
  RemovePackages(id: string): Promise<void>;
  /** What a person may set of it. */
  Settings(id: string): Promise<t.PluginForm>;
  /** Replaces what is set by a JSON object and starts it anew; a secret that is null is forgotten. Kind invalid names what does not fit. */
  SetSettings(id: string, values: string): Promise<void>;
  /** The kinds New can make. */
  Templates(): Promise<t.Template[]>;
  /** Makes a plugin from a template and returns its id. */
  New(kind: string, name: string): Promise<string>;
  /** Asks for a folder or file that holds a plugin; "" when the person changed their mind. */
  Choose(what: "folder" | "file"): Promise<string>;
  /**
   * Brings a plugin from the https address of a git repository, or the path of a folder or
   * file, into the plugins folder, and returns its id; it then waits for approval.
   */
  Add(from: string): Promise<string>;
  /** Stops what Add or Update fetches. None is no error. */
  StopAdding(): Promise<void>;
  /** Replaces it by what is now at Plugin.origin, with undo. */
  Update(id: string): Promise<t.Undo>;
  /** Shows the plugin's folder in the system's file manager; "" = the plugins folder. */
  OpenFolder(id: string): Promise<void>;
  /** file is relative to the plugin's folder; "" = its entry. line 0 = the start. */
  OpenInEditor(id: string, file: string, line: number): Promise<void>;
  /** Lines with n > since. */
  Log(id: string, since: number): Promise<t.PluginLog>;
}

export interface Tools {
  List(): Promise<t.ToolList>;
  /** Whether models are offered the tool. */
  SetEnabled(id: string, enabled: boolean): Promise<void>;
}

export interface Permissions {
  Pending(): Promise<t.PendingList>;
  /** Answers one request of kind call. Rejects with kind conflict when it was settled meanwhile. */
  Answer(request: string, nonce: string, answer: t.Answer): Promise<void>;
  Grants(): Promise<t.GrantList>;
  Revoke(grant: string): Promise<t.Undo>;
  /** Pauses or resumes all tools. */
  SetPaused(paused: boolean): Promise<void>;
}

export interface Models {
  List(): Promise<t.ModelList>;
  /** Adds a connection and returns its name. The key goes to the key store. */
  Add(edit: t.ConnectionEdit): Promise<string>;
  Update(name: string, edit: t.ConnectionEdit): Promise<void>;
  Remove(name: string): Promise<t.Undo>;
  /** Asks the provider for its models. What came is in List; a failure is in Connection.problem. */
  Test(name: string): Promise<void>;
  SetDefault(model: string): Promise<void>;
  /** Notes what the person says that a model can do. */
  SetCapabilities(
    model: string,
    tools: boolean,
    vision: boolean,
    reasoning: boolean,
  ): Promise<void>;
  /** Gives the passphrase of the encrypted file of keys; the first one sets it. */
  Unlock(passphrase: string): Promise<void>;
  /** Asks the loopback addresses of known model servers, 400 ms each, in parallel. */
  ScanLocal(): Promise<t.LocalServer[]>;
}

export interface Settings {
  Get(): Promise<t.Settings>;
  /** Changes the fields given; the others stay. */
  Set(patch: Partial<Omit<t.Settings, "revision">>): Promise<t.Settings>;
}

export interface Window {
  Hello(): Promise<t.Hello>;
  /** Takes back what an Undo token stands for; kind not_found when it is too late. */
  Undo(token: string): Promise<void>;
  /** Opens an http, https or mailto address in the system's browser. */
  OpenURL(url: string): Promise<void>;
  /**
   * Fetches a remote picture that a person pressed, and returns the address the page shows it
   * under. The page itself reaches no server.
   */
  LoadPicture(url: string): Promise<string>;
  /** Opens data_folder or log_folder in the system's file manager. */
  OpenFolder(which: "data" | "log"): Promise<void>;
  /** Asks where, and writes text there; returns the path, "" when the person changed their mind. */
  SaveFile(suggestedName: string, text: string): Promise<string>;
  /** Asks where, and writes the bytes of a media file there; returns the path, or "". */
  SaveMedia(mediaID: string, suggestedName: string): Promise<string>;
  /** Notices of plugins after the one numbered, oldest first. */
  Toasts(after: number): Promise<t.Toast[]>;
  /** Logs a fault of the window itself and returns its reference. */
  Report(message: string, stack: string): Promise<string>;
  Quit(): Promise<void>;
}

/** Everything the window can ask, and the one thing it is told. */
export interface Bridge {
  chats: Chats;
  plugins: Plugins;
  tools: Tools;
  permissions: Permissions;
  models: Models;
  settings: Settings;
  window: Window;
  /** Calls back with each list of notices; the function returned ends it. */
  onnotices(listener: (notices: t.Notice[]) => void): () => void;
  /** Puts text on the clipboard. */
  copy(text: string): Promise<void>;
  /** The text on the clipboard. */
  paste(): Promise<string>;
  /** Address of a media file's bytes. */
  media(id: string): string;
}

/** What every bridge method rejects with. */
export class AppError extends Error implements t.Failure {
  readonly kind: string;
  readonly hint: string;
  readonly ref: string;

  constructor(failure: t.Failure) {
    super(failure.message);
    this.name = "AppError";
    this.kind = failure.kind;
    this.hint = failure.hint;
    this.ref = failure.ref;
  }

  /** Makes an AppError of whatever was thrown. */
  static of(cause: unknown): AppError {
    if (cause instanceof AppError) return cause;
    if (typeof cause === "object" && cause !== null && "message" in cause) {
      const c = cause as Partial<t.Failure> & { message: unknown };
      return new AppError({
        kind: c.kind ?? "internal",
        message: String(c.message),
        hint: c.hint ?? "",
        ref: c.ref ?? "",
      });
    }
    return new AppError({ kind: "internal", message: String(cause), hint: "", ref: "" });
  }

  /**
   * Makes an AppError of what a bound method rejected with: an Error whose message is a
   * Failure as JSON (FormatError in app/app.go), or, where Wails itself failed, plain text.
   */
  static rejected(cause: unknown): AppError {
    const error = AppError.of(cause);
    try {
      const failure: unknown = JSON.parse(error.message);
      if (typeof failure === "object" && failure !== null && "message" in failure)
        return AppError.of(failure);
    } catch {
      // Wails' own words
    }
    return error;
  }
}

type Bound = Record<string, (...args: unknown[]) => Promise<unknown>>;

interface WailsWindow {
  go?: { app?: Record<string, Bound | undefined> };
  runtime?: {
    EventsOn(name: string, callback: (...data: unknown[]) => void): () => void;
    ClipboardSetText(text: string): Promise<boolean>;
    ClipboardGetText(): Promise<string>;
  };
}

/** The event of all notices. */
export const NOTICE_EVENT = "conclave:notice";

/** Whether the page runs inside the program's window. */
export function insideWails(): boolean {
  return (globalThis as WailsWindow).go?.app !== undefined;
}

/** The bridge to the program that shows this page. */
export function wailsBridge(): Bridge {
  const host = globalThis as WailsWindow;

  // A bound struct as an object whose methods throw AppErrors.
  function bound<T extends object>(name: string): T {
    return new Proxy({} as T, {
      get: (_, method: string) => {
        return async (...args: unknown[]) => {
          const call = host.go?.app?.[name]?.[method];
          if (!call) {
            throw new AppError({
              kind: "internal",
              message: `The program has no ${name}.${method}.`,
              hint: "The window and the program are of different versions. Install Conclave again.",
              ref: "",
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
    chats: bound<Chats>("Chats"),
    plugins: bound<Plugins>("Plugins"),
    tools: bound<Tools>("Tools"),
    permissions: bound<Permissions>("Permissions"),
    models: bound<Models>("Models"),
    settings: bound<Settings>("Settings"),
    window: bound<Window>("Window"),
    onnotices(listener) {
      return (
        host.runtime?.EventsOn(NOTICE_EVENT, (notices) => listener(notices as t.Notice[])) ??
        (() => {})
      );
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
