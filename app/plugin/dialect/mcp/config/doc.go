// Package config reads what people have written down about MCP servers: the configuration
// files of other programs, pasted text, links, server.json of the registry. It recognises
// them by content, runs nothing, writes nothing, and does not know the plugin host.
//
// Read Server, Parse and Fill first. A Server as Parse returns it may contain placeholders,
// which its Inputs describe; Form makes a settings form of them and Fill puts values in
// their place. TakeSecrets separates the values that belong into the keychain.
package config
