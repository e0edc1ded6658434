// spindle.world_books, spindle.characters and spindle.personas: what extensions
// keep and share. Conclave stores it and reads none of it; the shapes are those of
// contracts/spindle, section 5.4.

import { $Error, assign } from "../primordials.js";
import { ask, plain, text } from "../bridge.js";
import { changing, need, page, seconds, unavailable } from "./guard.js";

const shapes = {
  world_books: () => ({ name: "", description: "", metadata: {} }),
  "world_books.entries": () => ({
    key: [], keysecondary: [], content: "", comment: "", position: 0, depth: 4, role: null, order_value: 100, selective: false,
    constant: false, disabled: false, group_name: "", group_override: false, group_weight: 100, probability: 100, scan_depth: null,
    case_sensitive: false, match_whole_words: false, use_regex: false, prevent_recursion: false, exclude_recursion: false, priority: 10,
    sticky: 0, cooldown: 0, delay: 0, extensions: {},
  }),
  characters: () => ({
    name: "", description: "", personality: "", scenario: "", first_mes: "", mes_example: "", creator_notes: "", system_prompt: "",
    post_history_instructions: "", tags: [], alternate_greetings: [], creator: "", image_id: null, world_book_ids: [], extensions: {},
  }),
  personas: () => ({
    name: "", title: "", description: "", image_id: null, attached_world_book_id: null, folder: "", is_default: false, metadata: {},
  }),
};

// What Conclave says of a record, and no extension does.
const fixed = ["id", "world_book_id", "created_at", "updated_at", "userId", "user_id"];

function toItem(kind, item) {
  if (item === null || item === undefined) {
    return null;
  }
  const at = { id: item.id, created_at: seconds(item.created_ms), updated_at: seconds(item.updated_ms) };
  return assign(shapes[kind](), item.fields, kind === "world_books.entries" ? { world_book_id: item.parent } : {}, at);
}

function toFields(name, given) {
  if (given === undefined || given === null) {
    return {};
  }
  if (!plain(given)) {
    throw new $Error(`${name} needs an object.`);
  }
  const fields = assign({}, given);
  for (let i = 0; i < fixed.length; i++) {
    delete fields[fixed[i]];
  }
  return fields;
}

/** shared makes the methods of one kind; those under another are listed and made by its id. */
function shared(kind, isUnder) {
  const name = (method) => `spindle.${kind}.${method}`;
  const list = async (parent, options) => {
    const found = await ask(`${kind}.list`, { parent, ...page(options) });
    return { data: found.items.map((item) => toItem(kind, item)), total: found.total };
  };
  const make = async (parent, fields) => {
    changing(name("create"));
    return toItem(kind, (await ask(`${kind}.create`, { parent, fields: toFields(name("create"), fields) })).item);
  };
  return {
    list: isUnder ? async (parent, options) => list(text(parent), options) : async (options) => list(undefined, options),
    async get(id) {
      return toItem(kind, (await ask(`${kind}.get`, { id: text(id) })).item);
    },
    create: isUnder ? async (parent, fields) => make(text(parent), fields) : async (fields) => make(undefined, fields),
    async update(id, fields) {
      changing(name("update"));
      return toItem(kind, (await ask(`${kind}.update`, { id: text(id), fields: toFields(name("update"), fields) })).item);
    },
    async delete(id) {
      changing(name("delete"));
      return (await ask(`${kind}.delete`, { id: text(id) })).deleted;
    },
  };
}

export const world_books = shared("world_books", false);
world_books.entries = shared("world_books.entries", true);
// None is put into prompts; the permission is asked for all the same.
const none = (name) => async () => {
  need("world_books", name);
  return [];
};
world_books.getActivated = none("world_books.getActivated");
world_books.getGlobal = none("world_books.getGlobal");

export const characters = shared("characters", false);
characters.setAvatar = async () => unavailable("spindle.characters.setAvatar");

export const personas = shared("personas", false);

async function everyPersona() {
  return (await ask("personas.list", {})).items.map((item) => toItem("personas", item));
}

personas.getDefault = async () => (await everyPersona()).find((p) => p.is_default === true) ?? null;
personas.getActive = personas.getDefault;
personas.switchActive = async (id) => {
  changing("spindle.personas.switchActive");
  const all = await everyPersona();
  if (id !== null && id !== undefined && !all.some((p) => p.id === text(id))) {
    throw new $Error("There is no persona of that id.");
  }
  for (let i = 0; i < all.length; i++) {
    const is_default = all[i].id === text(id);
    if (all[i].is_default !== is_default) {
      await ask("personas.update", { id: all[i].id, fields: { is_default } });
    }
  }
};
personas.getWorldBook = async (id) => {
  const persona = id === undefined || id === null ? await personas.getActive() : await personas.get(id);
  const book = persona?.attached_world_book_id;
  return book === null || book === undefined ? null : world_books.get(book);
};
