// console: every line goes to the plugin's log.
(function ({
  $Date, $Error, $Map, $RegExp, $Set, $String, describe, getPrototypeOf, indexOf, isArray, isView, join, keys, mapForEach, mapGet,
  mapSet, now, push, repeat, setForEach, slice, stringify, substring, tell, text,
}) {
  const deepest = 4; // levels shown of a nested value
  const longest = 100; // entries shown of one value
  const widest = 10000; // characters shown of one text

  /** inspect shows a value as a person debugging would like to read it. */
  function inspect(value, seen = [], nested = false) {
    switch (typeof value) {
      case "string":
        return nested ? stringify(substring(value, 0, widest)) : substring(value, 0, widest);
      case "bigint":
        return `${value}n`;
      case "symbol":
        return $String(value);
      case "function":
        return `[function ${describe(value).name || "anonymous"}]`;
      case "object":
        break;
      default:
        return text(value);
    }
    if (value === null) {
      return "null";
    }
    if (indexOf(seen, value) >= 0) {
      return "[circular]";
    }
    if (seen.length >= deepest) {
      return isArray(value) ? "[…]" : "{…}";
    }
    const above = slice(seen);
    push(above, value);
    try {
      return compound(value, above);
    } catch {
      return text(value);
    }
  }

  function compound(value, seen) {
    const show = (v) => inspect(v, seen, true);
    if (value instanceof $Error) {
      const d = describe(value);
      return `${d.name}: ${d.message}${d.stack ? `\n${d.stack}` : ""}`;
    }
    if (value instanceof $Date || value instanceof $RegExp) {
      return text(value);
    }
    const parts = [];
    let left = longest;
    const add = (part) => {
      if (left-- > 0) {
        push(parts, part());
      }
    };
    let open = "{";
    let close = "}";
    let label = "";
    if (isArray(value) || isView(value)) {
      open = "[";
      close = "]";
      label = isArray(value) ? "" : `${value.constructor?.name ?? "view"}(${value.length ?? value.byteLength}) `;
      for (let i = 0; i < value.length && i <= longest; i++) {
        add(() => show(value[i]));
      }
      left = longest - (value.length ?? 0);
    } else if (value instanceof $Map) {
      label = "Map ";
      mapForEach(value, (v, k) => add(() => `${show(k)} => ${show(v)}`));
    } else if (value instanceof $Set) {
      label = "Set ";
      setForEach(value, (v) => add(() => show(v)));
    } else {
      const prototype = getPrototypeOf(value);
      const name = prototype === null ? "" : prototype.constructor?.name;
      label = name && name !== "Object" ? `${name} ` : "";
      const names = keys(value);
      for (let i = 0; i < names.length; i++) {
        add(() => `${names[i]}: ${show(value[names[i]])}`);
      }
    }
    if (left < 0) {
      push(parts, `… ${-left} more`);
    }
    if (parts.length === 0) {
      return `${label}${open}${close}`;
    }
    return open === "[" ? `${label}[${join(parts, ", ")}]` : `${label}{ ${join(parts, ", ")} }`;
  }

  /** format joins arguments as console.log does, with the % words of the Console Standard. */
  function format(args) {
    let at = 0;
    let line = "";
    if (typeof args[0] === "string" && args.length > 1 && indexOf(args[0].split(""), "%") >= 0) {
      const first = args[at++];
      for (let i = 0; i < first.length; i++) {
        const kind = first[i] === "%" ? first[i + 1] : undefined;
        if (kind === "%") {
          line += "%";
          i++;
        } else if (kind !== undefined && "sdifjoOc".indexOf(kind) >= 0 && at < args.length) {
          const arg = args[at++];
          i++;
          if (kind === "d" || kind === "i") {
            line += kind === "i" ? text(Math.trunc(+arg)) : text(+arg);
          } else if (kind === "f") {
            line += text(+arg);
          } else if (kind !== "c") {
            line += inspect(arg, [], kind === "o" || kind === "O" || kind === "j");
          }
        } else {
          line += first[i];
        }
      }
    }
    const parts = line === "" ? [] : [line];
    for (; at < args.length; at++) {
      push(parts, inspect(args[at]));
    }
    return join(parts, " ");
  }

  let depth = 0;
  const counts = new $Map();
  const clocks = new $Map();

  function write(level, args) {
    let line;
    try {
      line = format(args);
    } catch (err) {
      line = text(err);
    }
    tell("log", { level, text: repeat("  ", depth) + line, printed: true });
  }

  const console = {
    log(...args) {
      write("info", args);
    },
    info(...args) {
      write("info", args);
    },
    debug(...args) {
      write("debug", args);
    },
    warn(...args) {
      write("warning", args);
    },
    error(...args) {
      write("error", args);
    },
    trace(...args) {
      const at = new $Error().stack ?? "";
      write("debug", ["Trace:", ...args, `\n${at}`]);
    },
    dir(value) {
      write("info", [inspect(value, [], true)]);
    },
    table(value) {
      write("info", [inspect(value, [], true)]);
    },
    assert(ok, ...args) {
      if (!ok) {
        write("error", ["Assertion failed:", ...args]);
      }
    },
    group(...args) {
      if (args.length > 0) {
        write("info", args);
      }
      depth = depth < 20 ? depth + 1 : depth;
    },
    groupEnd() {
      depth = depth > 0 ? depth - 1 : 0;
    },
    count(label = "default") {
      const n = (mapGet(counts, label) ?? 0) + 1;
      mapSet(counts, label, n);
      write("info", [`${text(label)}: ${n}`]);
    },
    countReset(label = "default") {
      mapSet(counts, label, 0);
    },
    time(label = "default") {
      mapSet(clocks, label, now());
    },
    timeLog(label = "default", ...args) {
      write("info", [`${text(label)}: ${now() - (mapGet(clocks, label) ?? now())} ms`, ...args]);
    },
    timeEnd(label = "default") {
      console.timeLog(label);
    },
  };
  console.groupCollapsed = console.group;
  console.dirxml = console.dir;

  return { console, inspect };
})
