package mcp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"conclave/app/base/limit"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/dialect/mcp/config"
)

// row holds what a person approves of a server: its entry, with references in place of secrets; or why that cannot
// be read.
type row struct {
	Server  *config.Server  `json:"server,omitempty"`
	Bundle  *bundled        `json:"bundle,omitempty"` // of a server that comes with its code
	Problem *config.Problem `json:"problem,omitempty"`
	File    string          `json:"file,omitempty"` // of the problem
}

// text returns the row for plugin.Source. Where an entry stands, and whose form it has, is no part of it, so that a
// change of another leaves it as it is.
func (r row) text() string {
	if r.Server != nil {
		s := *r.Server
		s.Line, s.Program, s.Scope, r.File = 0, "", "", ""
		r.Server = &s
	}
	raw, err := json.Marshal(r)
	if err != nil {
		return "" // numbers of a configuration are finite, and all else is text
	}
	return string(raw)
}

// readRow reads what text wrote. The error is a *plugin.Problem, that of the row where it has one.
func readRow(text string) (r row, err error) {
	if err := json.Unmarshal([]byte(text), &r); err != nil || r.Server == nil && r.Problem == nil {
		return r, &plugin.Problem{Kind: "script", Message: "What is kept of this server cannot be read."}
	}
	if p := r.Problem; p != nil {
		return r, &plugin.Problem{
			Kind: "script", File: r.File, Line: p.Line, Column: p.Column, Message: p.Message, Hint: p.Hint,
		}
	}
	return r, nil
}

// manifest returns what is known of a server before it has run.
func (r row) manifest() *plugin.Manifest {
	s := *r.Server
	detail, err := json.Marshal(s)
	if err != nil {
		detail = nil // it came from JSON
	}
	m := &plugin.Manifest{
		Dialect: Name, Name: s.Name, Description: describe(s), Entry: FileName, Permissions: permissions(s), Detail: detail,
		Notices: slices.Concat(s.Marked, gets(s), s.Warnings),
	}
	if r.Bundle != nil {
		r.Bundle.describe(m)
	}
	if s.Off {
		m.Off = &plugin.Problem{
			Kind: "refused", Message: "Its configuration switches it off.",
			Hint: "Take “disabled” out of its entry, or switch it on there.",
		}
	}
	if s.Command == "" && s.URL == "" {
		m.Off = &plugin.Problem{
			Kind: "script", Message: "Its entry names neither a command nor an address.",
			Hint: `It needs "command" or "url".`,
		}
	}
	return m
}

// gets returns sentences about what a server gets besides its command line: all of it is approved with the row.
func gets(s config.Server) (sentences []string) {
	if s.Command != "" && s.Dir != "" {
		may := ", and may read it."
		if broad(s.Dir) {
			may = "."
		}
		sentences = append(sentences, "It starts in the folder "+s.Dir+may)
	}
	if s.EnvFile != "" {
		sentences = append(sentences, "It gets the variables in the file "+s.EnvFile+".")
	}
	var set []string
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		if value := s.Env[name]; !strings.Contains(value, "${input:") { // else it is among its settings
			name += "=" + quoted(value)
		}
		set = append(set, name)
	}
	if len(set) > 0 {
		sentences = append(sentences, "It gets these variables: "+strings.Join(set, ", ")+".")
	}
	var own []string
	for _, input := range s.Inputs {
		if input.Env != "" {
			own = append(own, input.Env)
		}
	}
	if len(own) > 0 {
		sentences = append(sentences, "What your login shell has in these variables is put into its settings, unless you "+
			"fill them in: "+strings.Join(own, ", ")+".")
	}
	return sentences
}

// describe returns what a server is started or reached with, whole.
func describe(s config.Server) string {
	if s.Remote() {
		return "An MCP server at " + s.URL + "."
	}
	return "An MCP server, started with: " + commandLine(s)
}

// commandLine returns the command of a server as a person reads it.
func commandLine(s config.Server) string {
	words := []string{quoted(s.Command)}
	for _, arg := range s.Args {
		words = append(words, quoted(arg))
	}
	return strings.Join(words, " ")
}

// quoted returns a word of a command, in quotes where it has spaces.
func quoted(word string) string {
	if word == "" || strings.ContainsAny(word, " \t\n\"'") {
		return fmt.Sprintf("%q", word)
	}
	return word
}

// permissions are those that a server asks for. What opens the sandbox is granted by itself, never with the
// approval. A server on the web is no process that a sandbox could hold.
func permissions(s config.Server) []string {
	if s.Remote() {
		return []string{}
	}
	return []string{gate.Network, gate.Programs}
}

// target is the command or the address of a server, for sentences.
func target(s config.Server) string { return cmp.Or(s.URL, s.Command) }

// listed joins names for a sentence.
func listed(names []string) string { return limit.Listed(names) }
