/** Takes the focus when it appears, its text selected: for a field that a person just asked for. */
export function takeFocus(field: HTMLInputElement): void {
  field.focus();
  field.select();
}
