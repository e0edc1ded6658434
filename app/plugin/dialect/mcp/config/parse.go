package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// MaxBytes bounds a configuration: the largest file of settings seen has 2 MiB, with the history of its program.
const MaxBytes = 16 << 20

// MaxServers bounds the servers of one configuration: a person approves each.
const MaxServers = 200

// Parse reads the servers of a configuration, whatever its shape: a file's content, pasted text, a link. hint is the
// path or the Program that it comes from, which decides where the content fits several; it may be empty. One bad
// entry does not stop the others: it is a Problem with its name. Servers are in the order of the text.
func Parse(data []byte, hint string) (servers []Server, problems []Problem) {
	if len(data) > MaxBytes {
		return nil, []Problem{{Message: fmt.Sprintf("It has more than %d MiB.", MaxBytes>>20)}}
	}
	p := &parsing{program: hinted(hint), project: projectOf(hint)}
	all := decoded(data)
	trimmed := strings.TrimSpace(all)
	switch {
	case trimmed == "":
		p.refuse(Problem{Message: "It is empty."})
	case isLink(trimmed):
		p.link(trimmed)
	case p.pasted(trimmed):
	default:
		p.document(all)
	}
	return p.servers, p.problems
}

// document reads a whole JSON or YAML text.
func (p *parsing) document(all string) {
	root, err := p.tree(all)
	if err != nil {
		p.refuse(problemOf(err))
		return
	}
	if !p.shape(root) {
		p.refuse(root.problem("", "No MCP server was found in it.",
			`Servers stand under "mcpServers", "servers" or "context_servers", or a single one is an object with "command" or "url".`))
	}
}

// tree reads JSON, or YAML where the text does not begin as JSON does.
func (p *parsing) tree(all string) (node, error) {
	begin := strings.TrimLeft(all, " \t\r\n")
	switch {
	case strings.HasPrefix(begin, "{"), strings.HasPrefix(begin, "["), strings.HasPrefix(begin, "//"),
		strings.HasPrefix(begin, "/*"):
		return readJSON(all)
	case strings.HasPrefix(begin, `"`): // a part of a JSON object
		inner, err := readJSON("{" + all + "}")
		if err == nil {
			return inner, nil
		}
	}
	n, err := readYAML(all)
	if err == nil && n.kind != object && n.kind != list {
		return n, &syntaxError{0, 0, "It is neither a configuration, a link, an address nor a command"}
	}
	if err == nil && p.program == "" && n.get("mcpServers").kind == object {
		p.program = LibreChat
	}
	return n, err
}

func problemOf(err error) Problem {
	message := strings.TrimSuffix(err.Error(), ".") + "."
	if at, ok := errors.AsType[*syntaxError](err); ok {
		return Problem{Line: at.line, Column: at.column, Message: message}
	}
	return Problem{Message: message}
}

// shape reads the servers of a tree; false where it has none of the shapes.
func (p *parsing) shape(root node) bool {
	switch {
	case root.kind == list:
		return slices.ContainsFunc(root.items, isEntry) && p.listed(root)
	case root.kind != object:
		return false
	case root.get("$schema").words() != "" && strings.Contains(root.get("$schema").text, "server.schema.json"),
		root.has("packages", "remotes") && root.has("name"), root.get("server").has("packages", "remotes"):
		p.registry(root)
		return true
	}
	projects := root.get("projects")
	hasServers := func(m member) bool { return m.value.has("mcpServers") }
	if p.program == "" && slices.ContainsFunc(projects.members, hasServers) {
		p.program = ClaudeCode
	}
	found := false
	for _, s := range []struct {
		member  string
		program Program
	}{{"mcpServers", ""}, {"mcp_servers", ""}, {"servers", VSCode}, {"context_servers", Zed}} {
		servers := root.get(s.member)
		if servers.kind != object && (servers.kind != list || s.program == VSCode) { // OpenAPI has a list of servers
			continue
		}
		if p.program == "" {
			p.program = s.program
		}
		p.inputs = p.described(root.get("inputs"))
		p.all(servers, "")
		found = true
	}
	mcp := root.get("mcp")
	if servers := mcp.get("servers"); servers.kind == object { // VS Code's settings.json
		p.inputs = p.described(mcp.get("inputs"))
		p.all(servers, "")
		found = true
	}
	if p.projects(projects) {
		found = true
	}
	p.switched(mcp)
	if found || p.single(root) {
		return true
	}
	return root.has("mcpServers", "servers", "context_servers") // there, and empty
}

// projects reads the servers of Claude Code's projects.
func (p *parsing) projects(projects node) (found bool) {
	for _, project := range projects.members {
		if servers := project.value.get("mcpServers"); servers.kind == object {
			p.all(servers, project.name)
			found = true
		}
	}
	return found
}

// all reads an object of servers, or the list of Continue.
func (p *parsing) all(servers node, scope string) {
	if servers.kind == list {
		p.listed(servers)
		return
	}
	for _, m := range servers.members { // one entry shows whose file it is
		if program := programOf(m.value); p.program == "" && program != Mcp {
			p.program = program
		}
	}
	count := map[string]int{}
	for _, m := range servers.members {
		count[m.name]++
	}
	for _, m := range servers.members {
		if len(p.problems) > MaxServers {
			return // nobody reads more
		}
		if count[m.name]--; count[m.name] > 0 {
			p.refuse(m.value.problem(m.name, "It is written twice; the later one is used.", "Take one of them out."))
			continue
		}
		p.entry(m.name, m.value, scope)
	}
}

// listed reads a list of servers with their names in them.
func (p *parsing) listed(servers node) bool {
	if p.program == "" {
		p.program = Continue
	}
	for i, item := range servers.items[:min(len(servers.items), 2*MaxServers)] {
		name := item.get("name", "id").words()
		if name == "" {
			name = fmt.Sprintf("server %d", i+1)
		}
		p.entry(name, item, "")
	}
	return len(servers.items) > 0
}

// single reads one server without a wrapper, or an object of servers without one.
func (p *parsing) single(root node) bool {
	if isEntry(root) {
		name := root.get("name").words()
		if name == "" {
			name = p.nameOf(root)
		}
		p.entry(name, root, "")
		return true
	}
	if len(root.members) == 0 {
		return false
	}
	for _, m := range root.members {
		if !isEntry(m.value) {
			return false
		}
	}
	p.all(root, "")
	return true
}

func isEntry(n node) bool {
	return n.kind == object && n.has("command", "url", "httpUrl", "serverUrl", "baseUrl")
}

// nameOf names a server after its program or its host.
func (p *parsing) nameOf(n node) string {
	quiet := parsing{program: p.program}
	quiet.entry("server", n, "")
	if len(quiet.servers) == 0 {
		return "server"
	}
	return SuggestedName(quiet.servers[0])
}

// switched applies the lists of Gemini CLI: mcp.allowed and mcp.excluded.
func (p *parsing) switched(mcp node) {
	allowed, excluded := mcp.get("allowed").texts(), mcp.get("excluded").texts()
	for i, s := range p.servers {
		if slices.Contains(excluded, s.Name) || mcp.has("allowed") && !slices.Contains(allowed, s.Name) {
			p.servers[i].Off = true
		}
	}
}

// described reads the inputs of VS Code, and what Write adds to them.
func (p *parsing) described(all node) map[string]Input {
	known := map[string]Input{}
	for _, n := range all.items {
		id := n.get("id").words()
		if id == "" {
			continue
		}
		input := Input{
			ID: id, Title: n.get("title").words(), Description: n.get("description").words(),
			Secret: n.get("password").isTrue() || n.get("secret").isTrue(), Choices: choices(n.get("options")),
			Optional: n.get("optional").isTrue(), Multiple: n.get("multiple").isTrue(), Env: n.get("env").words(),
			Kind: InputKind(n.get("kind").words()), Default: n.get("default").value(),
		}
		if input.Default == "" || n.get("default").kind == object {
			input.Default = nil
		}
		if n.get("type").words() == "command" {
			input.Description = strings.TrimSpace(input.Description +
				" In VS Code a command gives it; here you set it yourself.")
		}
		input.Min, input.Max = bound(n.get("min")), bound(n.get("max"))
		known[id] = input
	}
	return known
}

// choices reads the options of an input: texts, or objects with a label and a value.
func choices(options node) []string {
	var all []string
	for _, option := range options.items {
		if s, ok := option.scalar(); ok {
			all = append(all, s)
		} else if s, ok := option.get("value").scalar(); ok {
			all = append(all, s)
		}
	}
	return all
}

func bound(n node) *float64 {
	if value, ok := n.float(); ok {
		return &value
	}
	return nil
}
