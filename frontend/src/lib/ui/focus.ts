/** Takes the focus when it appears, its text selected: for a field that a person just asked for. */
export function takeFocus(field: HTMLInputElement): void {
  field.focus();
  field.select();
}

/** Has Esc in a form leave the form, and nothing else. */
export const onescape = (leave: () => void) => (form: HTMLElement) => {
  const press = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || event.isComposing) return;
    event.preventDefault(); // later listeners ignore it
    leave();
  };
  form.addEventListener("keydown", press);
  return () => form.removeEventListener("keydown", press);
};
