import type { Plugin } from "vite";

/** The languages that have a file. */
export const languages: string[];

/** A text of a language: its path, its words, its note, and its parameters with their types. */
export interface Text {
  path: string;
  value: string | string[];
  note: string;
  args: string[];
  types: string[];
}

/** Every text of a language. Fails for one that is not right. */
export function texts(language: string): Text[];

/** The file of a language, as it is. */
export function read(language: string): object;

/** The module of a language. What it lacks is in English; fails for a text that is not right. */
export function compile(language: string, english?: object, own?: object): string;

/** The vite plugin: “messages:zh” is the module of src/messages/zh.json. */
export const messages: Plugin;
