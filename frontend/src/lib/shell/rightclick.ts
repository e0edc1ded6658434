/** What a right click offers on text fields, words, links, code and tables of a message. */
import ClipboardPaste from "@lucide/svelte/icons/clipboard-paste";
import Code from "@lucide/svelte/icons/code";
import Copy from "@lucide/svelte/icons/copy";
import ExternalLink from "@lucide/svelte/icons/external-link";
import Link from "@lucide/svelte/icons/link";
import Quote from "@lucide/svelte/icons/quote";
import Save from "@lucide/svelte/icons/save";
import Scissors from "@lucide/svelte/icons/scissors";
import Table from "@lucide/svelte/icons/table";
import TextSelect from "@lucide/svelte/icons/text-select";
import type { App } from "../app.svelte";
import { codeOf, fileName, follow } from "../prose/actions";
import { cells, csv, markdown } from "../prose/tables";
import { s } from "../strings";
import { grouped, itemsAround, paste, selectedIn, textField, type TextField } from "../ui/contextmenu";
import type { MenuItem } from "../ui/menu";

/** The context menu for the element of a right click. */
export function rightClick(app: App, target: Element): MenuItem[] {
  const field = textField(target);
  if (field) return ofField(app, field);
  return grouped(
    ofSelection(app, target),
    ofLink(app, target),
    ofCode(app, target),
    ofTable(app, target),
    itemsAround(target),
  );
}

function ofField(app: App, field: TextField): MenuItem[] {
  const chosen = selectedIn(field);
  const fixed = field.readOnly;
  return [
    {
      label: s.rightClick.cut,
      icon: Scissors,
      disabled: !chosen || fixed,
      run: async () => {
        await app.copy(chosen);
        document.execCommand("delete");
      },
    },
    { label: s.rightClick.copy, icon: Copy, disabled: !chosen, run: () => app.copy(chosen) },
    {
      label: s.rightClick.paste,
      icon: ClipboardPaste,
      disabled: fixed,
      run: () => app.attempt(async () => paste(field, await app.bridge.paste())),
    },
    {
      label: s.rightClick.selectAll,
      icon: TextSelect,
      separated: true,
      disabled: !field.value,
      run: () => field.select(),
    },
  ];
}

// The words that are selected, when the click was on them or in their message.
function ofSelection(app: App, target: Element): MenuItem[] {
  const selection = getSelection();
  const text = selection?.isCollapsed ? "" : String(selection).trim();
  const from = selection?.anchorNode?.parentElement;
  if (!text || !(from?.closest("article") ?? from)?.contains(target)) return [];
  const items: MenuItem[] = [{ label: s.rightClick.copySelection, icon: Copy, run: () => app.copy(text) }];
  if (from?.closest("article") && app.chat)
    items.push({ label: s.rightClick.quoteSelection, icon: Quote, run: () => app.quote(text) });
  return items;
}

function ofLink(app: App, target: Element): MenuItem[] {
  const link = target.closest("a");
  if (!link?.href) return [];
  return [
    { label: s.rightClick.openLink, icon: ExternalLink, run: () => follow(app, link) },
    { label: s.rightClick.copyLink, icon: Link, run: () => app.copy(link.href) },
  ];
}

function ofCode(app: App, target: Element): MenuItem[] {
  const figure = target.closest<HTMLElement>("figure.code");
  if (!figure) return [];
  return [
    { label: s.message.codeCopy, icon: Code, run: () => app.copy(codeOf(figure)) },
    {
      label: s.message.codeSave,
      icon: Save,
      run: () => app.attempt(() => app.bridge.window.SaveFile(fileName(figure.dataset.lang ?? ""), codeOf(figure))),
    },
  ];
}

function ofTable(app: App, target: Element): MenuItem[] {
  const table = target.closest("div.table");
  if (!table) return [];
  return [
    { label: s.message.tableCSV, icon: Table, run: () => app.copy(csv(cells(table))) },
    { label: s.message.tableMarkdown, icon: Table, run: () => app.copy(markdown(cells(table))) },
  ];
}
