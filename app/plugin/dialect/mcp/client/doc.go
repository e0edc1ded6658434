// Package client speaks the Model Context Protocol to one server that somebody else wrote: over the
// standard streams of a process, over Streamable HTTP, and over the older HTTP with server-sent events;
// in the revisions 2024-11-05 to 2026-07-28.
//
// It knows the protocol and nothing else: who starts the process, who may call a tool, what a person is
// asked and where a token comes from is the business of its caller. Read Options, Session and Question
// first. Messages are those of the go-sdk; its client is not used, because it drops what servers of
// today need (docs/adr/0043).
package client
