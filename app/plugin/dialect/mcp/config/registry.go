package config

import (
	"slices"
	"strings"
)

// registry reads a server.json of the MCP registry, of schema 2025-12-11 or with the names of 2025-07: the first
// package that can be started here, else the first address.
func (p *parsing) registry(root node) {
	if inner := root.get("server"); inner.kind == object {
		root = inner
	}
	p.program = Registry
	whole := root.get("name").words()
	name := whole[strings.LastIndexByte(whole, '/')+1:]
	if name == "" {
		name = "server"
	}
	var why []string
	for _, choice := range append(slices.Clone(root.get("packages").items), root.get("remotes").items...) {
		e := entry{parsing: p, node: choice}
		e.s = Server{Name: name, Program: Registry, Line: choice.line}
		e.in = inputs{program: Registry}
		if problem := e.published(); problem != "" {
			why = append(why, problem)
			continue
		}
		e.s.Inputs = e.in.all
		e.s.Marked = Marks(e.s)
		p.servers = append(p.servers, e.s)
		return
	}
	if len(why) == 0 {
		why = []string{"It names neither a package nor an address."}
	}
	p.refuse(root.problem(name, strings.Join(slices.Compact(why), " "), ""))
}

// published reads a package or an address of a server.json; it returns a sentence where that cannot be used.
func (e *entry) published() string {
	n := e.node
	if n.has("identifier", "registryType", "registry_type", "registry_name") {
		return e.packaged()
	}
	e.s.URL = e.template(n.get("url").words(), n.get("variables"))
	e.s.Transport = HTTP
	if strings.EqualFold(n.get("type", "transport_type").words(), "sse") {
		e.s.Transport = SSE
	}
	if problem := checkAddress(e.s.URL); problem != "" {
		return problem
	}
	if host := e.s.PrivateHost(); host != "" {
		return "Its address is " + host + ", of this computer or its network; type it yourself if you know the server."
	}
	for _, header := range n.get("headers").items {
		name := header.get("name").words()
		if value := e.given(header, name); name != "" && value != "" {
			if e.s.Headers == nil {
				e.s.Headers = map[string]string{}
			}
			e.s.Headers[name] = value
		}
	}
	return ""
}

// packaged makes the command that starts a package.
func (e *entry) packaged() string {
	n := e.node
	identifier := n.get("identifier", "name").words()
	version := n.get("version").words()
	if transport := n.get("transport").get("type").words(); transport != "" && transport != "stdio" {
		return "Its package is a server that listens at an address (" + transport + "), which Conclave does not start."
	}
	if identifier == "" || strings.HasPrefix(identifier, "-") {
		return "Its package has no name."
	}
	pinned := identifier
	if version != "" && !strings.HasPrefix(version, "-") {
		pinned += "@" + version
	}
	before := e.arguments(n.get("runtimeArguments", "runtime_arguments"))
	after := e.arguments(n.get("packageArguments", "package_arguments"))
	e.variablesOf(n)
	switch kind := n.get("registryType", "registry_type", "registry_name").words(); kind {
	case "npm":
		e.s.Command, e.s.Args = "npx", append(append([]string{"-y"}, without(before, "-y")...), pinned)
	case "pypi":
		e.s.Command, e.s.Args = "uvx", append(before, pinned)
	case "nuget":
		e.s.Command, e.s.Args = "dnx", append(append(before, pinned, "--yes"), dashes(after)...)
	case "oci", "docker":
		e.s.Command = "docker"
		e.s.Args = append([]string{"run", "-i", "--rm"}, without(before, "run", "-i", "--rm")...)
		for _, name := range sorted(e.s.Env) {
			e.s.Args = append(e.s.Args, "-e", name) // its value is in the environment, which docker passes on
		}
		if version != "" && !strings.ContainsAny(identifier[strings.LastIndexByte(identifier, '/')+1:], ":@") {
			identifier += ":" + version
		}
		e.s.Args = append(e.s.Args, identifier)
	case "mcpb":
		return "Its package is a bundle (.mcpb): download it, and add the file."
	default:
		return "Its package is of a kind that Conclave does not start: " + shown(kind) + "."
	}
	e.s.Args = append(e.s.Args, after...)
	e.s.Transport = Stdio
	return ""
}

// dashes returns "--" where arguments follow that are the server's and not the runner's.
func dashes(after []string) []string {
	if len(after) == 0 {
		return nil
	}
	return []string{"--"}
}

func without(all []string, words ...string) []string {
	return slices.DeleteFunc(all, func(s string) bool { return slices.Contains(words, s) })
}

// variablesOf reads the variables of a package.
func (e *entry) variablesOf(n node) {
	for _, variable := range n.get("environmentVariables", "environment_variables").items {
		name := variable.get("name").words()
		value := e.given(variable, name)
		if name == "" || value == "" {
			continue
		}
		if e.s.Env == nil {
			e.s.Env = map[string]string{}
		}
		e.s.Env[name] = value
	}
}

// arguments reads positional and named arguments.
func (e *entry) arguments(all node) []string {
	var args []string
	for _, n := range all.items {
		name := n.get("name").words()
		if n.get("type").words() != "named" {
			if value := e.given(n, n.get("valueHint", "value_hint").words()); value != "" {
				args = append(args, value)
			}
			continue
		}
		if !n.has("value", "default", "choices", "format", "isRequired", "is_required", "isSecret", "is_secret",
			"description") {
			args = append(args, name) // a flag
			continue
		}
		if n.get("isRepeated", "is_repeated").isTrue() {
			e.warn("Its argument %s may be repeated; here it has one value.", name)
		}
		value := e.given(n, strings.TrimLeft(name, "-"))
		if _, optional := only(value); optional && !n.get("isRequired", "is_required").isTrue() {
			args = append(args, name+"="+value) // both are left out together
			continue
		}
		args = append(args, name, value)
	}
	return args
}

// given returns what stands for an argument, variable or header: its value, or the placeholder of an input.
func (e *entry) given(n node, id string) string {
	if value, ok := n.get("value").scalar(); ok && value != "" {
		return e.template(value, n.get("variables"))
	}
	if id == "" {
		id = "argument"
	}
	return e.in.add(e.field(n, id))
}

// field reads the description of an input.
func (e *entry) field(n node, id string) Input {
	kinds := map[string]InputKind{"number": Number, "boolean": Boolean, "filepath": File, "file_path": File}
	input := Input{
		ID: id, Description: n.get("description").words(), Kind: kinds[n.get("format").words()],
		Secret:   n.get("isSecret", "is_secret").isTrue(),
		Optional: !n.get("isRequired", "is_required").isTrue(), Choices: choices(n.get("choices")),
		Multiple: n.get("isRepeated", "is_repeated").isTrue() && n.get("type").words() != "named",
	}
	if value, ok := n.get("default").scalar(); ok && value != "" {
		input.Default = value
		if number, ok := n.get("default").float(); ok && input.Kind == Number {
			input.Default = number
		}
		if input.Kind == Boolean {
			input.Default = n.get("default").isTrue()
		}
	}
	return input
}

// template replaces {name} in a text by the placeholders of its variables; other braces are literal.
func (e *entry) template(s string, variables node) string {
	for _, m := range variables.members {
		if !strings.Contains(s, "{"+m.name+"}") {
			continue
		}
		stand := ""
		if value, ok := m.value.get("value").scalar(); ok {
			stand = value
		} else {
			input := e.field(m.value, m.name)
			stand = e.in.add(input)
		}
		s = strings.ReplaceAll(s, "{"+m.name+"}", stand)
	}
	return s
}
