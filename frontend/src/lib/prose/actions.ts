/** What a press inside a message's HTML does: links, code and table buttons, blocked images. */
import type { App } from "../app.svelte";
import { s } from "../strings";
import { cells, csv, markdown } from "./tables";

const endings: Record<string, string> = {
  python: "py",
  javascript: "js",
  typescript: "ts",
  go: "go",
  rust: "rs",
  shell: "sh",
  bash: "sh",
  json: "json",
  html: "html",
  css: "css",
  yaml: "yaml",
  toml: "toml",
  sql: "sql",
  markdown: "md",
  c: "c",
  cpp: "cpp",
  java: "java",
  ruby: "rb",
};

/** The name a code block is saved under. */
export function fileName(language: string): string {
  return `code.${endings[language.toLowerCase()] ?? "txt"}`;
}

// A long block is folded: its code is in several elements, one after the other.
export function codeOf(figure: Element): string {
  return [...figure.querySelectorAll("code")].map((code) => code.textContent).join("");
}

/** Opens a link of a message; a person is asked first when its text names another address. */
export function follow(app: App, link: HTMLAnchorElement): void {
  const { host, mismatch } = link.dataset;
  if (mismatch !== undefined) app.link = { href: link.href, shown: link.textContent ?? "", host: host ?? "" };
  else void app.openURL(link.href);
}

// The program fetches it, since the page itself may reach no server.
async function loadPicture(app: App, button: HTMLElement, url: string): Promise<void> {
  if (button.ariaBusy === "true") return;
  button.ariaBusy = "true";
  const words = button.textContent;
  button.textContent = s.message.pictureLoading(button.dataset.host ?? "");
  await app.attempt(async () => {
    const shown = document.createElement("img");
    shown.src = await app.bridge.window.LoadPicture(url);
    shown.alt = button.dataset.alt ?? "";
    button.replaceWith(shown);
  });
  button.textContent = words;
  button.ariaBusy = "false";
}

/** Acts on a press when it means something here. */
export function onprose(app: App, event: MouseEvent | KeyboardEvent): void {
  const target = event.target as Element;
  const key = event instanceof KeyboardEvent ? event.key : "";
  if (key && key !== "Enter" && key !== " ") return;

  const image = target.closest<HTMLElement>(".blocked-image");
  if (image?.dataset.src) {
    event.preventDefault();
    void loadPicture(app, image, image.dataset.src);
    return;
  }
  if (key) return; // links and buttons make clicks of their keys

  const link = target.closest("a");
  if (link?.href) {
    event.preventDefault();
    follow(app, link);
    return;
  }

  const button = target.closest<HTMLElement>("button[data-do]");
  const figure = button?.closest<HTMLElement>("figure.code");
  const table = button?.closest<HTMLElement>("div.table");
  switch (button?.dataset.do) {
    case "copy":
      if (figure) void app.copy(codeOf(figure));
      break;
    case "save":
      if (figure) {
        void app.attempt(() => app.bridge.window.SaveFile(fileName(figure.dataset.lang ?? ""), codeOf(figure)));
      }
      break;
    case "wrap":
      if (figure && button) button.ariaPressed = String(figure.classList.toggle("wraps"));
      break;
    case "csv":
      if (table) void app.copy(csv(cells(table)));
      break;
    case "markdown":
      if (table) void app.copy(markdown(cells(table)));
      break;
  }
}
