// The WHATWG Streams Standard, from a library.
(function ({ library }) {
  const streams = library("web-streams-polyfill");
  return { ...streams, disturbed: (stream) => stream._disturbed === true };
})
