package config

import (
	"net/url"
	"path"
	"slices"
	"strings"
)

// pasted reads a text that is no document: an address, a command line, a page with a configuration in it. It reports
// whether the text is one of these.
func (p *parsing) pasted(trimmed string) bool {
	lower := strings.ToLower(trimmed)
	switch {
	case strings.HasPrefix(trimmed, "{"), strings.HasPrefix(trimmed, "["), strings.HasPrefix(trimmed, `"`):
		return false
	case strings.HasPrefix(lower, "http://"), strings.HasPrefix(lower, "https://"):
		if !strings.ContainsAny(trimmed, " \t\r\n") {
			p.add(Server{URL: trimmed})
			return true
		}
	}
	if block, ok := fenced(trimmed); ok && p.block(block) {
		return true
	}
	lines := strings.Split(strings.ReplaceAll(trimmed, "\\\n", " "), "\n")
	if len(lines) == 1 {
		if words, err := splitWords(strings.TrimPrefix(lines[0], "$ ")); err == nil && p.line(words) {
			return true
		}
	}
	return p.inPage(trimmed)
}

// add adds a server that was typed, named after its program or host.
func (p *parsing) add(s Server) {
	n := node{kind: object, line: 1, column: 1}
	put := func(name string, value node) { n.members = append(n.members, member{name, value}) }
	one := func(s string) node { return node{kind: text, text: s, line: 1, column: 1} }
	if s.Command != "" {
		put("command", one(s.Command))
		args := node{kind: list}
		for _, arg := range s.Args {
			args.items = append(args.items, one(arg))
		}
		put("args", args)
	}
	if s.URL != "" {
		put("url", one(s.URL))
	}
	if s.Transport != "" {
		put("type", one(string(s.Transport)))
	}
	for name, pairs := range map[string]map[string]string{"env": s.Env, "headers": s.Headers} {
		values := node{kind: object}
		for _, key := range sorted(pairs) {
			values.members = append(values.members, member{key, one(pairs[key])})
		}
		put(name, values)
	}
	if s.Name == "" {
		s.Name = SuggestedName(s)
	}
	if p.program == "" {
		p.program = Pasted
	}
	p.entry(s.Name, n, "")
}

// fenced returns the first block of code in a page that looks like a configuration.
func fenced(page string) (string, bool) {
	_, rest, found := strings.Cut(page, "```")
	for found {
		var block string
		if block, rest, found = strings.Cut(rest, "```"); !found {
			break
		}
		language, inner, _ := strings.Cut(block, "\n")
		if strings.Contains(inner, "command") || strings.Contains(inner, "url") || strings.Contains(language, "sh") ||
			strings.Contains(inner, "mcp") {
			return strings.TrimSpace(inner), true
		}
		_, rest, found = strings.Cut(rest, "```")
	}
	return "", false
}

// block reads a block of code.
func (p *parsing) block(block string) bool {
	inner := &parsing{program: p.program, project: p.project}
	if !inner.pasted(block) {
		inner.document(block)
	}
	if len(inner.servers) == 0 {
		return false
	}
	p.servers, p.problems = inner.servers, inner.problems
	return true
}

// inPage reads the first object of a text that has servers in it.
func (p *parsing) inPage(page string) bool {
	for at, tries := strings.IndexByte(page, '{'), 0; at >= 0 && tries < 20; tries++ {
		if root, _, err := readPrefix(page[at:]); err == nil {
			inner := &parsing{program: p.program, project: p.project}
			if inner.shape(root) && len(inner.servers) > 0 {
				p.servers, p.problems = inner.servers, inner.problems
				return true
			}
		}
		next := strings.IndexByte(page[at+1:], '{')
		if next < 0 {
			return false
		}
		at += 1 + next
	}
	return false
}

// line reads a command line: of a server, or of a program that adds one.
func (p *parsing) line(words []string) bool {
	if len(words) == 0 {
		return false
	}
	if len(words) > 3 && slices.Contains(words[1:3], "mcp") && slices.Contains(words[2:4], "add") {
		return p.adding(words[slices.Index(words, "add")+1:])
	}
	if at := slices.Index(words, "--add-mcp"); at > 0 && at+1 < len(words) {
		return p.block(words[at+1])
	}
	env := map[string]string{}
	for len(words) > 1 {
		name, value, ok := strings.Cut(words[0], "=")
		if !ok || variableName(name) == "" {
			break
		}
		env[name] = value
		words = words[1:]
	}
	program := words[0]
	isPath := isAbs(program) || strings.HasPrefix(program, "./") || strings.HasPrefix(program, "~/")
	if !isRunner(program) && !isPath || strings.HasPrefix(program, "/*") || strings.HasPrefix(program, "//") {
		return false
	}
	p.add(Server{Command: words[0], Args: words[1:], Env: env})
	return true
}

// adding reads what follows "claude mcp add", and that of programs that took the form over.
func (p *parsing) adding(words []string) bool {
	s := Server{Env: map[string]string{}, Headers: map[string]string{}}
	var plain []string
	for i := 0; i < len(words); i++ {
		flag, value, joined := strings.Cut(words[i], "=")
		if words[i] == "--" {
			plain = append(plain, words[i+1:]...)
			break
		}
		if !strings.HasPrefix(flag, "-") {
			plain = append(plain, words[i])
			if len(plain) > 1 && !strings.HasPrefix(plain[1], "http") { // the arguments of the command follow
				plain = append(plain, words[i+1:]...)
				break
			}
			continue
		}
		if !joined && i+1 < len(words) {
			i++
			value = words[i]
		}
		switch flag {
		case "-t", "--transport":
			s.Transport = Transport(value)
		case "-e", "--env":
			name, content, _ := strings.Cut(value, "=")
			s.Env[name] = content
		case "-H", "--header":
			name, content, _ := strings.Cut(value, ":")
			s.Headers[strings.TrimSpace(name)] = strings.TrimSpace(content)
		}
	}
	if len(plain) < 2 {
		return false
	}
	s.Name = plain[0]
	if strings.HasPrefix(strings.ToLower(plain[1]), "http") {
		s.URL = plain[1]
	} else {
		s.Command, s.Args, s.Transport = plain[1], plain[2:], ""
	}
	if p.program == "" {
		p.program = ClaudeCode
	}
	p.add(s)
	return true
}

// SuggestedName names a server that has no name after its package, its program or its host.
func SuggestedName(s Server) string {
	if s.URL != "" {
		parsed, err := url.Parse(s.URL)
		if err != nil || parsed.Hostname() == "" {
			return "server"
		}
		for _, part := range strings.Split(parsed.Hostname(), ".") {
			if !slices.Contains([]string{"www", "mcp", "api"}, part) {
				return part
			}
		}
		return parsed.Hostname()
	}
	name := programName(s.Command)
	for i, arg := range s.Args {
		if strings.HasPrefix(arg, "-") || slices.Contains([]string{"run", "exec", "dlx", "tool", "/c", "x"}, arg) ||
			i > 0 && slices.Contains([]string{"-e", "--env", "-v", "--directory", "--from", "-p", "--name"}, s.Args[i-1]) {
			continue
		}
		if isRunner(arg) && i+1 < len(s.Args) {
			continue
		}
		if isRunner(name) {
			name = arg
		}
		break
	}
	name = path.Base(strings.ReplaceAll(strings.TrimPrefix(name, "@"), `\`, "/"))
	name, _, _ = strings.Cut(name, "@")
	name, _, _ = strings.Cut(name, "==")
	name, _, _ = strings.Cut(name, ":")
	name = strings.TrimSuffix(strings.TrimSuffix(name, path.Ext(name)), ".")
	for _, word := range []string{"mcp-server-", "server-", "mcp-"} {
		name = strings.TrimPrefix(name, word)
	}
	for _, word := range []string{"-mcp-server", "-mcp", "-server"} {
		name = strings.TrimSuffix(name, word)
	}
	if name == "" || name == "." {
		return "server"
	}
	return name
}
