/** A key that writes, pressed where nothing takes it, goes to the composer. */
import { inTextField } from "./keys.svelte";

/** What takes letters by itself, or may be pressed with Space. */
const takers = "[role=menu], [role=listbox], [role=dialog], [role=alertdialog]";
const pressed = "button, summary, a, input, [role=button], [role=option], [role=tab], [role=switch]";

/** Leads the keyboard to the composer if a key writes and no field has it; the letter follows. */
export function write(event: KeyboardEvent): void {
  const { key, target } = event;
  const held = (event.ctrlKey || event.altKey || event.metaKey) && !event.getModifierState("AltGraph");
  if (event.defaultPrevented || event.isComposing || held || [...key].length !== 1) return;
  if (!(target instanceof Element) || inTextField(target) || target.closest(takers)) return;
  if (document.querySelector("[role=dialog], [role=alertdialog], [role=menu]")) return;
  if (key === " " && target.closest(pressed)) return;
  document.querySelector<HTMLElement>("form.composer textarea")?.focus({ preventScroll: true });
}
