/** What can be set, and on which page: what the searches of the settings and of the palette look through. */
import type { SettingsPage } from "../app.svelte";
import { s } from "../strings";

export interface FoundSetting {
  page: SettingsPage;
  /** As it stands on the page; the name of the page itself where the page was found. */
  label: string;
}

const labels: Record<SettingsPage, string[]> = {
  general: [
    ...[s.settings.theme, s.settings.language, s.zoom.label, s.settings.textSize, s.settings.font, s.settings.send],
    ...[s.settings.follow, s.settings.modelTitles, s.settings.notifyAnswers, s.settings.editor],
  ],
  models: [s.models.default, s.models.add, s.settings.scan],
  prices: [s.prices.own, s.prices.cap, s.prices.tokensCap],
  permissions: [],
  plugins: [s.settings.folder, s.settings.toolShare, s.settings.http],
  prompts: [s.prompts.add],
  council: [],
  programs: [s.programs.connect, s.programs.serve],
  data: [s.transfer.backup, s.transfer.import, s.settings.demo, s.settings.data, s.settings.logs],
  keys: [],
  about: [s.settings.isolation, s.settings.licence, s.settings.diagnostics],
};

/** The pages and settings that have all words, pages first. */
export function foundSettings(words: string): FoundSetting[] {
  const all = words.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (text: string) => all.every((word) => text.toLowerCase().includes(word));
  const pages = Object.keys(labels) as SettingsPage[];
  return [
    ...pages.filter((page) => has(s.settings.pages[page])).map((page) => ({ page, label: s.settings.pages[page] })),
    ...pages.flatMap((page) => labels[page].filter(has).map((label) => ({ page, label }))),
  ];
}
