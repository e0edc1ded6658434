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
  added: "a new tool",
  listed: "offered to models",
  stored: "another plugin under a name you know",
  removed: "no longer there",
  description: "its description",
  parameters: "what it is given",
  title: "its name",
  permissions: "what it asks for",
  annotations: "what it says of its effects",
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
    outside: "This page belongs in the Conclave window.",
    outsideHint: "Run “conclave”, or “npm run dev:fake” to see it with made-up data.",
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
    searching: (percent: number) => `Reading your chats: ${percent} % is searched so far.`,
    nothingFound: (text: string) => `No chat holds “${text}”.`,
    unnamed: "New chat",
    pinned: "Pinned",
    found: "Found",
    today: "Today",
    yesterday: "Yesterday",
    // Marks at the end of a row, read aloud after the title.
    unread: "unread answer",
    running: "answering",
    waiting: "waits for your permission",
    demo: "demo",
    rename: "Rename",
    pin: "Pin",
    unpin: "Unpin",
    toArchive: "Move to archive",
    fromArchive: "Move back to chats",
    delete: "Delete",
    menuFor: (title: string) => `More for ${title}`,
    error: "Chats could not be read. Your file is untouched.",
    // The foot of the list: a dot with a word about the default model's server.
    modelOk: (model: string) => `${model} ready`,
    modelLocked: (model: string) => `Key locked: ${model}`,
    modelFailed: (model: string) => `${model} not reachable`,
    modelAsking: (model: string) => `Asking ${model}…`,
    pause: "Pause all tools",
    paused: "Tools are paused. Resume",
    settings: "Settings",
    hide: "Hide the chat list",
    show: "Show the chat list",
  },

  chat: {
    rename: "Rename this chat",
    titleLabel: "Title of this chat",
    model: "Model",
    chooseModel: (model: string) => `Model: ${model}. Change`,
    searchModels: "Search models",
    noModels: (text: string) => `No model matches “${text}”.`,
    addModel: "Connect a model…",
    system: "System text…",
    systemTitle: "System text of this chat",
    sources: "Where its text came from…",
    sourcesTitle: "Where text in this chat came from",
    sourcesNote:
      "You and its model did not write this. It may tell the model what to do, so whatever could carry something out of this chat is asked about each time, until you trust the source.",
    sourcesNone: "Nothing in this chat came from outside.",
    sourceTrust: "Trust in this chat",
    sourceTrustNamed: (source: string) => `Trust ${source} in this chat`,
    sourceTrusted: "trusted in this chat",
    sourceBack: "Take back",
    sourceBackNamed: (source: string) => `Trust ${source} no more`,
    systemNote: "Sent before the first message of every request in this chat.",
    project: "Project…",
    projectOf: (folder: string) => `Project ${folder}. Change`,
    projectTitle: "Project of this chat",
    projectNote:
      "A folder that the chat is about. Permissions and a council may hold for all chats of one project; no tool may reach a folder because of it. Chats begun in a terminal are of the folder they were begun in.",
    projectFolder: "Folder",
    projectNone: "None",
    projectChoose: "Choose folder…",
    menu: "More for this chat",
    find: "Find in this chat",
    findPlaceholder: "Find in this chat",
    findCount: (at: number, all: number) => `${whole(at)} of ${whole(all)}`,
    findNone: "Nothing found",
    findNext: "Next place",
    findPrevious: "Previous place",
    showDock: "Show the panel",
    noTools: (model: string) => `${model} cannot call tools, so none are offered to it.`,
    loadFailed: "This chat could not be opened.",
    // The pill above the composer while an answer grows below the view.
    newParagraphs: (n: number) => `↓ ${count(n, "new paragraph")}`,
    toEndPill: "↓ To the end",
    untitledEdit: "Leave empty to let the first message name it.",
  },

  // Two texts line by line.
  diff: {
    removed: "removed",
    added: "added",
    onlyIn: (name: string) => `only ${name}`,
    same: (n: number) => `${count(n, "line")} the same`,
  },

  // What hooks of plugins did to an answer, its requests and its calls.
  hooks: {
    title: "What hooks changed",
    show: "Show what hooks of plugins did here",
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
      approve: "may it run?",
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
        "": "looked, and changed nothing",
        changed: step.plugin === "conclave" ? "were given their values" : `changed ${what}`,
        answered: "answered in place of the tool",
        own: "answers the call itself",
        instead: "wanted to answer in place of the tool",
        asked: "had you asked about the call",
        denied: "denied the call",
        stopped: "called the answer off",
        failed: `failed, ${instead}`,
        "timed out": `took too long, ${instead}`,
      }[step.action];
    },
    lead: (things: HookedThing[]) => {
      const steps = things.flatMap((thing) => thing.steps);
      if (steps.length === 0)
        return "No hook of a plugin looked at this answer, its requests or its calls. What hooks do to an answer is listed here.";
      if (steps.every((step) => step.action === ""))
        return `${steps.length === 1 ? "One hook" : `${whole(steps.length)} hooks`} looked, and changed nothing.`;
      return "In the order in which they ran, each with what the one before it left.";
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
          ["had you asked", who("asked", "instead")],
          ["called this off", who("stopped")],
          ["failed", who("failed")],
          ["took too long", who("timed out")],
        ] as const
      )
        .flatMap(([did, whose]) => (whose ? [`${whose} ${did}`] : []))
        .join(" · ");
    },
    // Above the requests of an answer, which are rebuilt from the chat.
    without:
      "Hooks of plugins worked on this answer. These requests are without what they changed.",
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
    interrupted: "Conclave ended while this was being written. What had come is kept.",
    notBegun: "Conclave ended before this was answered.",
    cutOff: "Conclave ended before this answer was finished.",
    limit: "The limit of tool rounds was reached.",
    failedTitle: "This answer could not be finished.",
    // The server's own words, which are not Conclave's.
    failedSaid: (words: string) => `It said: “${words}”`,
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
    mathFailed: "This formula could not be drawn. It is shown as it was written.",
    pictureLoading: (host: string) => `Loading from ${host}…`,
    // Under an answer.
    costNote: (u: { input_tokens: number; output_tokens: number; priced: string }) =>
      `${count(u.input_tokens, "token")} sent, ${whole(u.output_tokens)} received. ${s.cost.by(u.priced)}`,
    infoTitle: "How this answer was made",
    infoRequest: (n: number, of: number) => (of > 1 ? `Request ${n} of ${of}` : "Request"),
    infoBody: "Exact request",
    infoRebuilt: "Rebuilt request",
    infoIsRebuilt:
      "This request was not kept. It is rebuilt from the chat, and may differ from what was sent.",
    infoTime: "Time",
    infoIn: "Tokens sent",
    infoOut: "Tokens received",
    infoCost: "Cost",
    infoNotTold: "not told",
    media: (name: string) => `Attachment ${name}`,
    file: (kind: string) => `a file (${kind})`,
    save: (name: string) => `Save ${name}`,
  },

  cost: {
    none: "no cost",
    under: "under $0.001",
    unknown: "cost not known",
    atLeast: (dollars: string) => `at least ${dollars}`,
    // Where the cost is from.
    by: (priced: string) =>
      priced === "local"
        ? "A model of this computer costs nothing."
        : priced === "own"
          ? "The cost is by your own prices."
          : priced
            ? `The cost is by the prices of ${priced}; see Settings > Prices.`
            : "",
    chat: (tokens: number, money: string) => `${count(tokens, "token")} · ${money}`,
    chatNote: "Everything that was asked of models for this chat so far",
  },

  prices: {
    intro:
      "What a million tokens cost, in US dollars. Each answer keeps what it cost when it was made; a change here holds from now on.",
    own: "Your prices",
    builtIn: (date: string) => `Built-in prices, as of ${date}`,
    builtInNote:
      "Read from the vendors' pages, for their standard service and requests of ordinary length. A bill can differ. Models of this computer cost nothing.",
    model: "Model",
    input: "Sent",
    output: "Received",
    cached: "Sent, cached",
    of: (what: string, model: string) => (model ? `${what}: ${model}` : what),
    add: "Add a price",
    remove: (model: string) => (model ? `Remove the price of ${model}` : "Remove"),
    filter: "Filter models",
    none: "–",
    cap: "What each plugin may spend in a day",
    capNote:
      "In US dollars, on the models that you let it ask. A plugin that has spent it asks you. Models of this computer cost nothing.",
    tokensCap: "Tokens of models without a known price",
    tokensCapNote: "How many each plugin may use in a day before it asks you.",
  },

  presets: {
    intro:
      "Councils to choose from in the panel. Choosing one sets a copy of it: what is changed there leaves the preset as it is.",
    own: "Yours",
    none: "None yet. Save a council by a name in its panel, duplicate one of those below, or read one from a file.",
    builtIn: "With Conclave",
    manage: "Rename, copy or delete presets…",
    rename: "Rename…",
    newName: (name: string) => `Another name for ${name}`,
    added: (name: string) => `${name} is among your presets now.`,
  },

  composer: {
    // A message written while an answer streams waits for it.
    queue: "Queue",
    queueNote: "Sends it when this answer is done",
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
      `The file ${name} has more than 20 MiB, the most that is taken. Choose a smaller file, or a part of it.`,
    noVision: (model: string) =>
      `${model} is not known to see pictures; it would be told their names only.`,
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
    nameAgain: (name: string, n: number) => `${name} (written again, ${n})`,
    output: "Output",
    plain: "Plain",
    json: "JSON",
    noOutput: "It answered nothing.",
    cut: (n: number) => `${count(n, "more character")} ${n === 1 ? "is" : "are"} not shown.`,
    hiddenRemoved: (n: number) => `${count(n, "hidden character")} removed`,
    viewHidden: "View",
    hideHidden: "Back to the cleaned text",
    why: "Why was this allowed?",
    whyNot: "Why was this decided?",
    printed: "Printed",
    error: "Error",
    traceback: "Traceback",
    digest: "Definition",
    caller: "Asked by",
    // Of a call that the model made for a member of the council.
    forMember: (name: string, title: string) => `For ${name}: ${title}`,
    expired: "No answer in 10 minutes, so it was not run.",
    askAgain: "Ask again",
    revoke: "Take the permission back",
    rawArguments: "The model wrote this instead of a JSON object",
    seconds: (ms: number) => (ms < 1000 ? `${Math.round(ms)} ms` : lasted(ms)),
  },

  permission: {
    // Said at once by screen readers when a request arrives.
    alert: (title: string, keys: string) => `Permission needed: ${title}. Press ${keys} to review.`,
    action: "What exactly",
    rewritten: "What was asked for, and what hooks made of it",
    willRun: "What would run",
    previewLeft: (n: number) => (n === 1 ? "and one line more" : `and ${n} lines more`),
    edit: "Edit before allowing",
    editDone: "Use as asked",
    editBad: "This is not a JSON object yet.",
    notNow: "Not now",
    allowOnce: "Allow once",
    allowMore: "Allow more…",
    details: "Show details",
    noDetails: "Hide details",
    ignored: "Not taken: the card had just moved. Press again.",
    deny: "More ways to refuse",
    denyWhy: "Not allowed, and say why…",
    never: "Never for this tool",
    /** Of a host, a folder, or what models cost. */
    neverThis: "Never allow this",
    reasonLabel: "What the model should know",
    reasonSend: "Refuse with this reason",
    /** Of what is allowed for longer than once; never ticked for the person. */
    council: "Also when other members of the council ask",
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
      "this-answer": "ends when the answer is complete",
      "this-chat": "every call of this tool here, until you take it back",
      "this-project": "in all chats of a project, until you take it back",
      "until-quit": "in all chats, ends when Conclave quits",
      always: "in all chats, until you take it back",
      only: "other calls of this tool still ask",
      /** For this chat, of a host or a folder. */
      here: "in this chat, until you take it back",
    },
    ofProject: (folder: string) => `in all chats of ${folder}, until you take it back`,
    trust: (source: string) => `Once, and trust ${source} in this chat`,
    hereEnds: "ends when text of others comes into the chat",
    trustEnds: "it is no reason to ask here any more, until you take it back",
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
      person: "a run of your own",
    } as Record<string, string>,
    hurried: (words: string) =>
      `You allowed five requests in a row within a second each. To be asked less: allow ${words}.`,
    batchMixed: (n: number, names: string[], folder: string) =>
      `${n} requests${folder && ` in ${folder}`}: ${names.join(", ")}`,
    reviewEach: "Review each",
    denyAll: "Not now, for all",
    hidden: (n: number) => `${count(n, "hidden character")} removed.`,
    // Of where they stood.
    marks: "Characters that nobody sees, or that look like others",
    viewMarks: "View",
    hideMarks: "Hide",
    settled: "This request was already answered.",
    grew: "Another request was added to this one. Look at it again.",
    waitingCount: (n: number) => `${count(n, "permission request")} waiting`,
    none: "No permission request is waiting.",
    /** What a plugin asks for while it works on nobody's call, or on calls of several chats. */
    ofNone: "Permission requests that belong to no chat",
    arming: "Allow becomes available in a moment",
    program: "Runs a program on your computer.",
    expiresAt: (time: string) => `Not run unless you answer by ${time}.`,
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
    waits: (name: string) => `A new version of ${name} waits for you.`,
    failed: (name: string) => `The newest save of ${name} does not load.`,
    listed: (title: string) => `${title}.`,
    packages: (name: string) => `${name} needs packages.`,
    several: (n: number) => `${count(n, "plugin")} need you.`,
    review: "Review",
    later: "Not now",
  },

  dock: {
    council: "Council",
    wide: "Use the whole width",
    narrow: "Beside the conversation",
    tools: "Tools",
    plugins: "Plugins",
    activity: "Activity",
    close: "Close the panel",
    pendingBadge: (n: number) => `${count(n, "request")} waiting`,
    problemBadge: (n: number) => `${count(n, "plugin")} with a problem or a question`,
  },

  // What tools did.
  activity: {
    whichChats: "Of which chats",
    thisChat: "This chat",
    allChats: "All chats",
    plugin: "Of which plugin",
    allPlugins: "All plugins",
    pending: "Waiting for you",
    answer: "Answer",
    record: "On record",
    export: "Export",
    exported: (path: string) => `Written to ${path}`,
    empty: "No tool has run yet.",
    emptyChat: "No tool has run in this chat.",
    older: "Show older",
    by: (who: string, plugin: string) => (plugin ? `${who} · ${plugin}` : who),
    sent: (what: string) => `sent ${what}`,
    inChat: (title: string) => `in “${title}”`,
    entry: (n: number) => `Entry ${whole(n)}`,
    took: (time: string, size: string) => `took ${time}, answered ${size}`,
    digest: "digest",
    toChat: "Go to the chat",
    outcomes: {
      asked: "Asked",
      running: "Running",
      ok: "Done",
      raised: "Failed",
      refused: "Refused",
      cancelled: "Stopped",
      unknown: "No such tool",
      bad_arguments: "Wrong arguments",
      timeout: "Too slow",
      died: "Broke off",
      paused: "Paused",
      limit: "Limit reached",
    },
  },

  // Files that calls changed, and their old versions.
  undo: {
    undo: "Undo",
    redo: "Redo",
    undone: (time: string) => `Undone, ${time}.`,
    partial: "Undone in part: some of the files are as before the call.",
    notKept: (why: string) => `cannot be put back: ${why}`,
    more: (n: number) => `and ${whole(n)} more`,
    gone: "The old versions of the files that it changed are no longer kept.",
    title: "Old versions of files",
    intro: (days: number) =>
      `Before a call may write in a folder that you gave a plugin, its files are kept as they are. What the call changed or deleted can be put back for ${days} days.`,
    kept: (n: number, since: string, size: string) =>
      `${n === 1 ? "One change" : `${whole(n)} changes`} since ${since}: ${size} of old versions.`,
    copies: (size: string) => `${size} of copies of the folders as they are.`,
    nothing: "No old version is kept.",
    empty: "Remove all",
    really: "Remove them for good",
  },

  // Members that deliberate before the main model answers.
  council: {
    use: "Council in this chat",
    useEverywhere: "In all chats without their own council",
    ofAll: "of all chats",
    ofProject: "of the project",
    menu: "More for the council",
    mode: "How the members work together",
    modes: {
      opinions: "Independent answers",
      review: "Answers, then unsigned review",
      vote: "Answers, then a secret vote",
      advocate: "One drafts, the others object",
      relay: "One after another",
      tools: "Each uses its tools",
    },
    modeNotes: {
      opinions: "Each member answers by itself; the chat’s model writes the answer.",
      review: "Each answers, then looks at the others’ answers without knowing whose they are.",
      vote: "Each answers, then votes. No vote is shown before all members have voted.",
      advocate: "The first member writes a draft, and the others object to it.",
      relay: "Each member sees the answer of the one before it.",
      tools: "Each member runs the tools you gave it and reports; none writes its own answer.",
    },
    inlineNote:
      "The model that answers is offered the members’ tools, and calls them in the conversation.",
    presets: "Presets",
    savePreset: "Save as a preset…",
    deletePreset: (name: string) => `Delete the preset ${name}`,
    presetName: "Name of the preset",
    chosen: (name: string) => `${name} is set in this chat`,
    importCouncil: "Read a council from a file…",
    exportCouncil: "Save the council as a file…",
    openRun: "Open the file of a run…",
    clear: "Forget what is set here",
    cleared: "What was set here is forgotten",
    everywhere: "Applies to all chats without their own council.",
    inProject: "Applies to all chats of this project without their own council.",
    // Before sending: what a run may come to.
    about: (what: string) => `about ${what}`,
    cap: (money: string) => `cap ${money}`,
    atMost: (what: string) => `at most ${what}`,
    estimateNote: "Estimated from the words so far and the prices you have set",
    estimatedAt: (money: string) => `(estimated ${money})`,
    tokens: (n: number) => count(n, "token"),
    tokensInOut: (sent: number, received: number) =>
      `${count(sent, "token")} sent, ${whole(received)} received`,

    members: "Members",
    nobody: "nobody yet",
    empty: "No members yet. Choose a council to begin with, or add members one by one.",
    sample: "Run a sample council",
    sampleNote: "Demo guide plays three members. Scripted, offline and free; the tools are real.",
    add: "Add member",
    addAnother: "Add another member",
    importMember: "Read one from a file…",
    newName: (n: number) => `Member ${n}`,
    copyOf: (name: string) => `${name} 2`,
    unnamed: "Without a name",
    off: "Off",
    turnOn: "Turn on",
    turnOff: "Turn off",
    edit: "Edit",
    closeMember: "Close",
    duplicate: "Duplicate",
    remove: "Remove",
    exportMember: "Save as a file…",
    moveUp: "Move up",
    moveDown: "Move down",
    moved: (name: string, to: number, of: number) => `${name} is ${to} of ${of}`,
    removed: (name: string) => `${name} was removed.`,
    memberMenu: (name: string) => `More for ${name}`,
    // The grip by which a member is dragged; arrow keys move it too.
    handle: (name: string) => `Move ${name}: arrow up or down`,
    handleNote: "Drag, or press the arrow keys, to move",
    helperModel: "The helper’s model",
    helperIs: (title: string) => `The helper’s model: ${title}`,
    throughHelper: "It has no model and uses the helper’s",
    noModel: "No model",
    chatModel: "The chat’s model",
    modelGone: (name: string) => `${name} (not there any more)`,
    modelWithoutTools: (title: string) => `${title} (calls no tools)`,
    toldNow: (n: number) => `Sees about ${count(n, "token")} of this chat now.`,
    toolsOf: (name: string) => `Tools of ${name}`,
    takeTool: (tool: string, name: string) => `Take ${tool} from ${name}`,
    allTools: "Tools for members",
    shelfNote: "Drag a tool to a member, or press it to choose who gets it.",
    giveTool: (tool: string) => `Give ${tool} to…`,
    giveTo: (name: string) => `Give to ${name}`,
    takeFrom: (name: string) => `Take from ${name}`,
    given: (tool: string, name: string) => `${name} now has ${tool}`,
    taken: (tool: string, name: string) => `${name} no longer has ${tool}`,
    builtIn: "Built in",
    needsHelper: "The helper model writes for it.",
    notInline: "It is a prompt, which the model that answers cannot call.",
    toolsModeAlone: "It works in the mode “Each uses its tools” alone.",
    promptsElsewhere: (n: number) =>
      `In the mode “Each uses its tools” there ${n === 1 ? "is one more, which comes" : `are ${whole(n)} more, which come`} with the council.`,
    notEligible: (n: number) => `${count(n, "tool")} no member can be given`,
    toolGone: (id: string) => `The tool ${id} is not there.`,
    form: {
      name: "Name",
      role: "Role",
      model: "Model",
      context: "What it sees of the chat",
      tools: "Tools",
      limits: "Limits of one run",
      none: "none",
      tokens: "Tokens",
      seconds: "Seconds",
      money: "US dollars",
      chance: "Chance, %",
      weight: "Weight of its vote",
      persona: "Persona and sampling",
      definition: "Who it is",
      personality: "How it is",
      behavior: "How it works",
      temperature: "Temperature",
      topP: "Top-p",
      maxTokens: "Longest answer, tokens",
      reasoning: "How much it thinks before it answers",
      efforts: {
        "": "As the model does by itself",
        off: "Not at all",
        low: "A little",
        medium: "Some",
        high: "Much",
      },
      color: "Colour",
      picture: "Choose a picture…",
      noPicture: "Take it away",
      cap: "Cap of one answer, US dollars",
      capNote: (n: number) =>
        `Under a cap a member writes at most ${count(n, "token")} at once, thinking included, unless its longest answer is set.`,
      capTokens: "Cap of one answer, tokens",
      deadline: "Deadline, seconds",
      parallel: "Members at once",
      rounds: "Rounds",
      chair: "Who writes the answer",
      helper: "Helper model",
      early: "No review once the answers agree",
      choices: "Choices, one per line",
      choicesNone: "Between the members’ answers",
      toolMode: "How tools are run",
      sidecar: "Before the answer, by the members",
      inline: "In the answer, by the model that writes it",
      scope: "Where this council applies",
      plan: "The helper model writes its arguments",
      planNote:
        "Otherwise it is handed the chat in their place, and may not find what it asks for.",
      older: "Earlier results that the answer sees",
      window: "Messages that each sees",
      all: "all",
      timeout: "Seconds for each tool",
      words: "Words of each result",
      withoutLatest: "Nothing of your newest message",
      // Under this heading, what is ticked.
      toolsTold: "What members’ tools see, and may do",
      userPersona: "Who you are in the chat",
      character: "The chat’s characters",
      worldInfo: "The chat’s world",
      userControl: "Suggest what you do next",
      retain: "Keep their results when the question is answered again",
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
        "": "As the mode has it",
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
        })[policy] ?? "As the mode has it",
      last: "How many",
      system: "System text",
      memory: "Memory and characters",
      others: "Other members’ words",
      files: "Attachments",
    },

    runSettings: "Limits, chair and helper",
    noRuns: "No run yet. The next message you send asks the council.",
    noRunsInline: "The calls of members’ tools stand in the conversation; there is no run to show.",
    runBefore: (moment: string) => `before the change, from ${moment}`,
    runFrom: (moment: string) => `Run from ${moment}`,
    working: "The council works",
    runMenu: "More for this run",
    chooseRun: "Which run",
    lanes: "Lanes of the members",
    asTable: "As a table",
    asLanes: "As lanes",
    exportRun: "Save this run as a file…",
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
    satOut: "Sits out",
    cutOff: "Cut off",
    noPicture: (file: string) =>
      `The picture ${file} could not be read. Choose another: PNG, JPEG, WebP or GIF.`,
    roll: (roll: number, chance: number) => `Threw ${roll.toFixed(1)}, takes part under ${chance}.`,
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
    openLane: "Open the lane",
    closeLane: "Fold the lane",
    nudge: "Nudge…",
    nudgeLabel: (name: string) => `What ${name} should know; it begins again`,
    nudgeSend: "Begin again",
    anew: "Run this member again…",
    changeCap: "Change the cap",
    chooseHelper: "Choose a helper model",
    askAgain: "Ask the council again",
    skip: "Skip",
    retry: "Retry",
    stop: "Stop",
    finish: "Finish with what we have",
    see: (name: string) => `What did ${name} see?`,
    theCall: "Its input",
    taskOf: (kind: string, name: string) => `${kind} of ${name}`,
    attempt: (n: number) => `attempt ${n}`,
    // Both are times: “12.0 s, 10.0 s of it waiting for you”.
    askedFor: (all: string, asked: string) => `${all}, ${asked} of it waiting for you`,
    sealed: "The vote is hidden until all members have voted.",
    wordsOf: (name: string) => `Words of ${name}`,
    points: "Points",
    basis: (basis: string, source: string) =>
      basis === "tool"
        ? `from the tool ${source}`
        : basis === "given"
          ? source
            ? `from ${source}`
            : "from what it was given"
          : "from its own knowledge",
    helped: (point: string) => `${point} helped`,
    didNotHelp: (point: string) => `${point} did not help`,
    // Above the words of a review, which name the others by letters: “a is Maker”.
    drawn: (letters: string[]) =>
      `Written without knowing whose the answers were: in it ${letters.join(", ")}.`,
    letterIs: (letter: string, name: string) => `${letter} is ${name}`,
    stances: "Of the others’ points",
    stance: { agree: "agrees", disagree: "disagrees", unsure: "is not sure" } as Record<
      string,
      string
    >,
    ballot: "Its vote",
    abstains: "Abstains",
    read: "Read",

    someFailed: (n: number) => `${count(n, "task")} failed.`,
    someFailedHint: "Try again, or go on without what failed.",
    allFailed: "No member could answer.",
    toolsFailed: "No tool returned a result.",
    allFailedHint: "Try again, or have the answer made without the council.",
    answeredWithout: "The answer was made without the council.",
    retryFailed: "Retry what failed",
    goOnWithout: "Go on without",
    answerPlain: "Answer without the council",
    interrupted: "Conclave was closed while the council worked.",
    interruptedHint: "Finished work stays; work under way begins again.",
    goOn: "Go on",
    goOnCouncil: "Go on with the council",
    soFar: (money: string) => `${money} so far`,
    timeLeft: (time: string) => `${time} left`,
    answerNow: "Answer with what there is",
    leaveIt: "Leave it",
    edited: "The chat was changed after this run; the run shows what was there then.",
    askAnew: "Answer the question as it is now",
    changed: (change: string) => `Done again with one change: ${change}`,
    beside: "Show both",
    notBeside: "Show this one alone",
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
      notChecked: "Every point rests on a tool that was called.",
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
    inWordsOf: (name: string) => `in the words of ${name}`,
    citation: (name: string, claim: string) => `${name}: ${claim}`,
    resultNote: "Made of the members’ own points. Press one to read it where it was said.",

    replay: "Replay",
    play: "Play",
    pause: "Pause",
    stepBack: "One step back",
    stepOn: "One step on",
    scrub: "Time of the run",
    position: (at: string, of: string) => `${at} of ${of}`,
    speed: (n: number) => `Speed: ${n} times. Change`,
    again: "Run again with one change…",
    againTitle: "Run again",
    contextShort: "Context",
    againNote:
      "The same question and the same council, or all but one thing. “Show both” sets this run beside the new one.",
    everybody: "Everybody, as they were",
    change: "What is changed",
    changeNothing: "Nothing",
    runAgain: "Run again",

    request: "Request",
    requestNumber: (n: number) => `Request ${n}`,
    shownAs: "Shown as",
    blocks: "In order",
    exact: "Exact request",
    exactNote: (size: string) =>
      `What was sent, ${size}; spaces are added to read it. It holds no key.`,
    comparison: "Compared",
    compareWith: "With",
    copyJSON: "Copy as JSON",
    toldTokens: (n: number, model: string) => `About ${count(n, "token")}, to ${model}`,
    handedTokens: (n: number, tool: string) => `About ${count(n, "token")}, to the tool ${tool}`,
    cutTokens: (n: number) => `${count(n, "token")} ${n === 1 ? "was" : "were"} left out.`,
    sentNothing: "Nothing was sent to a model.",
    source: (source: string) =>
      ({
        system: "System text",
        role: "Role",
        memory: "Memory",
        file: "Files",
        turn: "Chat",
        member: "Other members",
        tools: "Its tools",
        call: "Calls",
        nudge: "Nudge",
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
      `Council${whose && ` ${whose}`}: ${n ? whole(n) : "nobody in it"}`,
    chipOff: "Ask a council",
    chipOffNote: "Have several models look at the question before it is answered",
    chipSkipped: "Council skipped once",
    chipOnly: (name: string) => `Asks ${name} alone`,
    askOne: "Ask one member alone",
    chipNote: "The council that is asked before the answer",
    skipOnce: "Skip it for this message",
    skipped: "The next message goes without the council",
    notSkipped: "The next message goes to the council after all",
    askAfterAll: "Ask it after all",
    turnOffHere: "Turn it off in this chat",
    turnOffEverywhere: "Turn it off in all chats without their own council",
    show: "Show the council",
    ofChat: "Council and its runs",
    // Said for the letters under an answer; those that agreed are filled.
    lineAgreed: (names: string[]) =>
      names.length ? `Agreed: ${names.join(", ")}` : "Nobody agreed with another",
    seatAgreed: (name: string) => `${name} agreed: it shares a point, and speaks against none`,
    seatApart: (name: string) => `${name} shares no point, or speaks against one`,
    chanceOf: (percent: number) => `takes part in ${percent} %`,
    shareNote: (name: string) => `What the work of ${name} may come to in the next run.`,
    weighs: (weight: number) => `its vote counts ${weight}`,
    helpedOf: (helped: number, rated: number) => `helped in ${helped} of ${rated}`,
    helpedNote: (name: string, helped: number, rated: number) =>
      `You rated ${count(rated, "point")} of ${name}; ${helped} helped. Rate them in its lane.`,
    unmissed: (name: string, runs: number) =>
      `In its last ${whole(runs)} runs ${name} said nothing that no other member said. The council would come to the same without it.`,
    // Of those that took part, who came to nothing.
    silent: (n: number, of: number) => (n === of ? "nobody answered" : `${whole(n)} missing`),
    lineWorks: "The council works",
    lineAsks: "The council waits for you",
    keysLocked: "The file with your keys is locked, so its members cannot be asked.",
    // Said at once by screen readers.
    asksAloud: (why: string) => `The council waits for you: ${why}`,
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
    definition: "Definition, as models are given it",
    wireName: "Name models use",
    place: (file: string, line: number) => (line > 0 ? `${file}, line ${line}` : file),
    // Why a tool cannot be called now; a state of its plugin.
    status: {
      loading: "loading",
      failed: "not loaded",
      disabled: "plugin turned off",
      "needs-approval": "waits for your approval",
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
    newMakes: (file: string) => `Makes ${file} in your plugins folder.`,
    newNeedsName: "Give it a name first.",
    newNeedsLetters: "The file is named after it, so the name needs a letter from a to z.",
    newCreate: "Create and open",
    add: "Add plugin…",
    addTitle: "Add plugin",
    addFrom: "Address or path",
    addPlaceholder: "https://example.org/name.git",
    addFolder: "Choose folder…",
    addFile: "Choose .zip or file…",
    addNote:
      "The https address of a git repository, a folder, a .zip, or a single .py, .js or .ts file. It is copied into the plugins folder, and none of it runs before you approve it.",
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
    newestFailed: "Newest save not loaded",
    newestWaits: "New version waits",
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
    frame: "The place in the file",
    mend: "It is loaded again as soon as the file is saved without the mistake.",
    openInEditor: "Open in editor",
    opened: (program: string) =>
      program ? `Opened in ${program}` : "Opened in the system’s program for such files",
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
      "“Approve my edits too” is for a plugin that you write: what you save is used at once, unless it asks for more or tells a model other words.",
    keepOld: "Keep the old version",
    turnOff: "Turn off",
    newTitleCard: (name: string) => `“${name}” is new. Read what it can do before it runs.`,
    registeredTitle: (name: string) =>
      `“${name}” registered tools. Read what they are before a model is told.`,
    changedTitle: (name: string) => `${name} now describes itself differently. It is paused.`,
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
        wall: "opens its walls",
      },
      states: { asked: "", granted: "granted", denied: "denied" },
      without: (what: string) => `Without it: ${what}`,
      byHand: "Approving the plugin does not grant it; its card does.",
      byFolder:
        "Allowed one folder at a time: when it reaches for one, its card offers to allow that folder.",
      grant: "Grant",
      grantNamed: (name: string) => `Grant ${name}`,
      revoke: "Take back",
      revokeNamed: (name: string) => `Take back ${name}`,
    },
    folders: {
      heading: "Folders it may reach",
      refused: "Folders it may not reach",
      reads: "may read",
      writes: "may read and write",
      bySetting: (name: string) => `because its setting “${name}” names it`,
      couldNotRead: "It could not read",
      couldNotWrite: "It could not write to",
      allowReading: "Allow reading",
      allowReadingNamed: (path: string) => `Allow reading ${path}`,
      allowWriting: "Allow reading and writing",
      allowWritingNamed: (path: string) => `Allow reading and writing ${path}`,
      takeBackNamed: (path: string) => `Take back ${path}`,
    },
    reach: {
      menu: "What it may reach…",
      title: (name: string) => `What ${name} may reach`,
      nothing: "It runs outside of Conclave, or in an engine that reaches nothing by itself.",
      folders: "Folders and files",
      folder: "Folder or file",
      folderExample: "~/Documents/Notes",
      write: "to write too",
      addFolder: "Allow folder",
      hosts: "Hosts",
      host: "Host",
      hostExample: "api.example.org",
      below: "and names below it",
      addHost: "Allow host",
      ports: "Ports of this computer",
      portsNote: "It may listen there. Only its own processes can connect.",
      port: "Port",
      portExample: "4711, or 0 for any that is free",
      addPort: "Allow port",
      programs: "Programs",
      programsNote:
        "They can use what the plugin can use. Conclave cannot see what it starts them with, so its tools still ask each time.",
      program: "Program",
      programExample: "git, or /usr/bin/git",
      addProgram: "Allow program",
      secrets: "Secrets",
      secretsNote:
        "Conclave puts them in where a header or an address that it sends for the plugin says {{secret:NAME}}. The plugin never sees them.",
      secretName: "Name",
      secretValue: "Secret",
      secretHosts: "Hosts it may be sent to",
      sentTo: (hosts: string) => `sent to ${hosts} alone`,
      addSecret: "Give secret",
      takeBackNamed: (what: string) => `Take back ${what}`,
    },
    asksNothing: "It asks for nothing beyond its own code.",
    asksNothingRemote:
      "It asks Conclave for nothing. Its program runs outside of Conclave, and may do whatever you may.",
    toolsHeading: "Tools",
    maybeMore: "Running it may add more tools; those will be asked about too.",
    filesHeading: "Files",
    importsHeading: "Uses",
    changesHeading: "What changed",
    codeDiff: "Changed lines",
    codeChanged: "Its code changed. Open it in your editor to read it.",
    change: (tool: string, field: string) => {
      const what = changed[field] ?? field;
      return tool ? `${tool}: ${what}` : what;
    },
    changeBySettings: "Your settings made what is different. Its files are those you approved.",
    listedTitle: (name: string) =>
      `${name} shows what it offers, which could not be read before it ran. No model is told yet.`,
    settingsTitle: (name: string) =>
      `${name} offers other tools with your settings. No model is told of them yet.`,
    approveTools: "Approve these tools",
    lies: "Lies in",
    answersAt: "Answers at",
    before: "Before",
    after: "Now",
    moved: "It changed again while you were reading. Look once more.",
    memory: (size: string) => `${size} of memory`,
    shipped: "comes with Conclave",
    folderTrouble: "The plugins folder cannot be watched.",
    logTitle: (name: string) => `Log of ${name}`,
    logEmpty: "Nothing was logged yet.",
    logLevel: "Show",
    logLevels: {
      debug: "everything",
      info: "info and worse",
      warn: "warnings and errors",
      error: "errors only",
    },
    // The level of one line.
    logWords: { debug: "debug", info: "info", warn: "warn", error: "error" },
    logDropped: (n: number) => `${count(n, "older line")} no longer kept.`,
    logCopy: "Copy log",
    menuFor: (name: string) => `More for ${name}`,
    groups: { attention: "Needs you", on: "On", off: "Turned off" },
  },

  pluginSettings: {
    heading: "Settings",
    save: "Save settings",
    saved: "Saved. The plugin was started anew.",
    set: "Set. Type to replace it.",
    forget: (name: string) => `Forget ${name}`,
    forgotten: "It is forgotten when you save.",
    onePerLine: "One per line.",
    json: "JSON.",
    wrongJson: (name: string) => `${name} is no JSON.`,
    wrongNumber: (name: string) => `${name} is no number.`,
  },
  packages: {
    needs: "Needs packages",
    optional: "Could use more packages",
    heading: (n: number) => count(n, "package"),
    standing: {
      installed: "installed",
      missing: "missing",
      outdated: "too old or too new",
      provided: "Conclave’s own",
      skipped: "not for this machine",
    },
    notNeeded: "it loads without",
    guessed: "guessed from an import",
    installOne: (name: string) => `Install ${name}`,
    from: (from: string) => `from ${from}`,
    install: (n: number) => `Install ${count(n, "package")} into this plugin’s own environment`,
    again: "Install again",
    resume: "Go on installing",
    where: (index: string, python: string) =>
      `They come from ${index} as wheels, so none of their code runs while they are installed, and go into a folder that only this plugin uses. Python ${python} and other plugins stay as they are.`,
    elsewhere: "Also from these places, which the plugin names:",
    build: "Also packages that exist as source only. Their code runs while they are installed.",
    stop: "Stop",
    stopped: "Stopped. What has arrived is kept.",
    remove: "Remove its environment",
    made: (size: string, when: string) => `Its environment takes ${size}, made ${when}.`,
    stale: "It was made for another list of packages, or another Python.",
    installing: "Installing",
    log: "What the installer said",
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
    follow: "Keep following the end of an answer after sending",
    followNote: "Otherwise your question goes to the top and the page holds still.",
    modelTitles: "Let the model name new chats",
    modelTitlesNote:
      "After the first answer, the chat’s model is asked for a title: one short request more. Otherwise the first words are the title.",
    editor: "Editor command",
    editorNote: "{file} and {line} are filled in. Empty uses the system’s choice.",
    scan: "Look for local models at start",
    scanNote: "Asks this computer’s usual ports, nothing else.",
    demo: "Demo chats",
    demoRemove: "Remove demo chats",
    privacy: "Conclave sends nothing about you.",
    folder: "Plugins folder",
    folderNote: (folder: string) =>
      `Every file or folder in ${folder} is a plugin. Save a file and it reloads.`,
    openFolder: "Open folder",
    http: "Let programs register tools",
    httpNote: (port: number) =>
      `Opens the port ${port} to programs of this computer, over HTTP as N.E.K.O does. Nothing outside of it and no page of a browser is answered. What a program registers waits for your approval like any plugin.`,
    httpPort: "Port",
    httpPortBad: "A port is a whole number from 1024 to 65535. It stays as it was.",
    httpOpen: (address: string, token: boolean) =>
      `Open: programs register at ${address}/api/tools/register${token ? ", with your token" : ""}.`,
    httpClosed: (why: string) => `${why} It opens by itself as soon as it can.`,
    httpOpening: "Opening the port.",
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
    isolation: "What holds plugins here",
    licence: "Licence",
    quit: "Quit Conclave",
  },

  models: {
    add: "Add a connection",
    empty: "No model is connected yet. Demo guide answers meanwhile.",
    key: "Key",
    keyPaste: "Paste a key",
    keySet: "A key is kept. Paste a new one to replace it.",
    keyGuess: (provider: string) => `This looks like a key of ${provider}.`,
    keyPage: "Where to get a key",
    provider: "Provider",
    titleLabel: "Name",
    url: "Address",
    urlNote: "Leave empty for the provider’s own.",
    ids: "Model ids, one a line (for servers that do not list them)",
    test: "Test",
    testing: (host: string) => `Asking ${host}…`,
    ok: (ms: number, n: number) => `Answered in ${ms} ms, ${count(n, "model")}`,
    okNone: (ms: number) =>
      `Answered in ${ms} ms, but lists no models. Edit it to write the ids of its models, or to check its address.`,
    notAsked: "Not tested yet",
    remove: "Remove",
    edit: "Edit",
    addAndTest: "Save and test",
    default: "Default model",
    defaultNote: "Used by new chats.",
    scan: "Look for local models",
    scanning: "Asking this computer…",
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
    capabilityNote: "What each can do, as far as is known. Press to correct it.",
    passphrase: "Passphrase",
    passphraseChoose: "Choose a passphrase for your keys",
    passphraseRule: "At least 8 characters. A few words are good.",
    passphraseAgain: "The same again",
    passphraseDiffers: "The two are not the same.",
    passphraseLost:
      "It cannot be recovered. Without it the kept keys are lost, and you paste them anew.",
    passphraseUse: "Use this passphrase",
    unlock: "Unlock keys",
    firstDefault: (model: string) => `New chats now ask ${model}.`,
    chooseOther: "Choose another",
    keyOptional: "Key, if the server wants one",
    urlServer: "Address of the server",
    urlExample: "https://host.example/v1",
  },

  permissions: {
    intro: "What your plugins may do, and the rules that you made.",
    empty: "Nothing has been allowed yet.",
    revoke: "Revoke",
    used: (n: number, when: string) =>
      n === 0 ? "not used yet" : `used ${count(n, "time")}, last ${when}`,
    unreadable: "This rule cannot be read and counts as not allowed.",
    filter: "Filter rules",
    effect: { allow: "Allows", ask: "Asks", deny: "Refuses" },
    ends: {
      once: "held once",
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
      "What you refuse stays refused, and members of a council get nothing more by it.",
    time: "Time",
    minutes: (n: string) => `${n} minutes`,
    calls: "Calls at most",
    spend: "Dollars at most",
    spendNote: "What models cost meanwhile, where a price is known.",
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
    keyText: "The provider is guessed from the key, and tested.",
    pluginTitle: "Give it a tool",
    pluginText: "A Python or JavaScript file in a folder is enough.",
    pluginButton: "Make a plugin",
    privacy: "Conclave sends nothing about you.",
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
    themeSystem: "Theme: as the system",
    themeContrast: "Theme: high contrast",
    unattended: "Let tools run without asking",
    endUnattended: "Have tools ask again",
    newPlugin: "New plugin from template",
    addPlugin: "Add plugin",
    addModel: "Connect a model",
    archive: "Move this chat to the archive",
    rename: "Rename this chat",
    dockWide: "Panel in the whole width, or beside the conversation",
    councilTab: "Show the council",
    councilOnce: "Next message with or without the council",
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
    tooLate: "It is too late to undo that.",
  },

  zoom: {
    label: "Zoom",
    value: (percent: number) => `Zoom ${percent} %`,
    percent: (percent: number) => `${percent} %`,
    note: (larger: string, smaller: string) =>
      `Of everything. ${larger} and ${smaller} do the same.`,
  },

  toast: { region: "Notices" },
};
