/**
 * Shortcuts: chords such as "Mod+Shift+P", who has which, and what a key press
 * means. Mod is Command on a Mac and Control elsewhere.
 */
export interface Command {
  id: string;
  label: string;
  /** "" = none. */
  keys: string;
  run: () => void;
  /** Does not fire while the caret is in a text field. */
  notInText?: boolean;
  /** Not in the palette. */
  hidden?: boolean;
  /** Only listed and run while this holds. */
  when?: () => boolean;
}

const names: Record<string, string> = {
  ArrowUp: "Up",
  ArrowDown: "Down",
  ArrowLeft: "Left",
  ArrowRight: "Right",
  " ": "Space",
  Escape: "Esc",
  // With and without Shift, on the row of digits or the number pad.
  "+": "Plus",
  "=": "Plus",
  "-": "Minus",
  _: "Minus",
};

// Keys whose place counts and not the letter that Shift makes of them.
const codes: Record<string, string> = {
  Period: ".",
  Comma: ",",
  Slash: "/",
};

/** The chord of a key press, "" for a modifier alone. */
export function chord(event: KeyboardEvent, mac: boolean): string {
  if (["Control", "Shift", "Alt", "Meta", "AltGraph", "Dead", "Process"].includes(event.key)) return "";
  let key = names[event.key] ?? event.key;
  if (/^Digit[0-9]$/.test(event.code)) key = event.code.slice(5);
  else if (codes[event.code]) key = codes[event.code] as string;
  else if (key.length === 1) key = key.toUpperCase();
  const parts: string[] = [];
  if (mac ? event.metaKey : event.ctrlKey) parts.push("Mod");
  if (mac ? event.ctrlKey : event.metaKey) parts.push(mac ? "Ctrl" : "Meta");
  if (event.altKey) parts.push("Alt");
  if (event.shiftKey && key !== "Plus" && key !== "Minus") parts.push("Shift");
  return [...parts, key].join("+");
}

/** Whether a chord is a key that one writes or moves the focus with, and not a shortcut (as app/base/settings has it). */
export function bare(chord: string): boolean {
  return !/(^|\+)(Mod|Ctrl|Meta|Alt)\+|(^|\+)F\d{1,2}$/.test(chord);
}

/** A chord as it is printed: “⌘⇧P” on a Mac, “Ctrl+Shift+P” elsewhere. */
export function printed(keys: string, mac: boolean): string {
  if (!mac) return keys.replace("Mod", "Ctrl").replace("Plus", "+").replace("Minus", "−");
  const signs: Record<string, string> = {
    Plus: "+",
    Minus: "−",
    Mod: "⌘",
    Shift: "⇧",
    Alt: "⌥",
    Ctrl: "⌃",
    Enter: "↩",
    Backspace: "⌫",
    Up: "↑",
    Down: "↓",
    Left: "←",
    Right: "→",
  };
  return keys
    .split("+")
    .map((k) => signs[k] ?? k)
    .join("");
}

/** Whether one writes in an element. */
export function inTextField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      target.matches("textarea, select, input:not([type=checkbox], [type=radio], [type=button])"))
  );
}

export class Keys {
  commands = $state.raw<Command[]>([]);

  constructor(
    readonly mac: boolean,
    /** The chords a person has changed. */
    private changed: () => Record<string, string>,
  ) {}

  keysOf(command: Command): string {
    return this.changed()[command.id] ?? command.keys;
  }

  /** As printed, "" for none. */
  label(id: string): string {
    const command = this.commands.find((c) => c.id === id);
    return command ? printed(this.keysOf(command), this.mac) : "";
  }

  /** Who has a chord, other than one command. */
  taken(keys: string, except: string): Command | undefined {
    return this.commands.find((c) => c.id !== except && this.keysOf(c) === keys);
  }

  run(id: string): void {
    this.commands.find((c) => c.id === id)?.run();
  }

  /** A key was pressed: runs its command. true when there was one. */
  press(event: KeyboardEvent): boolean {
    if (event.isComposing || event.defaultPrevented) return false;
    const keys = chord(event, this.mac);
    if (!keys) return false;
    const command = this.commands.find((c) => this.keysOf(c) === keys);
    if (!command || (command.notInText && inTextField(event.target))) return false;
    if (command.when && !command.when()) return false;
    event.preventDefault();
    command.run();
    return true;
  }
}
