package wire

// User is the id of the one person that plugins ever see: in calls, events, hooks
// and macros alike (docs/WIRE.md, section 3). Plugins compare it and key their
// data by it, so it never changes.
const User = "conclave-user"
