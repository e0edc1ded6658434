/**
 * Every text of the window, in one place. Notes for translators stand above a
 * text where its meaning is not plain from the words alone. A text that holds a
 * value is a function; plurals go through {@link count}. Keys are by screen.
 */
import type { HookAction, HookedThing, HookMark, HookPoint, HookStep } from "./bridge/generated";

/** A whole number in groups of three: “9,400”. Without Intl, whose tables a window's start would wait for. */
export function whole(n: number): string {
  return String(n).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** A count with its noun: count(1, "tool") is “1 tool”, count(1240, "line") “1,240 lines”. */
export function count(n: number, one: string, many = one + "s"): string {
  return `${whole(n)} ${n === 1 ? one : many}`;
}

/** Small numbers as words, for sentences that are read aloud. */
function spoken(n: number, one: string, many = one + "s"): string {
  const words = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
  return `${words[n] ?? whole(n)} ${n === 1 ? one : many}`;
}

/** How a text begins, on one line. */
function begins(text: string): string {
  const line = text.trim().replace(/\s+/g, " ");
  return line.length > 40 ? `${line.slice(0, 39)}…` : line;
}

/** What of a plugin changed, in words. */
const changed: Record<string, string> = {
  added: "new tool",
  listed: "offered to models",
  stored: "a different plugin with a familiar name",
  removed: "removed",
  description: "description",
  parameters: "parameters",
  title: "name",
  permissions: "permissions",
  annotations: "declared effects",
};

/** “11.8 s”, “2 min 5 s”, “10 min”. */
export function lasted(ms: number): string {
  if (ms === 0) return "0 s";
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const rest = seconds % 60;
  return `${Math.floor(seconds / 60)} min${rest ? ` ${rest} s` : ""}`;
}

export const s = {
  dates: {
    days: ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"],
    // The first three letters stand for the whole in a narrow place.
    months: [
      ...["January", "February", "March", "April", "May", "June"],
      ...["July", "August", "September", "October", "November", "December"],
    ],
    day: (month: string, day: number) => `${month} ${day}`,
    dayOf: (month: string, day: number, year: number) => `${month} ${day}, ${year}`,
    month: (month: string, year: number) => `${month} ${year}`,
    full: (weekday: string, month: string, day: number, year: number, time: string) =>
      `${weekday}, ${month} ${day}, ${year} at ${time}`,
  },

  app: {
    name: "Conclave",
    // Shown when the page is opened in a browser instead of the program.
    outside: "This page only works inside the Conclave window.",
    outsideHint: "Run “conclave”, or “npm run dev:fake” to see it with sample data.",
    failed: "The window could not start.",
    reference: (ref: string) => `Reference ${ref}, also in the log.`,
    tryAgain: "Try again",
    close: "Close",
    cancel: "Cancel",
    save: "Save",
    copy: "Copy",
    copied: "Copied",
    undo: "Undo",
    dismiss: "Dismiss",
    retry: "Check again",
    details: "Details",
  },

  // Names of the four regions that F6 steps through.
  region: { sidebar: "Chats", main: "Conversation", composer: "Write a message", dock: "Panel" },

  divider: {
    // A draggable bar between two columns.
    sidebar: "Width of the chat list",
    dock: "Width of the panel",
  },

  sidebar: {
    newChat: "New chat",
    search: "Search chats",
    archive: "Archive",
    backToChats: "Back to chats",
    empty: "No chats yet. Write something to start.",
    emptyArchive: "The archive is empty.",
    // While the search's index is being made; the list fills by itself.
    searching: (percent: number) => `Indexing your chats: ${percent} % done.`,
    nothingFound: (text: string) => `No chats match “${text}”.`,
    unnamed: "New chat",
    pinned: "Pinned",
    found: "Found",
    today: "Today",
    yesterday: "Yesterday",
    // Marks at the end of a row, read aloud after the title.
    unread: "unread answer",
    running: "answering",
    waiting: "waiting for your permission",
    demo: "demo",
    rename: "Rename",
    pin: "Pin",
    unpin: "Unpin",
    toArchive: "Move to archive",
    fromArchive: "Move back to chats",
    delete: "Delete",
    menuFor: (title: string) => `More for ${title}`,
    error: "Your chats could not be read. The file was not changed.",
    // The foot of the list: a dot with a word about the default model's server.
    modelOk: (model: string) => `${model} ready`,
    modelLocked: (model: string) => `Key locked: ${model}`,
    modelFailed: (model: string) => `${model} not reachable`,
    modelAsking: (model: string) => `Connecting to ${model}…`,
    pause: "Pause all tools",
    paused: "Tools are paused. Resume",
    settings: "Settings",
    hide: "Hide the chat list",
    show: "Show the chat list",
  },

  chat: {
    rename: "Rename this chat",
    titleLabel: "Chat title",
    model: "Model",
    chooseModel: (model: string) => `Model: ${model}. Change`,
    searchModels: "Search models",
    noModels: (text: string) => `No model matches “${text}”.`,
    addModel: "Connect a model…",
    system: "System prompt…",
    systemTitle: "System prompt of this chat",
    sources: "Outside sources…",
    sourcesTitle: "Outside sources in this chat",
    sourcesNote:
      "Text that neither you nor the model wrote. It may contain instructions for the model, so Conclave asks before every call that could send something out of this chat, until you trust the source.",
    sourcesNone: "No text in this chat came from outside.",
    sourceTrust: "Trust in this chat",
    sourceTrustNamed: (source: string) => `Trust ${source} in this chat`,
    sourceTrusted: "trusted in this chat",
    sourceBack: "Stop trusting",
    sourceBackNamed: (source: string) => `Stop trusting ${source}`,
    systemNote: "Sent before the first message of every request in this chat.",
    project: "Project…",
    projectOf: (folder: string) => `Project ${folder}. Change`,
    projectTitle: "Project of this chat",
    projectNote:
      "The folder this chat is about. Permissions and a council can apply to all chats of a project. Choosing a project gives no tool access to the folder. Chats started in a terminal belong to the folder they were started in.",
    projectFolder: "Folder",
    projectNone: "None",
    projectChoose: "Choose folder…",
    menu: "More for this chat",
    find: "Find in this chat",
    findPlaceholder: "Find in this chat",
    findCount: (at: number, all: number) => `${whole(at)} of ${whole(all)}`,
    findNone: "No matches",
    findNext: "Next match",
    findPrevious: "Previous match",
    showDock: "Show the panel",
    noTools: (model: string) => `${model} does not support tools.`,
    loadFailed: "This chat could not be opened.",
    // The pill above the composer while an answer grows below the view.
    newParagraphs: (n: number) => `↓ ${count(n, "new paragraph")}`,
    toEndPill: "↓ Jump to the end",
    untitledEdit: "Leave empty to use the first message.",
  },

  // Two texts line by line.
  diff: {
    removed: "removed",
    added: "added",
    onlyIn: (name: string) => `only ${name}`,
    same: (n: number) => count(n, "unchanged line"),
  },

  // What hooks of plugins did to an answer, its requests and its calls.
  hooks: {
    title: "Plugin changes",
    show: "Show what plugins changed here",
    request: (n: number) => `Request ${n} and its answer`,
    call: (tool: string) => `Call of “${tool}”`,
    took: (ms: number) =>
      ms < 1000 ? `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`,
    diff: (plugin: string) => `Lines that ${plugin} changed`,
    // Stands where a plugin's name would: several plugins may give values to one text.
    macros: "Macros",
    point: {
      "before model": "before the model",
      "before round": "before each request",
      "after model": "after the model",
      "before tool": "before the tool",
      approve: "approval",
      "after tool": "after the tool",
    } satisfies Record<HookPoint, string>,
    // After the plugin's name: “Lorebook changed the request”.
    did: (step: HookStep) => {
      const what = {
        "before model": "the request",
        "before round": "the request",
        "after model": "the answer",
        "before tool": "the arguments",
        approve: "the call",
        "after tool": "the result",
      }[step.point];
      // Where it stands guard, a call it could not judge is not made.
      const instead = step.point === "approve" ? "so the call was denied" : "so it changed nothing";
      return {
        "": "changed nothing",
        changed: step.plugin === "conclave" ? "were filled in" : `changed ${what}`,
        answered: "answered instead of the tool",
        own: "answers the call itself",
        instead: "wanted to answer instead of the tool",
        asked: "required your approval",
        denied: "denied the call",
        stopped: "stopped the answer",
        failed: `failed, ${instead}`,
        "timed out": `timed out, ${instead}`,
      }[step.action];
    },
    lead: (things: HookedThing[]) => {
      const steps = things.flatMap((thing) => thing.steps);
      if (steps.length === 0)
        return "No plugin hook ran for this answer. Changes that plugins make to an answer, its requests and its calls are listed here.";
      if (steps.every((step) => step.action === ""))
        return `${steps.length === 1 ? "One hook" : `${whole(steps.length)} hooks`} ran and changed nothing.`;
      return "In the order they ran. Each starts from the result of the one before.";
    },
    // Under an answer; "" where nothing is to be said.
    line: (marks: HookMark[]) => {
      const who = (...did: HookAction[]) => {
        const titles = new Set(
          marks
            .filter((mark) => did.includes(mark.did))
            .map((mark) => (mark.plugin === "conclave" ? "Macros" : mark.title)),
        );
        return titles.size > 2 ? `${titles.size} plugins` : [...titles].join(" and ");
      };
      return (
        [
          ["changed this", who("changed")],
          ["denied a call", who("denied")],
          ["required your approval", who("asked", "instead")],
          ["stopped this", who("stopped")],
          ["failed", who("failed")],
          ["timed out", who("timed out")],
        ] as const
      )
        .flatMap(([did, whose]) => (whose ? [`${whose} ${did}`] : []))
        .join(" · ");
    },
    // Above the requests of an answer, which are rebuilt from the chat.
    without: "Plugins changed this answer. Their changes are missing from these requests.",
  },

  message: {
    you: "You",
    system: "Note",
    // Heading of a message for screen readers: “You, 14:05”.
    heading: (who: string, time: string) => `${who}, ${time}`,
    copy: "Copy",
    quote: "Quote",
    edit: "Edit",
    regenerate: "Regenerate",
    regenerateSame: "With the same model",
    regenerateWith: (model: string) => `With ${model}`,
    info: "Info",
    hide: "Hide from model",
    unhide: "Show to model",
    hidden: "Hidden from the model",
    actions: "Actions for this message",
    more: "More for this message",
    editLabel: "Text of the message",
    saveOnly: "Save",
    saveOnlyNote: "changes the text, keeps later messages",
    saveAnswer: "Save and answer again",
    saveAnswerNote: "makes another version of the chat from here",
    otherBranch: (n: number) =>
      `${count(n, "message")} ${n === 1 ? "is" : "are"} on the other branch.`,
    showBranch: "Show",
    version: (at: number, all: number) => `Version ${at} of ${all}`,
    versionShort: (at: number, all: number) => `${at}/${all}`,
    previousVersion: "Previous version",
    nextVersion: "Next version",
    // {seconds} counts up while nothing has come.
    waitingFor: (model: string, seconds: number) =>
      seconds >= 1 ? `Waiting for ${model}… ${seconds} s` : `Waiting for ${model}…`,
    council: (doing: string, seconds: number) =>
      seconds >= 1 ? `${doing}… ${seconds} s` : `${doing}…`,
    thinking: (seconds: number) => `Thinking, ${seconds} s`,
    thought: (seconds: number) =>
      seconds >= 1 ? `Thought for ${seconds} s` : "Thought for a moment",
    stopping: "Stopping…",
    retrying: "Trying again…",
    stopped: "You stopped this answer.",
    interrupted:
      "Conclave was closed while this was being written. The part that arrived is saved.",
    notBegun: "Conclave was closed before this was answered.",
    cutOff: "Conclave was closed before this answer was finished.",
    limit: "The tool round limit was reached.",
    failedTitle: "This answer could not be finished.",
    // The server's own words, which are not Conclave's.
    failedSaid: (words: string) => `The server said: “${words}”`,
    tryAgain: "Try again",
    tryOther: "Try another model",
    answerAgain: "Answer again",
    unanswered: "This was not answered.",
    answerIt: "Ask for an answer",
    empty: "The model said nothing.",
    notes: "Notes about this message",
    moreNotes: (n: number) => `Show ${count(n, "more note")}`,
    loading: "Loading message",
    // Asked when a link's text names one address and it leads to another.
    linkTitle: "This link leads somewhere else",
    linkText: (shown: string, host: string) => `The text says “${shown}”, but it opens ${host}.`,
    linkOpen: (host: string) => `Open ${host}`,
    codeCopy: "Copy code",
    codeSave: "Save as file",
    codeWrap: "Wrap lines",
    tableCSV: "Copy as CSV",
    tableMarkdown: "Copy as Markdown",
    diagramFailed: "This diagram could not be drawn. Its source is shown instead.",
    mathFailed: "This formula could not be drawn. Its source is shown instead.",
    pictureLoading: (host: string) => `Loading from ${host}…`,
    // Under an answer.
    costNote: (u: { input_tokens: number; output_tokens: number; priced: string }) =>
      `${count(u.input_tokens, "token")} sent, ${whole(u.output_tokens)} received. ${s.cost.by(u.priced)}`,
    infoTitle: "About this answer",
    infoRequest: (n: number, of: number) => (of > 1 ? `Request ${n} of ${of}` : "Request"),
    infoBody: "Exact request",
    infoRebuilt: "Rebuilt request",
    infoIsRebuilt:
      "This request was not saved. It is rebuilt from the chat and may differ from what was sent.",
    infoTime: "Time",
    infoIn: "Tokens sent",
    infoOut: "Tokens received",
    infoCost: "Cost",
    infoNotReported: "not reported",
    media: (name: string) => `Attachment ${name}`,
    file: (kind: string) => `a file (${kind})`,
    save: (name: string) => `Save ${name}`,
  },

  cost: {
    none: "no cost",
    under: "under $0.001",
    unknown: "cost unknown",
    atLeast: (dollars: string) => `at least ${dollars}`,
    // Where the cost is from.
    by: (priced: string) =>
      priced === "local"
        ? "Models on this computer are free."
        : priced === "own"
          ? "The cost is based on your own prices."
          : priced
            ? `The cost is based on the prices of ${priced}; see Settings > Prices.`
            : "",
    chat: (tokens: number, money: string) => `${count(tokens, "token")} · ${money}`,
    chatNote: "All model requests for this chat so far",
  },

  prices: {
    intro: "Prices per million tokens, in US dollars. A change applies to new answers only.",
    own: "Your prices",
    builtIn: (date: string) => `Built-in prices, as of ${date}`,
    builtInNote:
      "From the vendors’ price pages, for their standard service and requests of ordinary length. Your bill can differ. Models on this computer are free.",
    model: "Model",
    input: "Sent",
    output: "Received",
    cached: "Sent, cached",
    of: (what: string, model: string) => (model ? `${what}: ${model}` : what),
    add: "Add a price",
    remove: (model: string) => (model ? `Remove the price of ${model}` : "Remove"),
    filter: "Filter models",
    none: "–",
    cap: "Daily spending limit of each plugin",
    capNote:
      "In US dollars, for the models that you let it use. Beyond that, the plugin has to ask you. Models on this computer are free.",
    tokensCap: "Daily token limit for models without a known price",
    tokensCapNote: "Beyond that, a plugin has to ask you.",
  },

  presets: {
    intro:
      "Councils to choose from in the panel. Choosing one makes a copy, so later changes do not affect the preset.",
    own: "Yours",
    none: "None yet. Save a council as a preset in its panel, duplicate one below, or import one from a file.",
    builtIn: "Built in",
    manage: "Rename, copy or delete presets…",
    rename: "Rename…",
    newName: (name: string) => `New name for ${name}`,
    added: (name: string) => `${name} was added to your presets.`,
  },

  composer: {
    // A message written while an answer streams waits for it.
    queue: "Queue",
    queueNote: "Sends when this answer is done",
    queued: "Messages waiting to be sent",
    queuedNext: "sent after this answer",
    queuedSend: "Send now",
    queuedEdit: "Edit this waiting message",
    queuedRemove: "Remove this waiting message",
    unqueued: (text: string) => `“${begins(text)}” will not be sent.`,
    placeholder: "Message Conclave",
    label: "Message",
    send: "Send",
    stop: "Stop",
    attach: "Attach files",
    tools: (n: number) => (n === 0 ? "No tools" : count(n, "tool")),
    toolsOff: "Tools off",
    toolsToggle: "Tools for this message",
    attachments: "Attachments",
    attaching: (name: string) => `Adding ${name}…`,
    removeAttachment: (name: string) => `Remove ${name}`,
    detached: (name: string) => `Removed ${name}`,
    tooBig: (name: string) =>
      `The file ${name} is larger than 20 MiB, the limit. Choose a smaller file or a part of it.`,
    noVision: (model: string) =>
      `${model} may not support pictures. It would receive only their names.`,
    seesAnyway: "Send them anyway",
    drop: "Drop files to attach them",
    pasteOffer: (n: number) => `${whole(n)} characters pasted.`,
    pasteText: "Keep as text",
    pasteFile: "Attach as file",
    pasteName: "pasted text.txt",
    hintEnter: "Enter sends, Shift+Enter makes a new line",
    hintMod: (mod: string) => `${mod}+Enter sends, Enter makes a new line`,
    paused: "All tools are paused.",
  },

  tool: {
    files: "Files",
    // State words of a tool card.
    state: {
      proposed: "Proposed",
      waiting: "Waiting for you",
      running: "Running",
      done: "Done",
      refused: "Refused",
      failed: "Failed",
      expired: "Expired",
      stopped: "Stopped",
      undone: "Undone",
    },
    openDetails: "Show details",
    closeDetails: "Hide details",
    arguments: "Arguments",
    noArguments: "No arguments.",
    /** The label of what is listed together behind the others. */
    moreArguments: (n: number) => count(n, "more argument"),
    /** Above a box that scrolls. */
    argumentsIn: (n: number) => `${count(n, "argument")}. Scroll to see them all.`,
    showAll: (n: number) => `Show all ${count(n, "character")}`,
    showLess: "Show less",
    /** A name that stands in an object for the nth time. */
    nameAgain: (name: string, n: number) => `${name} (repeated, ${n})`,
    output: "Output",
    plain: "Plain",
    json: "JSON",
    noOutput: "No output.",
    cut: (n: number) => `${count(n, "more character")} ${n === 1 ? "is" : "are"} not shown.`,
    hiddenRemoved: (n: number) => `${count(n, "hidden character")} removed`,
    viewHidden: "View",
    hideHidden: "Show cleaned text",
    why: "Why was this allowed?",
    whyNot: "Why was this decided?",
    printed: "Printed",
    error: "Error",
    traceback: "Traceback",
    digest: "Definition",
    caller: "Requested by",
    // Of a call that the model made for a member of the council.
    forMember: (name: string, title: string) => `For ${name}: ${title}`,
    expired: "You did not answer within 10 minutes, so it did not run.",
    askAgain: "Ask again",
    revoke: "Revoke permission",
    rawArguments: "The model sent this instead of a JSON object",
    seconds: (ms: number) => (ms < 1000 ? `${Math.round(ms)} ms` : lasted(ms)),
  },

  permission: {
    // Said at once by screen readers when a request arrives.
    alert: (title: string, keys: string) => `Permission needed: ${title}. Press ${keys} to review.`,
    action: "Exact action",
    rewritten: "Original request and changes by plugins",
    willRun: "What will run",
    previewLeft: (n: number) => (n === 1 ? "and one more line" : `and ${n} more lines`),
    edit: "Edit before allowing",
    editDone: "Discard changes",
    editBad: "This is not a valid JSON object.",
    notNow: "Not now",
    allowOnce: "Allow once",
    allowMore: "Allow more…",
    details: "Show details",
    noDetails: "Hide details",
    ignored: "The card just moved, so that click was ignored. Click again.",
    deny: "More ways to deny",
    denyWhy: "Deny with a reason…",
    never: "Never allow this tool",
    /** Of a host, a folder, or what models cost. */
    neverThis: "Never allow this",
    reasonLabel: "Reason for the model",
    reasonSend: "Deny with this reason",
    /** Of what is allowed for longer than once; never ticked for the person. */
    council: "Also for other council members",
    // How long an answer holds. Each must say when it ends.
    scope: {
      once: "Once",
      "this-answer": "For this answer",
      "this-chat": "For this chat",
      "this-project": "In this project",
      "until-quit": "Until I quit",
      always: "Always",
    },
    ends: {
      once: "this one call",
      "this-answer": "until the answer is complete",
      "this-chat": "every call of this tool here, until you revoke it",
      "this-project": "in all chats of a project, until you revoke it",
      "until-quit": "in all chats, until Conclave quits",
      always: "in all chats, until you revoke it",
      only: "other calls of this tool still ask",
      /** For this chat, of a host or a folder. */
      here: "in this chat, until you revoke it",
    },
    ofProject: (folder: string) => `in all chats of ${folder}, until you revoke it`,
    trust: (source: string) => `Once, and trust ${source} in this chat`,
    hereEnds: "until untrusted text enters the chat",
    trustEnds: "its text is no longer a reason to ask here, until you revoke it",
    sameCalls: (n: number) => `${count(n, "such request")} will be answered together.`,
    batchTitle: (n: number, title: string, folder: string) =>
      `${title}, ${n} times${folder && `, in ${folder}`}`,
    allowAll: (n: number) => `Allow all ${n} once`,
    allowLasting: "Allow from now on",
    lastingAllows: "“Allow from now on” allows:",
    /** What one line of that says behind the names of tools; ends says what it ends with. */
    lastingMeans: (caller: string, words: string, ends: "here" | "trust" | "always") => {
      const { callers, hereEnds, trustEnds, ends: scopes } = s.permission;
      const until = { here: hereEnds, trust: trustEnds, always: scopes.always }[ends];
      return `${words}, when ${callers[caller.split(":")[0] ?? ""] ?? caller} asks, ${until}.`;
    },
    /** Who asks, by the kind of caller; the title has the name. */
    callers: {
      main: "your model",
      member: "this member of the council",
      plugin: "this plugin",
      http: "this program",
      person: "a run that you started",
    } as Record<string, string>,
    hurried: (words: string) => `Asked too often? Allow ${words}.`,
    batchMixed: (n: number, names: string[], folder: string) =>
      `${n} requests${folder && ` in ${folder}`}: ${names.join(", ")}`,
    reviewEach: "Review each",
    denyAll: "Not now, for all",
    hidden: (n: number) => `${count(n, "hidden character")} removed.`,
    // Of where they stood.
    marks: "Invisible or look-alike characters",
    viewMarks: "View",
    hideMarks: "Hide",
    settled: "This request was already answered.",
    grew: "Another request was added to this one. Review it again.",
    waitingCount: (n: number) => `${count(n, "permission request")} waiting`,
    none: "No permission request is waiting.",
    /** What a plugin asks for while it works on nobody's call, or on calls of several chats. */
    ofNone: "Permission requests outside chats",
    arming: "Allow becomes available in a moment",
    program: "Runs a program on your computer.",
    expiresAt: (time: string) => `Expires at ${time}.`,
  },

  // What a right click offers.
  rightClick: {
    cut: "Cut",
    copy: "Copy",
    paste: "Paste",
    selectAll: "Select all",
    copySelection: "Copy selection",
    quoteSelection: "Quote selection",
    openLink: "Open link",
    copyLink: "Copy link address",
  },

  // One line above the composer while the panel is closed and something waits in it.
  attention: {
    label: "Needs you",
    new: (name: string) => `${name} is new.`,
    changed: (name: string) => `${name} changed and is paused.`,
    waits: (name: string) => `${name} has a new version to review.`,
    failed: (name: string) => `The latest save of ${name} does not load.`,
    listed: (title: string) => `${title}.`,
    packages: (name: string) => `${name} needs packages.`,
    several: (n: number) => `${count(n, "plugin")} need you.`,
    review: "Review",
    later: "Not now",
  },

  dock: {
    council: "Council",
    wide: "Use the full width",
    narrow: "Show next to the conversation",
    tools: "Tools",
    plugins: "Plugins",
    activity: "Activity",
    close: "Close the panel",
    pendingBadge: (n: number) => `${count(n, "request")} waiting`,
    problemBadge: (n: number) => `${count(n, "plugin")} with a problem or a question`,
  },

  // What tools did.
  activity: {
    whichChats: "Chats",
    thisChat: "This chat",
    allChats: "All chats",
    plugin: "Plugin",
    allPlugins: "All plugins",
    pending: "Waiting for you",
    answer: "Answer",
    record: "History",
    export: "Export",
    exported: (path: string) => `Saved to ${path}`,
    empty: "No tool has run yet.",
    emptyChat: "No tool has run in this chat.",
    older: "Show older",
    by: (who: string, plugin: string) => (plugin ? `${who} · ${plugin}` : who),
    sent: (what: string) => `sent ${what}`,
    inChat: (title: string) => `in “${title}”`,
    entry: (n: number) => `Entry ${whole(n)}`,
    took: (time: string, size: string) => `took ${time}, returned ${size}`,
    digest: "digest",
    toChat: "Go to the chat",
    outcomes: {
      asked: "Asked",
      running: "Running",
      ok: "Done",
      raised: "Failed",
      refused: "Refused",
      cancelled: "Stopped",
      unknown: "Unknown tool",
      bad_arguments: "Invalid arguments",
      timeout: "Timed out",
      died: "Crashed",
      paused: "Paused",
      limit: "Limit reached",
    },
  },

  // Files that calls changed, and their old versions.
  undo: {
    undo: "Undo",
    redo: "Redo",
    undone: (time: string) => `Undone, ${time}.`,
    partial: "Partly undone: some files are as they were before the call.",
    notKept: (why: string) => `cannot be restored: ${why}`,
    more: (n: number) => `and ${whole(n)} more`,
    gone: "The old versions of its files have been removed.",
    title: "Old versions of files",
    intro: (days: number) =>
      `Before a call writes to a folder that you shared with a plugin, Conclave saves the files in it. You can restore what the call changed or deleted for ${days} days.`,
    kept: (n: number, since: string, size: string) =>
      `${n === 1 ? "One change" : `${whole(n)} changes`} since ${since}: ${size} of old versions.`,
    copies: (size: string) => `${size} of copies of the current folders.`,
    nothing: "No old versions are saved.",
    empty: "Remove all",
    really: "Remove permanently",
  },

  // Members that deliberate before the main model answers.
  council: {
    use: "Council in this chat",
    useEverywhere: "In all chats without their own council",
    ofAll: "(all chats)",
    ofProject: "(project)",
    menu: "More for the council",
    mode: "How the members work together",
    modes: {
      opinions: "Independent answers",
      review: "Answers, then anonymous review",
      vote: "Answers, then a secret vote",
      advocate: "One drafts, the others object",
      relay: "One after another",
      tools: "Tools only, no answers",
    },
    modeNotes: {
      opinions: "Each member answers by itself; the chat’s model writes the answer.",
      review: "Each answers, then reviews the others’ answers without knowing who wrote them.",
      vote: "Each answers, then votes. No vote is shown before all members have voted.",
      advocate: "The first member writes a draft, and the others object to it.",
      relay: "Each member sees the answer of the one before it.",
      tools: "Each member runs the tools you gave it and reports; none writes its own answer.",
    },
    inlineNote: "The answering model gets the members’ tools and calls them in the conversation.",
    presets: "Presets",
    savePreset: "Save as a preset…",
    deletePreset: (name: string) => `Delete the preset ${name}`,
    presetName: "Name of the preset",
    chosen: (name: string) => `This chat now uses ${name}`,
    importCouncil: "Import council…",
    exportCouncil: "Export council…",
    openRun: "Open run file…",
    clear: "Reset to the shared council",
    cleared: "Reset to the shared council",
    everywhere: "Used in every chat without its own council.",
    inProject: "Used in every chat of this project without its own council.",
    // Before sending: what a run may come to.
    about: (what: string) => `about ${what}`,
    cap: (money: string) => `cap ${money}`,
    atMost: (what: string) => `at most ${what}`,
    estimateNote: "Estimated from the text so far and your prices",
    estimatedAt: (money: string) => `(estimated ${money})`,
    tokens: (n: number) => count(n, "token"),
    tokensInOut: (sent: number, received: number) =>
      `${count(sent, "token")} sent, ${whole(received)} received`,

    members: "Members",
    nobody: "none yet",
    empty: "No members yet. Choose a preset, or add members one by one.",
    sample: "Run a sample council",
    sampleNote: "Demo guide plays three members. Scripted, offline and free; the tools are real.",
    add: "Add member",
    addAnother: "Add another member",
    importMember: "Import member…",
    newName: (n: number) => `Member ${n}`,
    copyOf: (name: string) => `${name} 2`,
    unnamed: "Unnamed",
    off: "Off",
    turnOn: "Turn on",
    turnOff: "Turn off",
    edit: "Edit",
    closeMember: "Close",
    duplicate: "Duplicate",
    remove: "Remove",
    exportMember: "Export member…",
    moveUp: "Move up",
    moveDown: "Move down",
    moved: (name: string, to: number, of: number) => `${name} is ${to} of ${of}`,
    removed: (name: string) => `${name} was removed.`,
    memberMenu: (name: string) => `More for ${name}`,
    // The grip by which a member is dragged; arrow keys move it too.
    handle: (name: string) => `Move ${name}: arrow up or down`,
    handleNote: "Drag, or press the arrow keys, to move",
    helperModel: "Helper model",
    helperIs: (title: string) => `Helper model: ${title}`,
    throughHelper: "It has no model, so it uses the helper model",
    noModel: "No model",
    chatModel: "The chat’s model",
    modelGone: (name: string) => `${name} (no longer available)`,
    modelWithoutTools: (title: string) => `${title} (no tool support)`,
    toldNow: (n: number) => `Sees about ${count(n, "token")} of this chat now.`,
    toolsOf: (name: string) => `Tools of ${name}`,
    takeTool: (tool: string, name: string) => `Remove ${tool} from ${name}`,
    allTools: "Tools for members",
    shelfNote: "Drag a tool to a member, or press it to choose who gets it.",
    giveTool: (tool: string) => `Give ${tool} to…`,
    giveTo: (name: string) => `Give to ${name}`,
    takeFrom: (name: string) => `Remove from ${name}`,
    given: (tool: string, name: string) => `${tool} given to ${name}`,
    taken: (tool: string, name: string) => `${tool} removed from ${name}`,
    builtIn: "Built in",
    needsHelper: "Needs the helper model.",
    notInline: "This is a prompt, which the answering model cannot call.",
    toolsModeAlone: "Works only in the mode “Tools only, no answers”.",
    promptsElsewhere: (n: number) =>
      `The mode “Tools only, no answers” adds ${n === 1 ? "one more" : `${whole(n)} more`}.`,
    notEligible: (n: number) => `${count(n, "tool")} not available to members`,
    toolGone: (id: string) => `The tool ${id} is not available.`,
    form: {
      name: "Name",
      role: "Role",
      model: "Model",
      context: "Context",
      tools: "Tools",
      limits: "Limits per run",
      none: "none",
      tokens: "Tokens",
      seconds: "Seconds",
      money: "US dollars",
      chance: "Chance, %",
      weight: "Vote weight",
      persona: "Persona and sampling",
      definition: "Identity",
      personality: "Personality",
      behavior: "Behaviour",
      temperature: "Temperature",
      topP: "Top-p",
      maxTokens: "Maximum answer, tokens",
      reasoning: "Reasoning",
      efforts: {
        "": "Model default",
        off: "Off",
        low: "Low",
        medium: "Medium",
        high: "High",
      },
      color: "Colour",
      picture: "Choose a picture…",
      noPicture: "Remove picture",
      cap: "Cap per answer, US dollars",
      capNote: (n: number) =>
        `With a cap, a member writes at most ${count(n, "token")} per request, including reasoning, unless its maximum answer is set.`,
      capTokens: "Cap per answer, tokens",
      deadline: "Deadline, seconds",
      parallel: "Members at once",
      rounds: "Rounds",
      chair: "Who writes the answer",
      helper: "Helper model",
      early: "Skip the review if the answers agree",
      choices: "Choices, one per line",
      choicesNone: "Leave empty to vote on the members’ answers",
      toolMode: "How tools run",
      sidecar: "Before the answer, by the members",
      inline: "During the answer, by the answering model",
      scope: "Where this council applies",
      plan: "The helper model writes its arguments",
      planNote: "Otherwise it gets the chat instead and may not find what it needs.",
      older: "Earlier results included in the answer",
      window: "Messages each member sees",
      all: "all",
      timeout: "Timeout per tool, seconds",
      words: "Words per result",
      withoutLatest: "Leave out your latest message",
      // Under this heading, what is ticked.
      toolsTold: "What members’ tools see and may do",
      userPersona: "Your persona",
      character: "Characters of the chat",
      worldInfo: "World of the chat",
      userControl: "Suggest what you do next",
      retain: "Reuse their results when the question is answered again",
    },
    colors: {
      rust: "Rust",
      green: "Green",
      violet: "Violet",
      blue: "Blue",
      plum: "Plum",
      olive: "Olive",
      teal: "Teal",
      brick: "Brick",
    },
    context: {
      spans: {
        "": "Mode default",
        question: "Question only",
        turns: "Last turns",
        messages: "Last messages",
        summary: "Summary and last turn",
        all: "Whole chat",
      },
      short: (policy: string, last: number) =>
        ({
          question: "Question only",
          turns: `Last ${count(last, "turn")}`,
          messages: `Last ${count(last, "message")}`,
          summary: "Summary and last turn",
          all: "Whole chat",
        })[policy] ?? "Mode default",
      last: "How many",
      system: "System prompt",
      memory: "Memory and characters",
      others: "Other members’ words",
      files: "Attachments",
    },

    runSettings: "Limits, chair and helper",
    noRuns: "No run yet. The next message you send asks the council.",
    noRunsInline: "Members’ tool calls appear in the conversation, so there is no run to show.",
    runBefore: (moment: string) => `before the change, from ${moment}`,
    runFrom: (moment: string) => `Run from ${moment}`,
    working: "The council is working",
    runMenu: "More for this run",
    chooseRun: "Which run",
    lanes: "Member lanes",
    asTable: "As a table",
    asLanes: "As lanes",
    exportRun: "Export run…",
    // The lane of the model that writes the answer, where a member’s name stands.
    chair: "Chair",
    chairNote: "The chat’s model writes the answer from the notes of the members.",
    noTasks: "It has nothing to do in this run.",
    // A mark of the time axis: short, as there is little room for it.
    mark: (ms: number) =>
      ms > 0 && ms < 1000
        ? `${ms} ms`
        : ms < 60_000
          ? `${ms / 1000} s`
          : ms % 60_000
            ? `${Math.floor(ms / 60_000)}:${String((ms % 60_000) / 1000).padStart(2, "0")}`
            : `${ms / 60_000} min`,
    taskState: {
      waiting: "Waiting",
      working: "Working",
      done: "Done",
      failed: "Failed",
      skipped: "Skipped",
      stopped: "Stopped",
      capped: "Over the cap",
    },
    butRefused: (calls: number) => `Done, ${count(calls, "call")} refused`,
    phase: { reading: "Reading", thinking: "Thinking", using: "Using a tool", writing: "Writing" },
    voting: "Voting",
    using: (tool: string) => `Using ${tool}`,
    waitsForYou: "Waiting for you",
    satOut: "Skipped",
    cutOff: "Cut off",
    noPicture: (file: string) =>
      `The picture ${file} could not be read. Choose a PNG, JPEG, WebP or GIF file.`,
    roll: (roll: number, chance: number) =>
      `Takes part by chance (drew ${roll.toFixed(1)}, limit ${chance}).`,
    kind: {
      summary: "Summary",
      tool: "Tool",
      answer: "Answer",
      review: "Review",
      ballot: "Ballot",
      draft: "Draft",
      critique: "Objections",
      synthesis: "Answer",
    },
    // Said aloud: “Ada: Done”.
    said: (name: string, word: string) => `${name}: ${word}`,
    laneMenu: (name: string) => `More for the lane of ${name}`,
    openLane: "Expand lane",
    closeLane: "Collapse lane",
    nudge: "Add a hint…",
    nudgeLabel: (name: string) => `${name} restarts with this hint`,
    nudgeSend: "Restart",
    runMember: "Run this member again…",
    changeCap: "Change the cap",
    chooseHelper: "Choose a helper model",
    askAgain: "Ask the council again",
    skip: "Skip",
    retry: "Retry",
    stop: "Stop",
    finish: "Finish with what we have",
    see: (name: string) => `What did ${name} see?`,
    theCall: "Input",
    taskOf: (kind: string, name: string) => `${kind} by ${name}`,
    attempt: (n: number) => `attempt ${n}`,
    // Both are times: “12.0 s, 10.0 s of it waiting for you”.
    askedFor: (all: string, asked: string) => `${all}, ${asked} of it waiting for you`,
    sealed: "The vote is hidden until all members have voted.",
    wordsOf: (name: string) => `Text from ${name}`,
    points: "Points",
    basis: (basis: string, source: string) =>
      basis === "tool"
        ? `from the tool ${source}`
        : basis === "given"
          ? source
            ? `from ${source}`
            : "from its context"
          : "from its own knowledge",
    helped: (point: string) => `${point} helped`,
    didNotHelp: (point: string) => `${point} did not help`,
    // Above the words of a review, which name the others by letters: “a is Maker”.
    drawn: (letters: string[]) => `The answers were anonymous: ${letters.join(", ")}.`,
    letterIs: (letter: string, name: string) => `${letter} is ${name}`,
    stances: "Views on the others’ points",
    stance: { agree: "agrees", disagree: "disagrees", unsure: "is not sure" } as Record<
      string,
      string
    >,
    ballot: "Vote",
    abstains: "Abstains",
    read: "Read",

    someFailed: (n: number) => `${count(n, "task")} failed.`,
    someFailedHint: "Try again, or continue without the failed tasks.",
    allFailed: "No member could answer.",
    toolsFailed: "No tool returned a result.",
    allFailedHint: "Try again, or answer without the council.",
    answeredWithout: "The answer was made without the council.",
    retryFailed: "Retry failed tasks",
    goOnWithout: "Continue without them",
    answerPlain: "Answer without the council",
    interrupted: "Conclave was closed while the council worked.",
    interruptedHint: "Finished work is kept; unfinished work starts again.",
    goOn: "Continue",
    goOnCouncil: "Continue with the council",
    soFar: (money: string) => `${money} so far`,
    timeLeft: (time: string) => `${time} left`,
    answerNow: "Answer with what we have",
    leaveIt: "End the run",
    edited: "The chat was changed after this run. The run shows the earlier chat.",
    askChanged: "Answer the changed question",
    changed: (change: string) => `Repeated with one change: ${change}`,
    sideBySide: "Show both",
    notSideBySide: "Show only this run",
    fileRun: "A run from a file",
    fileElsewhere: "Not part of this chat; not saved.",
    fileClose: "Close the file",
    fileFits: "The file is complete.",
    fileDoesNotFit: "The file is incomplete.",

    result: "What the council found",
    agreement: "Agreement",
    disagreement: "Disagreement",
    notChecked: "Not checked",
    // What it means that a point stands there.
    means: {
      agreement: "At least two members agree, and none disagrees.",
      disagreement: "At least one member disagrees.",
      notChecked: "No tool call supports it.",
    },
    agrees: (name: string) => `${name} agrees`,
    // In place of the three parts.
    nothing: "There is nothing to compare: no member listed its points.",
    nothingAtAll: "There is nothing to compare: no member answered.",
    nothingTools: "There is nothing to compare: the members ran tools and made no points.",
    none: {
      agreement: "No point was made by two members.",
      disagreement: "Nobody disagreed.",
      notChecked: "Every point is supported by a tool call.",
    },
    taskSaid: (detail: string) => `Details: ${detail}`,
    missing: "Missing",
    votes: "Votes",
    choice: "Choice",
    score: "Score",
    voteCount: (n: number) =>
      `${Number.isInteger(n) ? n : n.toFixed(1)} ${n === 1 ? "vote" : "votes"}`,
    scored: (n: number) => `scored ${n.toFixed(1)}`,
    // After the number of a point, which leads there.
    inWordsOf: (name: string) => `in the text of ${name}`,
    citation: (name: string, claim: string) => `${name}: ${claim}`,
    resultNote: "Built from the members’ own points. Click one to see it in context.",

    replay: "Replay",
    play: "Play",
    pause: "Pause",
    stepBack: "One step back",
    stepOn: "One step on",
    scrub: "Position in the run",
    position: (at: string, of: string) => `${at} of ${of}`,
    speed: (n: number) => `Speed: ${n} times. Change`,
    again: "Run again with one change…",
    againTitle: "Run again",
    contextShort: "Context",
    againNote:
      "Asks the same question again, unchanged or with one change. “Show both” shows this run next to the new one.",
    everybody: "All members, unchanged",
    change: "Change",
    changeNothing: "Nothing",
    runAgain: "Run again",

    request: "Request",
    requestNumber: (n: number) => `Request ${n}`,
    shownAs: "Shown as",
    blocks: "In order",
    exact: "Exact request",
    exactNote: (size: string) =>
      `The request as sent (${size}), with spaces added for reading. It contains no key.`,
    comparison: "Comparison",
    compareWith: "With",
    copyJSON: "Copy as JSON",
    toldTokens: (n: number, model: string) => `About ${count(n, "token")}, to ${model}`,
    handedTokens: (n: number, tool: string) => `About ${count(n, "token")}, to the tool ${tool}`,
    cutTokens: (n: number) => `${count(n, "token")} ${n === 1 ? "was" : "were"} left out.`,
    sentNothing: "Nothing was sent to a model.",
    source: (source: string) =>
      ({
        system: "System prompt",
        role: "Role",
        memory: "Memory",
        file: "Files",
        turn: "Chat",
        member: "Other members",
        tools: "Its tools",
        call: "Calls",
        nudge: "Hint",
      })[source] ?? source,
    table: {
      member: "Member",
      task: "Task",
      state: "State",
      began: "Began",
      took: "Took",
      tokens: "Tokens",
      cost: "Cost",
      /** In place of the column, where there is no room for it. The time itself stays on one line. */
      beganAt: (after: string) => `Began at ${after.replaceAll(" ", "\u00a0")}`,
    },

    // The chip of the composer, and the line under an answer.
    chip: (n: number, whose: string) =>
      `Council${whose && ` ${whose}`}: ${n ? whole(n) : "no members"}`,
    chipOff: "Ask a council",
    chipOffNote: "Have several models discuss the question before it is answered",
    chipSkipped: "Council skipped once",
    chipOnly: (name: string) => `Asks only ${name}`,
    askOne: "Ask only one member",
    chipNote: "The council is asked before the answer",
    skipOnce: "Skip for this message",
    skipped: "The next message skips the council",
    notSkipped: "The next message goes to the council",
    askAfterAll: "Do not skip",
    turnOffHere: "Turn off in this chat",
    turnOffEverywhere: "Turn off in all chats without their own council",
    show: "Show the council",
    ofChat: "Council and its runs",
    // Said for the letters under an answer; those that agreed are filled.
    lineAgreed: (names: string[]) =>
      names.length ? `Agreed: ${names.join(", ")}` : "No members agreed",
    seatAgreed: (name: string) => `${name} agreed: shares a point and disputes none`,
    seatApart: (name: string) => `${name} shares no point or disputes one`,
    chanceOf: (percent: number) => `takes part in ${percent} % of runs`,
    shareNote: (name: string) => `Estimated cost and time of ${name} in the next run.`,
    weighs: (weight: number) => `vote weight ${weight}`,
    helpedOf: (helped: number, rated: number) => `helped in ${helped} of ${rated}`,
    helpedNote: (name: string, helped: number, rated: number) =>
      `You rated ${count(rated, "point")} of ${name}; ${helped} helped. Rate them in its lane.`,
    unmissed: (name: string, runs: number) =>
      `In its last ${whole(runs)} runs, ${name} made no point that the others did not make too. The council would have reached the same result without it.`,
    // Of those that took part, who came to nothing.
    silent: (n: number, of: number) => (n === of ? "nobody answered" : `${whole(n)} missing`),
    lineWorks: "The council is working",
    lineAsks: "The council is waiting for you",
    keysLocked: "Your keys are locked, so the members cannot be asked.",
    // Said at once by screen readers.
    asksAloud: (why: string) => `The council is waiting for you: ${why}`,
  },

  tools: {
    empty: "No tools yet. Add a plugin.",
    toPlugins: "Open Plugins",
    filter: "Filter tools",
    filterNone: (text: string) => `No tool matches “${text}”.`,
    summary: (n: number, tokens: number, of: number) =>
      of > 0
        ? `${count(n, "tool")}, ${count(tokens, "token")} of ${whole(of)}`
        : `${count(n, "tool")}, ${count(tokens, "token")}`,
    heavy:
      "Tool definitions take more than 15% of what the model can read. Turn off what you do not need.",
    tokens: (n: number) => `about ${count(n, "token")}`,
    lastUsed: (when: string) => `last used ${when}`,
    neverUsed: "never used",
    enable: (title: string) => `Offer ${title} to models`,
    offer: "Offer to models",
    withhold: "Do not offer to models",
    showDefinition: "Show definition",
    hideDefinition: "Hide definition",
    copyName: "Copy name",
    definition: "Definition sent to models",
    wireName: "Name models use",
    place: (file: string, line: number) => (line > 0 ? `${file}, line ${line}` : file),
    // Why a tool cannot be called now; a state of its plugin.
    status: {
      loading: "loading",
      failed: "not loaded",
      disabled: "plugin turned off",
      "needs-approval": "needs your approval",
      quarantined: "paused until you review it",
      "needs-packages": "needs packages",
    } as Record<string, string>,
    paused: "All tools are paused. Nothing runs until you resume.",
    resume: "Resume",
  },

  plugins: {
    empty: "Drop a folder here, or create one from a template.",
    folder: "Open plugins folder",
    filter: "Filter plugins",
    filterNone: (text: string) => `No plugin matches “${text}”.`,
    new: "New from template…",
    newTitle: "New plugin",
    newName: "Name",
    newNamePlaceholder: "Word count",
    newKind: "Kind",
    newOther: "Other ecosystems",
    // Below the name, as it is typed: what will lie in the plugins folder.
    newMakes: (file: string) => `Creates ${file} in your plugins folder.`,
    newNeedsName: "Enter a name first.",
    newNeedsLetters: "The name needs a letter from a to z, since the file is named after it.",
    newCreate: "Create and open",
    add: "Add plugin…",
    addTitle: "Add plugin",
    addFrom: "Address or path",
    addPlaceholder: "https://example.org/name.git",
    addFolder: "Choose folder…",
    addFile: "Choose .zip or file…",
    addNote:
      "The https address of a git repository, a folder, a .zip, or a single .py, .js or .ts file. It is copied into the plugins folder and does not run before you approve it.",
    addNow: "Add",
    adding: "Fetching the plugin",
    addingFor: (seconds: number) => `Fetching, ${seconds} s`,
    addStop: "Stop",
    update: "Update",
    updating: (name: string, from: string) => `Fetching ${name} from ${from}.`,
    state: {
      ready: "Ready",
      loading: "Loading",
      failed: "Not loaded",
      disabled: "Turned off",
      "needs-approval": "Needs your approval",
      quarantined: "Paused for your review",
      "needs-packages": "Needs packages",
    },
    newestFailed: "Latest save not loaded",
    newestWaits: "New version to review",
    loadingFor: (ms: number) => `Loading ${Math.round(ms)} ms`,
    loadedIn: (ms: number) => `loaded in ${Math.round(ms)} ms`,
    toolCount: (n: number) => count(n, "tool"),
    calls: (calls: number, errors: number) =>
      errors > 0 ? `${count(calls, "call")}, ${count(errors, "error")}` : count(calls, "call"),
    // The one-line note after a save: “Reloaded in 84 ms, 3 tools”.
    reloaded: (ms: number, tools: number) =>
      `Reloaded in ${Math.round(ms)} ms, ${count(tools, "tool")}`,
    serving: (time: string) => `Version of ${time} is used`,
    notServing: "None of its tools can be called now.",
    // A few lines of a plugin's file, with the one that is wrong.
    frame: "Location in the file",
    fix: "Fix the error and save the file to load it again.",
    openInEditor: "Open in editor",
    opened: (program: string) =>
      program ? `Opened in ${program}` : "Opened in the default program",
    copyDetails: "Copy details",
    showLog: "Show log",
    reload: "Reload",
    openFolder: "Open folder",
    remove: "Remove",
    enable: (name: string) => `Turn ${name} on`,
    developing: "I am developing this: keep approving my own edits",
    developingShort: "in development",
    missing: (names: string) => `Missing packages: ${names}`,
    approve: "Approve and turn on",
    approveChange: "Approve change",
    // The other yes: for the author of the plugin.
    approveEdits: "Approve my edits too",
    editsNote:
      "“Approve my edits too” is for a plugin that you write: each save is used at once, unless it asks for more permissions or changes what models are shown.",
    keepOld: "Keep the old version",
    turnOff: "Turn off",
    newTitleCard: (name: string) => `“${name}” is new. Review what it can do before it runs.`,
    registeredTitle: (name: string) =>
      `“${name}” registered tools. Review them before models can see them.`,
    changedTitle: (name: string) => `${name} has changed and is paused. Review it to use it.`,
    waitsTitle: (name: string, time: string) =>
      `${name} has a new version. Review it to use it; the version of ${time} is used until then.`,
    asks: "Asks for",
    permissions: "Permissions",
    granted: (n: number, all: number) => `${n} of ${all} granted`,
    permission: {
      risks: {
        low: "low risk",
        medium: "medium risk",
        high: "high risk",
        sandbox: "leaves the sandbox",
      },
      states: { asked: "", granted: "granted", denied: "denied" },
      without: (what: string) => `Without it: ${what}`,
      byHand: "Approving the plugin does not grant this; its card does.",
      byFolder:
        "Allowed one folder at a time: when the plugin tries to use one, its card offers to allow it.",
      grant: "Grant",
      grantNamed: (name: string) => `Grant ${name}`,
      revoke: "Revoke",
      revokeNamed: (name: string) => `Revoke ${name}`,
    },
    folders: {
      heading: "Folders it can access",
      refused: "Folders it cannot access",
      reads: "may read",
      writes: "may read and write",
      bySetting: (name: string) => `from its setting “${name}”`,
      couldNotRead: "It could not read",
      couldNotWrite: "It could not write to",
      allowReading: "Allow reading",
      allowReadingNamed: (path: string) => `Allow reading ${path}`,
      allowWriting: "Allow reading and writing",
      allowWritingNamed: (path: string) => `Allow reading and writing ${path}`,
      revokeNamed: (path: string) => `Revoke ${path}`,
    },
    reach: {
      menu: "What it may reach…",
      title: (name: string) => `What ${name} may reach`,
      nothing: "It runs outside Conclave, or in an engine without network or file access.",
      folders: "Folders and files",
      folder: "Folder or file",
      folderExample: "~/Documents/Notes",
      write: "allow writing",
      addFolder: "Allow folder",
      hosts: "Hosts",
      host: "Host",
      hostExample: "api.example.org",
      below: "and its subdomains",
      addHost: "Allow host",
      ports: "Ports on this computer",
      portsNote: "It can listen on them. Only its own processes can connect.",
      port: "Port",
      portExample: "4711, or 0 for any free port",
      addPort: "Allow port",
      programs: "Programs",
      programsNote:
        "They have the same access as the plugin. Conclave cannot see their arguments, so its tools still ask each time.",
      program: "Program",
      programExample: "git, or /usr/bin/git",
      addProgram: "Allow program",
      secrets: "Secrets",
      secretsNote:
        "Conclave inserts a secret where a header or address that it sends for the plugin contains {{secret:NAME}}. The plugin never sees it.",
      secretName: "Name",
      secretValue: "Secret",
      secretHosts: "Hosts it may be sent to",
      sentTo: (hosts: string) => `sent only to ${hosts}`,
      addSecret: "Add secret",
      revokeNamed: (what: string) => `Revoke ${what}`,
    },
    asksNothing: "It asks for no permissions.",
    asksNothingRemote:
      "It asks Conclave for nothing. Its program runs outside Conclave and can do anything that you can.",
    toolsHeading: "Tools",
    maybeMore: "It may add more tools when it runs; you will be asked about those too.",
    filesHeading: "Files",
    importsHeading: "Imports",
    changesHeading: "What changed",
    codeDiff: "Changed lines",
    codeChanged: "Its code changed. Open it in your editor to read it.",
    change: (tool: string, field: string) => {
      const what = changed[field] ?? field;
      return tool ? `${tool}: ${what}` : what;
    },
    changeBySettings: "Your settings caused this change. Its files are those you approved.",
    listedTitle: (name: string) =>
      `${name} has listed its tools, which could not be read before it ran. Models cannot see them yet.`,
    settingsTitle: (name: string) =>
      `${name} offers different tools with your settings. Models cannot see them yet.`,
    approveTools: "Approve these tools",
    location: "Location",
    address: "Address",
    before: "Before",
    after: "Now",
    moved: "It changed again while you were reading. Review it again.",
    memory: (size: string) => `${size} of memory`,
    shipped: "built in",
    folderTrouble: "The plugins folder cannot be watched.",
    logTitle: (name: string) => `Log of ${name}`,
    logEmpty: "Nothing was logged yet.",
    logLevel: "Show",
    logLevels: {
      debug: "everything",
      info: "info and above",
      warn: "warnings and errors",
      error: "errors only",
    },
    // The level of one line.
    logWords: { debug: "debug", info: "info", warn: "warn", error: "error" },
    logDropped: (n: number) => `${count(n, "older line")} dropped.`,
    logCopy: "Copy log",
    menuFor: (name: string) => `More for ${name}`,
    groups: { attention: "Needs you", on: "On", off: "Turned off" },
  },

  pluginSettings: {
    heading: "Settings",
    save: "Save settings",
    saved: "Saved. Plugin restarted.",
    set: "Set. Type to replace it.",
    remove: (name: string) => `Remove ${name}`,
    removed: "It is removed when you save.",
    onePerLine: "One per line.",
    json: "JSON.",
    wrongJson: (name: string) => `${name} is not valid JSON.`,
    wrongNumber: (name: string) => `${name} is not a number.`,
  },
  packages: {
    needs: "Needs packages",
    optional: "Optional packages",
    heading: (n: number) => count(n, "package"),
    standing: {
      installed: "installed",
      missing: "missing",
      outdated: "wrong version",
      provided: "from Conclave",
      skipped: "not for this machine",
    },
    notNeeded: "optional",
    guessed: "guessed from an import",
    installOne: (name: string) => `Install ${name}`,
    from: (from: string) => `from ${from}`,
    install: (n: number) => `Install ${count(n, "package")} into this plugin’s own environment`,
    again: "Install again",
    resume: "Continue installing",
    where: (index: string, python: string) =>
      `Installed as wheels from ${index}, so none of their code runs during installation, into a folder that only this plugin uses. Python ${python} and other plugins are not changed.`,
    elsewhere: "Also from these sources, named by the plugin:",
    build: "Also packages that exist only as source. Their code runs during installation.",
    stop: "Stop",
    stopped: "Stopped. Downloaded packages are kept.",
    remove: "Remove environment",
    made: (size: string, when: string) => `Its environment uses ${size}, created ${when}.`,
    stale: "It was created for a different package list or Python version.",
    installing: "Installing",
    log: "Installer output",
  },

  settings: {
    title: "Settings",
    back: "Back to chats",
    pages: {
      general: "General",
      models: "Models",
      prices: "Prices",
      permissions: "Permissions",
      plugins: "Plugins",
      council: "Council presets",
      keys: "Keys and shortcuts",
      about: "About",
    },
    theme: "Theme",
    themes: { system: "System", light: "Light", dark: "Dark", contrast: "High contrast" },
    textSize: "Text size of messages",
    textSizeValue: (px: number) => `${px} px`,
    font: "Font of messages",
    fonts: { sans: "Interface font", serif: "Reading font (serif)" },
    sample: "The quick brown fox jumps over the lazy dog, and comes back on Tuesday.",
    send: "Sending",
    sendEnter: "Enter sends",
    sendMod: (mod: string) => `${mod}+Enter sends`,
    follow: "Scroll along with the answer after sending",
    followNote: "Otherwise your question moves to the top and the page stays there.",
    modelTitles: "Let the model name new chats",
    modelTitlesNote:
      "After the first answer, the chat’s model is asked for a title in one more short request. Otherwise the first words become the title.",
    editor: "Editor command",
    editorNote: "{file} and {line} are filled in. Leave empty to use the system’s default.",
    scan: "Look for local models at start",
    scanNote: "Checks only the usual ports on this computer.",
    demo: "Demo chats",
    demoRemove: "Remove demo chats",
    privacy: "No telemetry.",
    folder: "Plugins folder",
    folderNote: (folder: string) =>
      `Every file or folder in ${folder} is a plugin. Save a file and it reloads.`,
    openFolder: "Open folder",
    http: "Let programs register tools",
    httpNote: (port: number) =>
      `Opens port ${port} to programs on this computer, over HTTP like N.E.K.O. Other computers and web pages get no answer. Registered tools need your approval like any plugin.`,
    httpPort: "Port",
    httpPortBad: "A port is a whole number from 1024 to 65535. It was not changed.",
    httpOpen: (address: string, token: boolean) =>
      `Open: programs register at ${address}/api/tools/register${token ? ", with your token" : ""}.`,
    httpClosed: (why: string) => `${why} Conclave keeps trying to open it.`,
    httpOpening: "Opening the port…",
    keysNote: "Click a shortcut, then press the new keys.",
    keysPress: "Press keys, or Esc",
    keysTaken: (label: string) => `Already used by “${label}”.`,
    keysBare: (mod: string) => `Hold ${mod} or Alt with it, or press a function key.`,
    keysReset: "Reset all",
    keysResetShort: "Reset",
    keysResetOne: (label: string) => `Reset ${label}`,
    keysChange: (label: string, keys: string) => `${label}: ${keys}. Change`,
    version: (version: string) => `Version ${version}`,
    data: "Your data",
    logs: "Logs",
    isolation: "Plugin sandbox",
    licence: "Licence",
    quit: "Quit Conclave",
  },

  models: {
    add: "Add a connection",
    empty: "No model is connected yet. Demo guide answers until then.",
    key: "Key",
    keyPaste: "Paste a key",
    keySet: "A key is saved. Paste a new one to replace it.",
    keyGuess: (provider: string) => `This looks like a key of ${provider}.`,
    keyPage: "Where to get a key",
    provider: "Provider",
    titleLabel: "Name",
    url: "Address",
    urlNote: "Leave empty to use the provider’s address.",
    ids: "Model IDs, one per line (for servers that do not list them)",
    test: "Test",
    testing: (host: string) => `Connecting to ${host}…`,
    ok: (ms: number, n: number) => `Answered in ${ms} ms, ${count(n, "model")}`,
    okNone: (ms: number) =>
      `Answered in ${ms} ms, but lists no models. Edit it to add model IDs or to check the address.`,
    notAsked: "Not tested yet",
    remove: "Remove",
    edit: "Edit",
    addAndTest: "Save and test",
    default: "Default model",
    defaultNote: "Used by new chats.",
    scan: "Look for local models",
    scanning: "Searching this computer…",
    scanNone: "No local server answered. Install one, or enter an address.",
    scanUse: "Use",
    scanUsed: "In use",
    scanRow: (version: string, n: number) =>
      [version, count(n, "model")].filter(Boolean).join(" · "),
    builtIn: "Built in",
    count: (n: number) => count(n, "model"),
    capability: { tools: "tools", vision: "pictures", reasoning: "reasoning" },
    context: (n: number) => `${whole(Math.round(n / 1000))}k tokens`,
    setDefault: "Make default",
    isDefault: "Default",
    capabilityOf: (capability: string, model: string) => `${model}: ${capability}`,
    capabilityNote: "Known capabilities. Click one to correct it.",
    passphrase: "Passphrase",
    passphraseChoose: "Choose a passphrase for your keys",
    passphraseRule: "At least 8 characters. A few words are good.",
    passphraseAgain: "Repeat passphrase",
    passphraseDiffers: "The passphrases do not match.",
    passphraseLost:
      "There is no way to recover it. If you forget it, you will have to enter your keys again.",
    passphraseUse: "Use this passphrase",
    unlock: "Unlock keys",
    firstDefault: (model: string) => `New chats now use ${model}.`,
    chooseOther: "Choose another",
    keyOptional: "Key (if required)",
    urlServer: "Server address",
    urlExample: "https://host.example/v1",
  },

  permissions: {
    intro: "What your plugins can do, and your rules.",
    empty: "Nothing has been allowed yet.",
    revoke: "Revoke",
    used: (n: number, when: string) =>
      n === 0 ? "not used yet" : `used ${count(n, "time")}, last ${when}`,
    unreadable: "This rule cannot be read, so it allows nothing.",
    filter: "Filter rules",
    effect: { allow: "Allows", ask: "Asks", deny: "Refuses" },
    ends: {
      once: "used once",
      "this-answer": "ends with the answer",
      "this-chat": "for one chat",
      "this-project": "for one project",
      "until-quit": "ends when Conclave quits",
      always: "always",
    },
  },

  // Tools that run without asking, for a while.
  unattended: {
    open: "Let tools run without asking…",
    title: (minutes: string) => `Let tools run without asking for ${minutes} minutes?`,
    text:
      "Deleting, running programs, using secrets, and sending anything after reading untrusted text will still ask. " +
      "What you refused stays refused. Council members still ask.",
    time: "Time",
    minutes: (n: string) => `${n} minutes`,
    calls: "Maximum calls",
    spend: "Maximum cost, US dollars",
    spendNote: "The cost of models during this time, where the price is known.",
    start: "Let tools run",
    end: "End now",
    clock: (seconds: number) =>
      `Unattended ${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`,
    left: (calls: number) => `${count(calls, "call")} left`,
  },

  welcome: {
    heading: "Talk to models. Keep control.",
    guide: "Demo guide",
    guideNote: "Built in. Runs on this computer. Scripted, not an AI model.",
    // The first and the third are also sent as messages, which Demo guide understands.
    chipPermission: "Show me a permission request",
    chipCouncil: "Run a sample council",
    chipPlugin: "Make a plugin",
    chipModel: "Connect a model",
    suggestions: "Suggestions",
    localTitle: "Use a model on this computer",
    localText: "Ollama, LM Studio, llama.cpp and others, if one is running.",
    keyTitle: "Use a provider key",
    keyText: "Conclave recognizes the provider from the key and tests it.",
    pluginTitle: "Give it a tool",
    pluginText: "A Python or JavaScript file in a folder is enough.",
    pluginButton: "Make a plugin",
    privacy: "No telemetry.",
    ready: "What is on your mind?",
    readyNote: (model: string) => `${model} answers.`,
  },

  palette: {
    label: "Commands, chats and settings",
    placeholder: "Type a command, a chat or a setting",
    none: (text: string) => `Nothing matches “${text}”.`,
    actions: "Actions",
    chats: "Chats",
    tools: "Tools",
    settings: "Settings",
  },

  commands: {
    palette: "Command palette",
    newChat: "New chat",
    find: "Find in this chat",
    searchChats: "Search chats",
    sidebar: "Show or hide the chat list",
    dock: "Show or hide the panel",
    stop: "Stop the answer",
    regenerate: "Regenerate the last answer",
    reviewPermission: "Go to the oldest permission request",
    pause: "Pause or resume all tools",
    settings: "Settings",
    shortcuts: "Keys and shortcuts",
    previousMessage: "Previous message",
    nextMessage: "Next message",
    previousVersion: "Previous version",
    nextVersion: "Next version",
    nextRegion: "Next region",
    previousRegion: "Previous region",
    undo: "Undo",
    zoomIn: "Zoom in",
    zoomOut: "Zoom out",
    zoomReset: "Zoom to 100 %",
    pinnedChat: (n: number) => `Open pinned chat ${n}`,
    themeLight: "Theme: light",
    themeDark: "Theme: dark",
    themeSystem: "Theme: system",
    themeContrast: "Theme: high contrast",
    unattended: "Let tools run without asking",
    endUnattended: "Require approval again",
    newPlugin: "New plugin from template",
    addPlugin: "Add plugin",
    addModel: "Connect a model",
    archive: "Move this chat to the archive",
    rename: "Rename this chat",
    dockWide: "Toggle full-width panel",
    councilTab: "Show the council",
    councilOnce: "Toggle the council for the next message",
    toolsTab: "Show tools",
    pluginsTab: "Show plugins",
    activityTab: "Show activity",
    quit: "Quit Conclave",
  },

  // Sentences of the polite live region.
  status: {
    started: "Answer started",
    finished: (words: number, tools: number) =>
      tools > 0
        ? `Answer finished, ${count(words, "word")}, ${spoken(tools, "tool")} used`
        : `Answer finished, ${count(words, "word")}`,
    stopped: "Answer stopped",
    failed: (why: string) => `Answer failed. ${why}`,
    undone: "Undone",
  },

  zoom: {
    label: "Zoom",
    value: (percent: number) => `Zoom ${percent} %`,
    percent: (percent: number) => `${percent} %`,
    note: (larger: string, smaller: string) =>
      `Scales the whole window. Shortcuts: ${larger} and ${smaller}.`,
  },

  toast: { region: "Notices" },
};
