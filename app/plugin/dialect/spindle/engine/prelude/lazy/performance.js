// performance: the clock, and marks as far as a plugin may read them back.
(function ({ $Map, $String, $TypeError, host, mapGet, mapSet, now }) {
  const timeOrigin = now() - +host("now");
  const most = 1000; // entries kept
  const marks = new $Map();
  let entries = [];

  class Performance {
    get timeOrigin() {
      return timeOrigin;
    }
    now() {
      return +host("now");
    }
    mark(name, options = {}) {
      const entry = { name: $String(name), entryType: "mark", startTime: options?.startTime ?? +host("now"), duration: 0, detail: options?.detail ?? null };
      mapSet(marks, entry.name, entry.startTime);
      entries = [...entries, entry].slice(-most);
      return entry;
    }
    measure(name, from, to) {
      const place = (mark, otherwise) => {
        if (typeof mark === "number") {
          return mark;
        }
        if (mark === undefined) {
          return otherwise;
        }
        const at = mapGet(marks, $String(mark));
        if (at === undefined) {
          throw new $TypeError(`There is no mark "${mark}".`);
        }
        return at;
      };
      const options = typeof from === "object" && from !== null ? from : { start: from, end: to };
      const end = place(options.end, +host("now"));
      const startTime = place(options.start, 0);
      const entry = { name: $String(name), entryType: "measure", startTime, duration: end - startTime, detail: options.detail ?? null };
      entries = [...entries, entry].slice(-most);
      return entry;
    }
    getEntries() {
      return [...entries];
    }
    getEntriesByName(name, type) {
      return entries.filter((e) => e.name === name && (type === undefined || e.entryType === type));
    }
    getEntriesByType(type) {
      return entries.filter((e) => e.entryType === type);
    }
    clearMarks(name) {
      entries = entries.filter((e) => e.entryType !== "mark" || (name !== undefined && e.name !== name));
    }
    clearMeasures(name) {
      entries = entries.filter((e) => e.entryType !== "measure" || (name !== undefined && e.name !== name));
    }
    toJSON() {
      return { timeOrigin };
    }
  }

  return { performance: new Performance(), Performance };
})
