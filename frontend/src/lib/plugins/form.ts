/** A form made of a JSON Schema: sections of fields, and the values that come of them. */
import { s } from "../strings";

interface Schema {
  type?: string;
  title?: string;
  description?: string;
  format?: string;
  writeOnly?: boolean;
  readOnly?: boolean;
  enum?: unknown[];
  items?: Schema;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  default?: unknown;
  examples?: unknown[];
  properties?: Record<string, Schema>;
}

type Values = Record<string, unknown>;

type FieldKind = "text" | "long" | "number" | "switch" | "choice" | "choices" | "list" | "secret" | "json";

export interface Field {
  /** Unique in the form: "server.token". */
  path: string;
  kind: FieldKind;
  title: string;
  hint: string;
  placeholder: string;
  choices: string[];
  min: number | undefined;
  max: number | undefined;
  whole: boolean;
  readOnly: boolean;
  /** A secret that is already saved. */
  kept: boolean;
  /** What the control holds at first: text, or whether it is on, or what is chosen. */
  start: string | boolean | string[];
}

interface Section {
  title: string;
  description: string;
  fields: Field[];
}

export interface Form {
  sections: Section[];
  schema: Schema;
  values: Values;
}

const isObject = (value: unknown): value is Values =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The changes that were not saved: those typed while others were being saved. */
export function since(changes: Changes, kept: Changes): Changes {
  const same = (path: string) => JSON.stringify(changes[path]) === JSON.stringify(kept[path]);
  return Object.fromEntries(Object.entries(changes).filter(([path]) => !same(path)));
}

/** Reads the schema and the values. */
export function readForm(schema: string, values: string, secrets: string[]): Form {
  const root = schema ? (JSON.parse(schema) as Schema) : {};
  const set = JSON.parse(values || "{}") as unknown;
  const form: Form = { sections: [], schema: root, values: isObject(set) ? set : {} };
  const loose: Field[] = [];
  for (const [name, one] of Object.entries(root.properties ?? {})) {
    if (!one.properties) {
      loose.push(fieldOf([name], one, form.values[name], secrets));
      continue;
    }
    const section: Section = {
      title: one.title ?? name,
      description: one.description ?? "",
      fields: [],
    };
    addFields(section.fields, [name], one, form.values[name], secrets);
    form.sections.push(section);
  }
  if (loose.length > 0) form.sections.unshift({ title: "", description: "", fields: loose });
  return form;
}

function addFields(to: Field[], path: string[], schema: Schema, values: unknown, secrets: string[]): void {
  for (const [name, one] of Object.entries(schema.properties ?? {})) {
    const value = isObject(values) ? values[name] : undefined;
    if (one.properties && Object.keys(one.properties).length > 0) addFields(to, [...path, name], one, value, secrets);
    else to.push(fieldOf([...path, name], one, value, secrets));
  }
}

function kindOf(schema: Schema): FieldKind {
  if (schema.format === "password" || schema.writeOnly) return "secret";
  if (schema.enum) return "choice";
  switch (schema.type) {
    case "boolean":
      return "switch";
    case "integer":
    case "number":
      return "number";
    case "array":
      if (schema.items?.enum) return "choices";
      return schema.items?.type === "string" ? "list" : "json";
    case "string":
      return schema.format === "textarea" ? "long" : "text";
  }
  return schema.type === undefined && typeof schema.default === "string" ? "text" : "json";
}

function fieldOf(path: string[], schema: Schema, given: unknown, secrets: string[]): Field {
  const kind = kindOf(schema);
  const id = path.join(".");
  const value = given === undefined ? schema.default : given;
  return {
    path: id,
    kind,
    title: schema.title ?? path.at(-1) ?? "",
    hint: schema.description ?? "",
    placeholder: String(schema.examples?.[0] ?? ""),
    choices: (schema.enum ?? schema.items?.enum ?? []).map(String),
    min: schema.minimum,
    max: schema.maximum,
    whole: schema.type === "integer",
    readOnly: schema.readOnly === true,
    kept: secrets.includes(id),
    start: startOf(kind, value),
  };
}

function startOf(kind: FieldKind, value: unknown): Field["start"] {
  switch (kind) {
    case "switch":
      return value === true;
    case "choices":
      return Array.isArray(value) ? value.map(String) : [];
    case "list":
      return Array.isArray(value) ? value.map(String).join("\n") : "";
    case "json":
      return value === undefined ? "" : JSON.stringify(value, null, 2);
    case "secret":
      return "";
  }
  return value === undefined || value === null ? "" : String(value);
}

/** Null forgets a secret. */
export type Changes = Record<string, Field["start"] | null>;

/** Returns the values to save as JSON, or a sentence about what is wrong. */
export function collect(form: Form, changes: Changes): { values: string } | { wrong: string } {
  const values = structuredClone(form.values);
  for (const field of form.sections.flatMap((section) => section.fields)) {
    if (!(field.path in changes) || field.readOnly) continue;
    const change = changes[field.path];
    if (field.kind === "secret" && change === "") continue;
    try {
      put(values, field.path.split("."), valueOf(form.schema, field, change ?? null));
    } catch {
      const say = field.kind === "number" ? s.pluginSettings.wrongNumber : s.pluginSettings.wrongJson;
      return { wrong: say(field.title) };
    }
  }
  return { values: JSON.stringify(values) };
}

function valueOf(schema: Schema, field: Field, change: Field["start"] | null): unknown {
  if (change === null || typeof change === "boolean" || field.kind === "secret") return change;
  if (field.kind === "number") {
    const n = Number(change);
    if (change === "" || Number.isNaN(n)) throw new Error("no number");
    return n;
  }
  if (field.kind === "json") return change === "" ? null : (JSON.parse(String(change)) as unknown);
  if (field.kind === "list")
    return String(change)
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean);
  // What was chosen goes back as what it was: a number may be among the choices.
  const known = field.path.split(".").reduce<Schema | undefined>((at, step) => at?.properties?.[step], schema);
  const choices = known?.enum ?? known?.items?.enum ?? [];
  const original = (text: string) => choices.find((choice) => String(choice) === text) ?? text;
  return Array.isArray(change) ? change.map(original) : original(change);
}

function put(values: Values, path: string[], value: unknown): void {
  let at = values;
  for (const step of path.slice(0, -1)) {
    const inner = at[step];
    const next = isObject(inner) ? inner : {};
    at[step] = next;
    at = next;
  }
  const last = path.at(-1);
  if (last !== undefined) at[last] = value;
}
