package config

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
)

// parsing reads the servers of one text.
type parsing struct {
	program  Program // as the hint or the content names it; empty when neither does
	project  string
	inputs   map[string]Input // that the text describes
	servers  []Server
	problems []Problem
}

func (p *parsing) refuse(problem Problem) { p.problems = append(p.problems, problem) }

// entry is the reading of one server.
type entry struct {
	*parsing
	in   inputs
	node node
	s    Server
}

// maxWords bounds the arguments, and the variables and headers, of one server.
const maxWords = 1000

// noGrant are members by which other programs let servers do something unasked.
var noGrant = []string{"trust", "autoApprove", "alwaysAllow", "sandboxEnabled", "autoStart", "requireApproval"}

// entry reads one server. scope tells servers of one name apart.
func (p *parsing) entry(name string, n node, scope string) {
	if len(p.servers) >= MaxServers {
		if len(p.servers) == MaxServers {
			message := fmt.Sprintf("It has more than %d servers; those after them were left out.", MaxServers)
			p.refuse(n.problem("", message, ""))
		}
		return
	}
	if n.kind != object {
		p.refuse(n.problem(name, "Its entry is "+n.what()+", and not an object.",
			`An entry is written {"command": "…", "args": […]} or {"url": "https://…"}.`))
		return
	}
	e := entry{parsing: p, node: n}
	e.s = Server{Name: name, Scope: scope, Program: p.program, Line: n.line}
	if e.s.Program == "" {
		e.s.Program = programOf(n)
	}
	e.in = inputs{program: e.s.Program, known: p.inputs, project: p.projectFor(scope)}
	if problem := e.read(); problem != nil {
		problem.Server = name
		p.refuse(*problem)
		return
	}
	if e.in.tooMany || len(e.s.Args) > maxWords || len(e.s.Env)+len(e.s.Headers) > maxWords {
		message := fmt.Sprintf("It has more than %d placeholders, or %d arguments.", maxInputs, maxWords)
		p.refuse(n.problem(name, message, ""))
		return
	}
	e.s.Inputs = e.in.all
	e.s.Marked = Marks(e.s)
	p.servers = append(p.servers, e.s)
}

func (p *parsing) projectFor(scope string) string {
	if scope != "" {
		return scope
	}
	return p.project
}

// programOf returns the program whose members an entry has.
func programOf(n node) Program {
	switch {
	case n.has("isActive", "registryUrl", "longRunning", "baseUrl"):
		return CherryStudio
	case n.has("httpUrl", "trust"):
		return Gemini
	case n.has("serverUrl"):
		return Windsurf
	case n.has("alwaysAllow"):
		return Roo
	case n.has("autoApprove"):
		return Cline
	}
	return Mcp
}

func (e *entry) warn(format string, with ...any) {
	e.s.Warnings = append(e.s.Warnings, fmt.Sprintf(format, with...))
}

func (e *entry) text(s string) string { return e.in.canonical(s, false) }

// read fills the server from its entry.
func (e *entry) read() *Problem {
	for _, step := range []func() *Problem{e.command, e.environment, e.address, e.transport} {
		if problem := step(); problem != nil {
			return problem
		}
	}
	n := e.node
	e.s.Off = n.get("disabled").isTrue() || n.get("isActive").isFalse() || n.get("enabled").isFalse() ||
		n.get("off").isTrue()
	e.s.Include = names(n.get("includeTools"))
	e.s.Exclude = append(names(n.get("excludeTools")), names(n.get("disabledTools"))...)
	e.timeouts()
	e.oauth()
	e.notTaken()
	return nil
}

// names returns a list of tools' names; nil where nothing is said.
func names(n node) []string {
	all := n.texts()
	for i, name := range all { // Gemini CLI: a name with what its arguments may be
		all[i], _, _ = strings.Cut(name, "(")
	}
	return all
}

// command reads what is started: a text, a list, or Zed's older object.
func (e *entry) command() *Problem {
	n := e.node.get("command", "cmd")
	args := e.node.get("args")
	switch n.kind {
	case null:
		return nil
	case text:
		e.s.Command = n.text
	case list:
		all := n.texts()
		if len(all) != len(n.items) || len(all) == 0 {
			return ptr(n.problem("", "Its command is a list that holds something else than texts.", ""))
		}
		e.s.Command, e.s.Args = all[0], all[1:]
	case object:
		e.s.Command = n.get("path").words()
		args = n.get("args")
		e.variables(n.get("env"), &e.s.Env, "variable")
	default:
		return ptr(n.problem("", "Its command is "+n.what()+", and not a text.", ""))
	}
	switch args.kind {
	case null:
	case list:
		for _, item := range args.items {
			arg, ok := item.scalar()
			if !ok {
				return ptr(item.problem("", "One of its arguments is "+item.what()+", and not a text.", ""))
			}
			e.s.Args = append(e.s.Args, arg)
		}
	case text:
		words, err := splitWords(args.text)
		if err != nil {
			message := "Its arguments are one text that cannot be divided: " + err.Error() + "."
			return ptr(args.problem("", message, "Write a list."))
		}
		e.s.Args = append(e.s.Args, words...)
	default:
		return ptr(args.problem("", "Its arguments are "+args.what()+", and not a list.", ""))
	}
	e.divide()
	e.s.Command = e.text(e.s.Command)
	for i, arg := range e.s.Args {
		e.s.Args[i] = e.in.canonical(arg, i > 0 && secretFlag(e.s.Args[i-1]) && !strings.HasPrefix(arg, "-"))
	}
	return nil
}

func ptr[T any](value T) *T { return &value }

// divide divides a command that holds its arguments, such as "npx -y x", as some people write it.
func (e *entry) divide() {
	first, _, several := strings.Cut(strings.TrimSpace(e.s.Command), " ")
	if !several || len(e.s.Args) > 0 || !isRunner(first) {
		return
	}
	words, err := splitWords(e.s.Command)
	if err != nil {
		return
	}
	e.s.Command, e.s.Args = words[0], words[1:]
	e.warn("Its command held its arguments, and was divided at the spaces.")
}

// isRunner reports whether a word is a well-known program that starts servers.
func isRunner(word string) bool {
	word = strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(word), ".cmd"), ".exe")
	return slices.Contains([]string{
		"npx", "node", "npm", "pnpm", "yarn", "uvx", "uv", "python", "python3", "docker", "podman", "bunx", "bun",
		"deno", "dnx", "pipx", "go", "java", "dotnet", "ruby", "php", "sh", "bash", "cmd", "sudo",
	}, word)
}

// variables reads an object of texts, such as env and headers.
func (e *entry) variables(n node, into *map[string]string, what string) {
	for _, m := range n.members {
		value, ok := m.value.scalar()
		switch {
		case m.value.kind == null:
			e.warn("Its %s %s has no value, and was left out.", what, m.name)
			continue
		case !ok:
			e.warn("Its %s %s is %s and not a text, and was left out.", what, m.name, m.value.what())
			continue
		}
		if *into == nil {
			*into = map[string]string{}
		}
		secret := what == "variable" && secretName(m.name) || what == "header" && secretHeader(m.name)
		(*into)[m.name] = e.in.canonical(value, secret)
	}
}

func (e *entry) environment() *Problem {
	for _, name := range []string{"env", "environment", "envs"} {
		e.variables(e.node.get(name), &e.s.Env, "variable")
	}
	e.s.EnvFile = e.text(e.node.get("envFile").words())
	e.s.Dir = e.text(e.node.get("cwd").words())
	project := e.in.project
	if e.s.Command == "" || project == "" {
		return nil
	}
	switch {
	case e.s.Dir == "":
		e.s.Dir = project
	case !strings.HasPrefix(e.s.Dir, "$") && !strings.HasPrefix(e.s.Dir, "~") && !isAbs(e.s.Dir):
		e.s.Dir = path.Join(project, e.s.Dir)
	}
	return nil
}

// isAbs reports whether a path is absolute on the system that it was written on.
func isAbs(p string) bool {
	return strings.HasPrefix(p, "/") || strings.HasPrefix(p, `\`) || len(p) > 2 && p[1] == ':'
}

func (e *entry) address() *Problem {
	n := e.node
	for _, name := range []string{"httpUrl", "serverUrl", "baseUrl", "url"} {
		address := n.get(name)
		if address.words() == "" {
			continue
		}
		e.s.URL = e.text(strings.TrimSpace(address.text))
		if name == "httpUrl" {
			e.s.Transport = HTTP
		}
		if name == "url" && e.s.Program == Gemini {
			e.s.Transport = SSE
		}
		if problem := checkAddress(e.s.URL); problem != "" {
			return ptr(address.problem("", problem, "Write the address that begins with https://."))
		}
		break
	}
	for _, headers := range []node{n.get("headers"), n.get("http_headers"), n.get("requestOptions").get("headers")} {
		e.variables(headers, &e.s.Headers, "header")
	}
	return nil
}

// checkAddress returns a sentence about an address that no server has; "" for one that can be.
func checkAddress(address string) string {
	lower := strings.ToLower(address)
	switch {
	case strings.HasPrefix(lower, "http://"), strings.HasPrefix(lower, "https://"), strings.HasPrefix(address, "${"):
		if strings.ContainsAny(address, " \t\r\n") {
			return "Its address holds a space: " + shown(address) + "."
		}
		return ""
	case strings.HasPrefix(lower, "unix://"), strings.HasPrefix(lower, "pipe://"):
		return "Its address is a socket of this computer (" + shown(address) + "), which is not supported."
	case strings.HasPrefix(lower, "ws://"), strings.HasPrefix(lower, "wss://"):
		return "Its address is of a WebSocket (" + shown(address) + "), which MCP does not define."
	}
	return "Its address " + shown(address) + " is no web address."
}

// shown is a text of a configuration in a sentence.
func shown(s string) string {
	const most = 80
	if runes := []rune(s); len(runes) > most {
		s = string(runes[:most]) + "…"
	}
	return "“" + s + "”"
}

// transport reads the type, and checks that what it needs is there.
func (e *entry) transport() *Problem {
	n := e.node.get("type", "transport", "transportType")
	said := strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(n.words()))
	switch said {
	case "":
	case "stdio", "local":
		e.s.Transport = Stdio
	case "http", "streamablehttp", "streamable":
		e.s.Transport = HTTP
	case "sse":
		e.s.Transport = SSE
	case "remote":
		e.s.Transport = Unsaid
	case "inmemory", "builtin":
		return ptr(n.problem("", "It is built into the program that it comes from (type "+shown(n.text)+").",
			"Look for a server of the same kind, and add that."))
	case "ws", "websocket":
		return ptr(n.problem("", "Its type is "+shown(n.text)+", which MCP does not define.",
			"Ask whoever offers it for an address over HTTP."))
	default:
		e.warn("Its type %s is not known; what it is was taken from its other members.", shown(n.text))
	}
	if e.node.get("source").words() == "extension" {
		return ptr(e.node.problem("", "It is part of an extension of Zed, which is where its command is.",
			"Add the command that the extension starts."))
	}
	return e.fits()
}

// fits checks that command and address belong to the transport.
func (e *entry) fits() *Problem {
	command, address := e.s.Command != "", e.s.URL != ""
	switch {
	case !command && !address:
		return ptr(e.node.problem("", "Its entry names neither a command nor an address.",
			`Write "command" or "url" in it.`))
	case command && address:
		if e.s.Transport == HTTP || e.s.Transport == SSE {
			e.warn("It has a command and an address; as its type says, the address is used.")
			e.s.Command, e.s.Args, e.s.Env, e.s.Dir = "", nil, nil, ""
			return nil
		}
		e.warn("It has a command and an address; the command is used.")
		e.s.URL, e.s.Headers, e.s.Transport = "", nil, Stdio
	case command:
		if e.s.Transport == HTTP || e.s.Transport == SSE {
			e.warn("Its type is that of a server with an address, but it has a command; the command is used.")
		}
		e.s.Transport = Stdio
	case e.s.Transport == Stdio:
		e.warn("Its type is that of a server with a command, but it has an address; the address is used.")
		e.s.Transport = Unsaid
	}
	return nil
}

// milliseconds are the programs that write timeouts in them, seconds the others.
var (
	milliseconds = []Program{Gemini, LibreChat, ClaudeCode, Continue}
	inSeconds    = []Program{CherryStudio, Cline, Roo}
)

func (e *entry) timeouts() {
	n := e.node
	if value, ok := n.get("startTimeoutMs", "initTimeout", "connectionTimeout", "startup_timeout_ms").float(); ok {
		e.s.StartTimeout = bounded(value, time.Millisecond)
	}
	if value, ok := n.get("startup_timeout_sec").float(); ok {
		e.s.StartTimeout = bounded(value, time.Second)
	}
	if value, ok := n.get("callTimeoutMs").float(); ok {
		e.s.CallTimeout = bounded(value, time.Millisecond)
		return
	}
	value, ok := n.get("timeout").float()
	if !ok || value <= 0 {
		return
	}
	unit := time.Second
	switch {
	case slices.Contains(milliseconds, e.s.Program):
		unit = time.Millisecond
	case slices.Contains(inSeconds, e.s.Program):
	case value >= 1000:
		unit = time.Millisecond
		e.warn("Its timeout of %v was read as milliseconds.", value)
	default:
		e.warn("Its timeout of %v was read as seconds.", value)
	}
	e.s.CallTimeout = bounded(value, unit)
}

// bounded returns a duration of at most a day, without overflow.
func bounded(value float64, unit time.Duration) time.Duration {
	const most = 24 * time.Hour
	if value <= 0 {
		return 0
	}
	if value > float64(most/unit) {
		return most
	}
	return time.Duration(value * float64(unit))
}

func (e *entry) oauth() {
	n := e.node.get("oauth", "auth")
	switch {
	case n.isFalse():
		e.s.OAuth = &OAuth{Off: true}
	case n.kind == object:
		o := OAuth{
			ClientID:     e.text(n.get("clientId", "client_id", "CLIENT_ID").words()),
			ClientSecret: e.in.canonical(n.get("clientSecret", "client_secret", "CLIENT_SECRET").words(), true),
			Off:          n.get("enabled").isFalse(),
		}
		scopes := n.get("scopes", "scope")
		for _, scope := range scopes.texts() {
			o.Scopes = append(o.Scopes, strings.Fields(scope)...)
		}
		if o.ClientID != "" || o.ClientSecret != "" || o.Off || len(o.Scopes) > 0 {
			e.s.OAuth = &o
		}
	}
}

// notTaken warns of members that have no effect here.
func (e *entry) notTaken() {
	for _, name := range noGrant {
		n := e.node.get(name)
		if n.isTrue() || len(n.items) > 0 {
			e.warn("“%s” lets nothing happen here: you are asked as for every plugin.", name)
		}
	}
	if e.node.has("headersHelper") {
		e.warn("“headersHelper” is a program that makes headers, and is not run; set the headers instead.")
	}
	if e.node.has("sandbox") {
		e.warn("“sandbox” is not taken over; Conclave shows its own sandbox before the approval.")
	}
}

// sorted returns the keys of a map in their order.
func sorted[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
