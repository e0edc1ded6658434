// spindle.storage and spindle.userStorage: the plugin's own files, kept by
// Conclave. User storage lies in a folder of its own that storage cannot see.

import { $Error, $String, isArray, join, parse, push, split, startsWith, stringify } from "../primordials.js";
import { ask, text } from "../bridge.js";
import { bytesOf, decode, encode, fromBase64, toBase64 } from "../text.js";

const userFolder = ".user";

/** inside returns path as one that cannot leave the storage, or throws. */
function inside(path, empty) {
  const whole = text(path);
  const parts = [];
  const given = split(whole, "/");
  for (let i = 0; i < given.length; i++) {
    if (given[i] === "..") {
      throw new $Error(`Path traversal is not allowed: ${whole}`);
    }
    if (given[i] !== "" && given[i] !== ".") {
      push(parts, given[i]);
    }
  }
  if (whole[0] === "/" || whole.includes("\\") || whole.includes("\0") || /^[a-zA-Z]:/.test(whole)) {
    throw new $Error(`Path traversal is not allowed: ${whole}`);
  }
  if (parts.length === 0 && !empty) {
    throw new $Error("A storage path is needed.");
  }
  return join(parts, "/");
}

/** store makes one storage whose files lie below folder, or at the top for "". */
function store(folder) {
  const at = (path, empty = false) => {
    const clean = inside(path, empty);
    if (folder === "" && (clean === userFolder || startsWith(clean, `${userFolder}/`))) {
      throw new $Error(`Path traversal is not allowed: ${text(path)}`);
    }
    return folder === "" ? clean : clean === "" ? folder : `${folder}/${clean}`;
  };
  const send = async (capability, args, path) => {
    try {
      return await ask(`storage.${capability}`, args);
    } catch (err) {
      if (err.kind === "not_found") {
        err.message = `File not found: ${path}`;
      }
      throw err;
    }
  };
  const self = {
    async read(path) {
      const { text: found, base64 } = await send("read", { path: at(path) }, path);
      return found ?? decode(fromBase64(base64)); // not UTF-8: what is not becomes U+FFFD
    },
    async write(path, data) {
      await send("write", { path: at(path), text: $String(data) }, path);
    },
    async readBinary(path) {
      return fromBase64((await send("read", { path: at(path), binary: true }, path)).base64);
    },
    async writeBinary(path, data) {
      const bytes = typeof data === "string" ? encode(data) : isArray(data) ? Uint8Array.from(data) : bytesOf(data);
      await send("write", { path: at(path), base64: toBase64(bytes) }, path);
    },
    async delete(path) {
      try {
        await send("delete", { path: at(path) }, path);
      } catch (err) {
        if (err.kind !== "not_found") {
          throw err;
        }
      }
    },
    async list(prefix = "") {
      const from = typeof prefix === "string" ? prefix : "";
      const { files } = await send("list", { prefix: at(from, true) }, from);
      return folder === "" && inside(from, true) === "" ? files.filter((file) => !file.startsWith(`${userFolder}/`)) : files;
    },
    async exists(path) {
      return (await send("exists", { path: at(path) }, path)).exists;
    },
    async mkdir(path) {
      await send("mkdir", { path: at(path) }, path);
    },
    async move(from, to) {
      await send("move", { from: at(from), to: at(to) }, from);
    },
    async stat(path) {
      const { size, modified_ms: modified, directory } = await send("stat", { path: at(path) }, path);
      return {
        exists: true, isFile: !directory, isDirectory: Boolean(directory), size, sizeBytes: size,
        modifiedMs: modified, modifiedAt: new Date(modified).toISOString(),
      };
    },
    async getJson(path, options) {
      const forgiving = typeof options === "object" && options !== null && "fallback" in options;
      try {
        return parse(await self.read(path));
      } catch (err) {
        if (forgiving) {
          return options.fallback;
        }
        throw err;
      }
    },
    async setJson(path, value, options) {
      await self.write(path, stringify(value, null, options?.indent ?? 2));
    },
  };
  return self;
}

export const storage = store("");
export const userStorage = store(userFolder);
