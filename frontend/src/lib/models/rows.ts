/** The rows of the model picker: sections of models, laid out so that only those in view are drawn. */
import type { Connection, Model } from "../bridge/generated";
import { s } from "../strings";

/** Heights of rows in px at a zoom of 100 %. */
export const headingHeight = 28;
export const rowHeight = 34;

interface Placed {
  key: string;
  /** Its distance from the top of the list. */
  top: number;
}
export interface HeadingRow extends Placed {
  kind: "heading";
  title: string;
  count: number;
}
export interface ModelRow extends Placed {
  kind: "model";
  /** null chooses no model. */
  model: Model | null;
  /** Shown where the heading does not name it. */
  connection: string;
  /** Its number among the models of the list. */
  at: number;
}
export type Row = HeadingRow | ModelRow;

interface Wanted {
  models: Model[];
  connections: Connection[];
  text: string;
  favourites: string[];
  recent: string[];
  /** The first row chooses no model. */
  none?: boolean;
}

/** Models that hold all words in their title, id or connection; those that begin with the text first. */
function matching(models: Model[], text: string, titles: Map<string, string>): Model[] {
  const wanted = text.trim().toLowerCase();
  const words = wanted.split(/\s+/).filter(Boolean);
  const begins = (m: Model) => m.title.toLowerCase().startsWith(wanted) || m.id.toLowerCase().startsWith(wanted);
  const found = models.filter((m) => {
    const name = `${m.title} ${m.name} ${titles.get(m.connection) ?? ""}`.toLowerCase();
    return words.every((w) => name.includes(w));
  });
  return wanted ? found.toSorted((a, b) => Number(begins(b)) - Number(begins(a))) : found;
}

/**
 * The rows of a picker: while nothing is searched the favourites and what was chosen last, then all models by
 * connection. A search has the connections alone. No model that fits is left out.
 */
export function rowsOf({ models, connections, text, favourites, recent, none = false }: Wanted): Row[] {
  const titles = new Map(connections.map((c) => [c.name, c.title]));
  const named = new Map(models.map((m) => [m.name, m]));
  const rows: Row[] = [];
  let top = 0;
  let at = 0;
  const section = (key: string, title: string, of: Model[], saysConnection: boolean) => {
    if (of.length === 0) return;
    rows.push({ kind: "heading", key: `heading ${key}`, title, count: of.length, top });
    top += headingHeight;
    for (const model of of) {
      const connection = saysConnection ? (titles.get(model.connection) ?? model.connection) : "";
      rows.push({ kind: "model", key: `${key} ${model.name}`, model, connection, at: at++, top });
      top += rowHeight;
    }
  };
  const searched = text.trim() !== "";
  if (none && !searched) {
    rows.push({ kind: "model", key: "none", model: null, connection: "", at: at++, top });
    top += rowHeight;
  }
  if (!searched) {
    const there = (names: string[]) => names.flatMap((name) => named.get(name) ?? []);
    section("favourite", s.picker.favourites, there(favourites), true);
    const last = recent.filter((name) => !favourites.includes(name));
    if (models.length > few) section("recent", s.picker.recent, there(last), true);
  }
  const found = matching(models, text, titles);
  const order = [...new Set([...connections.map((c) => c.name), ...found.map((m) => m.connection)])];
  for (const name of order) {
    section(
      `of ${name}`,
      titles.get(name) ?? name,
      found.filter((m) => m.connection === name),
      false,
    );
  }
  return rows;
}

/** With so few models what was chosen last is in view anyway. */
const few = 8;

export const heightOf = (row: Row): number => (row.kind === "heading" ? headingHeight : rowHeight);

/** The rows between two distances from the top. */
export const within = (rows: Row[], from: number, to: number): Row[] =>
  rows.filter((row) => row.top < to && row.top + heightOf(row) > from);
