// Package mcp is the dialect of MCP servers: programs and addresses that offer tools over the
// Model Context Protocol and know nothing of Conclave.
package mcp
