/** Applies theme, zoom and fonts of the settings to the page. */
import type { SettingsState } from "../settings/settings.svelte";

/** Keeps what the system prefers up to date; the function returned ends it. */
export function watchSystem(settings: SettingsState): () => void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const more = matchMedia("(prefers-contrast: more)");
  const read = () => {
    settings.systemDark = dark.matches;
    settings.systemContrast = more.matches;
  };
  read();
  dark.addEventListener("change", read);
  more.addEventListener("change", read);
  return () => {
    dark.removeEventListener("change", read);
    more.removeEventListener("change", read);
  };
}

/** Writes the settings to the root element, where the tokens read them. */
export function applyAppearance(settings: SettingsState): void {
  const { dataset, style } = document.documentElement;
  dataset.theme = settings.tone;
  dataset.contrast = settings.contrast ? "more" : "";
  style.fontSize = `${settings.now.zoom}%`;
  style.setProperty("--size-message", `${settings.now.text_size / 16}rem`);
  const serif = settings.now.reading_font === "serif";
  style.setProperty("--font-message", serif ? "var(--font-serif)" : "var(--font-ui)");
}
