// Package auth signs Conclave in to MCP servers that are reached over HTTP: OAuth 2.1 as the
// Model Context Protocol describes it, for all its revisions.
//
// An [Account] is one entry of a configuration at one server. It is the [http.RoundTripper] of
// the requests to that server, so that Streamable HTTP, its GET streams and the old SSE sign in
// in the same way: it adds the token, renews it before it expires, and turns a refusal into a
// [*NeedsSignIn]. It never opens a browser by itself: [Account.SignIn] does, when the person
// asked for it.
//
// Tokens, refresh tokens and client secrets are in the keychain and in memory. They are in no
// log, error, record or address. What a server or its sign-in service writes is cleaned before
// a person sees it.
//
// The package knows the protocol of neither tools nor sessions, and no plugin.
package auth
