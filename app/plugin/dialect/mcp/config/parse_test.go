package config

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"flag"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files")

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// one returns the only server of a text, which has no problem.
func one(t *testing.T, text string) Server {
	t.Helper()
	servers, problems := Parse([]byte(text), "")
	if len(servers) != 1 || len(problems) != 0 {
		t.Fatalf("%q: %d servers, problems %v", text, len(servers), problems)
	}
	return servers[0]
}

// TestMC90EachShapeIsRead compares what is read of each row of the contract's table, and of server.json, with what a
// person reviewed.
func TestMC90EachShapeIsRead(t *testing.T) {
	files, err := filepath.Glob("testdata/*[^g]")
	if err != nil || len(files) < 16 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		if strings.HasSuffix(name, ".golden") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			servers, problems := Parse(read(t, name), "")
			got, err := indented(struct {
				Servers  []Server
				Problems []Problem
			}{servers, problems})
			if err != nil {
				t.Fatal(err)
			}
			if *update {
				if err := os.WriteFile(filepath.Join("testdata", name+".golden"), got, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if want := read(t, name+".golden"); !bytes.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestMC90EachProgramIsKnownByItsPath(t *testing.T) {
	for path, want := range map[string]Program{
		"/home/ann/.config/Claude/claude_desktop_config.json":                      ClaudeDesktop,
		`C:\Users\Ann\AppData\Roaming\Claude\claude_desktop_config.json`:           ClaudeDesktop,
		"/home/ann/.claude.json":                                                   ClaudeCode,
		"/home/ann/shop/.mcp.json":                                                 ClaudeCode,
		"/home/ann/shop/.vscode/mcp.json":                                          VSCode,
		"/home/ann/.config/Code/User/mcp.json":                                     VSCode,
		"/home/ann/.copilot/mcp-config.json":                                       VSCode,
		"/home/ann/.cursor/mcp.json":                                               Cursor,
		"/home/ann/.lmstudio/mcp.json":                                             LMStudio,
		"/home/ann/.gemini/settings.json":                                          Gemini,
		"/home/ann/.config/zed/settings.json":                                      Zed,
		"/home/ann/.continue/config.yaml":                                          Continue,
		"/home/ann/.codeium/windsurf/mcp_config.json":                              Windsurf,
		"/x/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json": Cline,
		"/x/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json":   Roo,
		"/srv/librechat.yaml":                                                      LibreChat,
		"/root/plugins/mcp.json":                                                   "",
		"gemini-cli":                                                               Gemini,
		"":                                                                         "",
		"/home/roof/zedtools/mcp.json":                                             "",
	} {
		if got := hinted(path); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}

func TestMC90TextsAreReadHoweverTheyCome(t *testing.T) {
	entry := `{"command": "npx", "args": ["-y", "@x/mail-mcp@1.2.0"]}`
	for name, text := range map[string]string{
		"with a byte order mark":      "\ufeff" + `{"mcpServers": {"mail": ` + entry + `}}`,
		"with comments":               "/* a */ {\"mcpServers\": { // b\n \"mail\": " + entry + ", }, }",
		"a single server":             entry,
		"servers without a wrapper":   `{"mail": ` + entry + `}`,
		"a part of an object":         `"mail": ` + entry,
		"a part with a comma":         `"mail": ` + entry + ",",
		"the wrapper without braces":  `"mcpServers": {"mail": ` + entry + `}`,
		"in a page":                   "Add:\n```json\n{\"mcpServers\": {\"mail\": " + entry + "}}\n```\nRestart.",
		"in a page without a fence":   "Add this: {\"mcpServers\": {\"mail\": " + entry + "}} and restart.",
		"a command":                   "npx -y @x/mail-mcp@1.2.0",
		"a command with its prompt":   "$ npx -y @x/mail-mcp@1.2.0",
		"a command over two lines":    "npx -y \\\n  @x/mail-mcp@1.2.0",
		"claude mcp add":              "claude mcp add mail -- npx -y @x/mail-mcp@1.2.0",
		"claude mcp add with a scope": "claude mcp add mail --scope user -- npx -y @x/mail-mcp@1.2.0",
		"code --add-mcp":              `code --add-mcp '{"name":"mail","command":"npx","args":["-y","@x/mail-mcp@1.2.0"]}'`,
		"YAML":                        "command: npx\nargs: [-y, \"@x/mail-mcp@1.2.0\"]\n",
		"in UTF-16":                   "\xff\xfe" + inUTF16(`{"mail": `+entry+`}`),
	} {
		s := one(t, text)
		if s.Name != "mail" || s.Command != "npx" || !slices.Equal(s.Args, []string{"-y", "@x/mail-mcp@1.2.0"}) ||
			s.Transport != Stdio {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func inUTF16(s string) string {
	var out strings.Builder
	for _, r := range s {
		out.WriteByte(byte(r))
		out.WriteByte(byte(r >> 8))
	}
	return out.String()
}

func TestMC90PastedAddressesAndAddCommandsAreServers(t *testing.T) {
	s := one(t, "https://mcp.example.com/v1/mcp")
	if s.Name != "example" || s.URL != "https://mcp.example.com/v1/mcp" || s.Transport != Unsaid ||
		s.Program != Pasted {
		t.Errorf("%+v", s)
	}
	s = one(t, `claude mcp add --transport http sentry https://mcp.sentry.example/mcp --header "Authorization: Bearer x"`)
	if s.Name != "sentry" || s.Transport != HTTP || s.Headers["Authorization"] != "Bearer x" {
		t.Errorf("%+v", s)
	}
	s = one(t, `claude mcp add -e KEY=abc air -- npx -y air-mcp --flag`)
	if s.Env["KEY"] != "abc" || !slices.Equal(s.Args, []string{"-y", "air-mcp", "--flag"}) {
		t.Errorf("%+v", s)
	}
	s = one(t, `LEVEL=2 uv --directory "/home/ann/my server" run main.py`)
	if s.Env["LEVEL"] != "2" || s.Name != "main" || s.Args[1] != "/home/ann/my server" {
		t.Errorf("%+v", s)
	}
}

// The configurations of the links are base64 or JSON in a query.
func TestMC90LinksOfOtherProgramsAreRead(t *testing.T) {
	const entry = `"command":"npx","args":["-y","mail-mcp"]}`
	config := base64.URLEncoding.EncodeToString([]byte("{" + entry))
	named := url.QueryEscape(`{"name":"mail",` + entry)
	for name, link := range map[string]string{
		"Conclave":         "conclave://mcp/install?name=mail&config=" + config,
		"Cursor":           "cursor://anysphere.cursor-deeplink/mcp/install?name=mail&config=" + config,
		"Cursor's page":    "https://cursor.com/en/install-mcp?name=mail&config=" + config,
		"LM Studio":        "lmstudio://add_mcp?name=mail&config=" + config,
		"VS Code":          "vscode:mcp/install?" + named,
		"VS Code Insiders": `vscode-insiders:mcp/install?{"name":"mail","command":"npx","args":["-y","mail-mcp"]}`,
		"VS Code's page":   "https://insiders.vscode.dev/redirect/mcp/install?name=mail&config=" + url.QueryEscape("{"+entry),
		"a redirection":    "https://vscode.dev/redirect?url=" + url.QueryEscape("vscode:mcp/install?"+named),
	} {
		s := one(t, link)
		if s.Name != "mail" || s.Command != "npx" || !slices.Equal(s.Args, []string{"-y", "mail-mcp"}) {
			t.Errorf("%s: %+v", name, s)
		}
	}
	for _, link := range []string{
		"cursor://anysphere.cursor-deeplink/mcp/install?name=x&config=%%%", "lmstudio://add_mcp?name=x",
	} {
		if servers, problems := Parse([]byte(link), ""); len(servers) != 0 || len(problems) != 1 {
			t.Errorf("%s: %v %v", link, servers, problems)
		}
	}
}

func TestMC116ALinkLeadsToNoAddressOfThisNetwork(t *testing.T) {
	for _, host := range []string{
		"localhost:3000", "127.0.0.1", "[::1]", "10.0.0.7", "192.168.1.4:8080", "169.254.169.254", "box.local",
		"intranet", "0.0.0.0", "metadata.google.internal",
	} {
		link := `conclave://mcp/install?name=x&config={"url":"http://` + host + `/mcp"}`
		if servers, problems := Parse([]byte(link), ""); len(servers) != 0 || len(problems) != 1 {
			t.Errorf("%s: %v %v", host, servers, problems)
		}
		text := `{"name":"a/x","remotes":[{"type":"streamable-http","url":"http://` + host + `/mcp"}]}`
		if servers, problems := Parse([]byte(text), ""); len(servers) != 0 || len(problems) != 1 {
			t.Errorf("registry, %s: %v %v", host, servers, problems)
		}
		if s := one(t, "http://"+host+"/mcp"); s.PrivateHost() == "" { // typed by the person
			t.Errorf("%s is not known as private", host)
		}
	}
}

func TestAttackALinkHidesAnAddressOfThisNetworkInADefault(t *testing.T) {
	const inputs = `"inputs":[{"id":"h","default":"127.0.0.1:9000"},{"id":"end","default":"1"},{"id":"port"}]`
	for _, address := range []string{
		"http://${input:h}/mcp", "http://127.0.0.${input:end}/mcp", "http://127.0.0.1:${input:port}/mcp",
		"http://x@${input:h}/mcp", "http://[::1]:${input:port}/mcp",
	} {
		link := `conclave://mcp/install?{"name":"x","url":"` + address + `",` + inputs + `}`
		if servers, problems := Parse([]byte(link), ""); len(servers) != 0 || len(problems) != 1 {
			t.Errorf("%s: %+v %v", address, servers, problems)
		}
	}
	s := one(t, `conclave://mcp/install?{"name":"x","url":"http://${input:host}:${input:port}/mcp",`+inputs+`}`)
	if host := s.PrivateHost(); host != "" {
		t.Errorf("an address that the person fills in is one of %s", host)
	}
	t.Log("stopped by: the address is judged with the defaults of its settings")
}

// A link could otherwise send any variable to its address.
func TestMC116ALinkGetsNoVariableOfThePersonUnasked(t *testing.T) {
	s := one(t, `conclave://mcp/install?name=x&config={"url":"https://e.example/mcp?k=${env:OPENAI_API_KEY}"}`)
	_, err := Fill(s, nil, func(string) (string, bool) { return "sk-mine", true })
	if err == nil || len(s.Inputs) != 1 || s.Inputs[0].Env != "" {
		t.Errorf("%+v, %v", s.Inputs, err)
	}
}

func TestMC91NothingOfAConfigurationIsAGrant(t *testing.T) {
	s := one(t, `{"mcpServers":{"x":{"command":"x","trust":true,"autoApprove":["a"],"alwaysAllow":["b"],"sandboxEnabled":true}}}`)
	if len(s.Warnings) != 4 {
		t.Errorf("%q", s.Warnings)
	}
	for _, warning := range s.Warnings {
		if !strings.Contains(warning, "lets nothing happen here") {
			t.Errorf("%q", warning)
		}
	}
}

func TestMC94TheTransportIsFoundWithoutAType(t *testing.T) {
	for text, want := range map[string]Transport{
		`{"x":{"command":"serve"}}`:                                             Stdio,
		`{"x":{"url":"https://e.example/mcp"}}`:                                 Unsaid,
		`{"x":{"httpUrl":"https://e.example/mcp"}}`:                             HTTP,
		`{"mcpServers":{"x":{"url":"https://e.example/mcp","trust":false}}}`:    SSE, // Gemini CLI
		`{"x":{"type":"streamable-http","url":"https://e.example/mcp"}}`:        HTTP,
		`{"x":{"type":"sse","url":"https://e.example/sse"}}`:                    SSE,
		`{"x":{"type":"stdio","url":"https://e.example/mcp"}}`:                  Unsaid,
		`{"x":{"type":"http","command":"serve"}}`:                               Stdio,
		`{"x":{"type":"http","command":"serve","url":"https://e.example/mcp"}}`: HTTP,
		`{"x":{"command":"serve","url":"https://e.example/mcp"}}`:               Stdio,
		`{"x":{"type":"never-seen","url":"https://e.example/mcp"}}`:             Unsaid,
		`{"mcp":{"servers":{"x":{"type":"http","url":"https://e.example/m"}}}}`: HTTP,
	} {
		if s := one(t, text); s.Transport != want {
			t.Errorf("%s: %q, want %q", text, s.Transport, want)
		}
	}
}

func TestMC94TimeoutsHaveTheUnitOfTheirProgram(t *testing.T) {
	for hint, want := range map[string]time.Duration{
		"cherry-studio": 90 * time.Second, "gemini-cli": 90 * time.Millisecond, "cline": 90 * time.Second,
		"librechat": 90 * time.Millisecond, "claude-code": 90 * time.Millisecond, "cursor": 90 * time.Second,
	} {
		servers, _ := Parse([]byte(`{"mcpServers":{"x":{"command":"x","timeout":90}}}`), hint)
		if servers[0].CallTimeout != want {
			t.Errorf("%s: %v, want %v", hint, servers[0].CallTimeout, want)
		}
	}
	s := one(t, `{"x":{"command":"x","timeout":30000}}`)
	if s.CallTimeout != 30*time.Second || !strings.Contains(strings.Join(s.Warnings, " "), "milliseconds") {
		t.Errorf("%v %q", s.CallTimeout, s.Warnings)
	}
	if s := one(t, `{"x":{"command":"x","timeout":1e300}}`); s.CallTimeout != 24*time.Hour {
		t.Errorf("%v", s.CallTimeout)
	}
}

func TestMC95ABrokenFileNamesLineAndColumn(t *testing.T) {
	for text, want := range map[string]string{
		"{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\" \"args\": []}\n  }\n}": "" +
			"line 3, column 26: A comma or a } is missing here.",
		"{\n  \"mcpServers\": {\n":          "line 3, column 1: The text ends here, and a } is missing.",
		"{\"a\": tru}":                      "line 1, column 7: A value is expected here",
		"{\"a\": \"x\\q\"}":                 "line 1, column 7: The text that begins here holds a wrong escape",
		"{\"ä\": \"é\", 'b': 1}":            "line 1, column 12: A name in double quotes is expected here.",
		"{} x":                              "line 1, column 4: There is more text after the end of the JSON.",
		"/* x":                              "line 1, column 1: A comment begins here that does not end.",
		"mcpServers:\n  a:\n   - b\n  c: [": "line ",
	} {
		servers, problems := Parse([]byte(text), "")
		if len(servers) != 0 || len(problems) != 1 || !strings.HasPrefix(problems[0].Error(), want) {
			t.Errorf("%q: got %v, want %q", text, problems, want)
		}
	}
}

func TestMC95OneBadEntryDoesNotStopTheOthers(t *testing.T) {
	servers, problems := Parse([]byte(`{"mcpServers": {
		"a": {"command": "a"},
		"b": 7,
		"c": {"args": []},
		"d": {"command": "d", "args": "one two"},
		"e": {"url": "ftp://e"},
		"f": {"command": "f", "args": [["x"]]},
		"g": {"type": "ws", "url": "wss://g"},
		"h": {"command": "h"},
		"h": {"command": "second"}
	}}`), "")
	var names, wrong []string
	for _, s := range servers {
		names = append(names, s.Name+"="+s.Command)
	}
	for _, p := range problems {
		if p.Line < 2 || p.Message == "" {
			t.Errorf("%+v has no place", p)
		}
		wrong = append(wrong, p.Server)
	}
	if !slices.Equal(names, []string{"a=a", "d=d", "h=second"}) ||
		!slices.Equal(wrong, []string{"b", "c", "e", "f", "g", "h"}) {
		t.Errorf("%q, problems %q", names, wrong)
	}
}

func TestMC95ServersOfOneNameAreKeptApart(t *testing.T) {
	servers, _ := Parse(read(t, "claude-code.json"), "")
	if len(servers) != 2 || servers[0].Name != servers[1].Name || servers[0].Scope == servers[1].Scope {
		t.Fatalf("%+v", servers)
	}
	if got := Folders(servers); got[0] == got[1] || got[0] != "weather" {
		t.Errorf("%q", got)
	}
}

func TestProjectFilesWorkInTheirProject(t *testing.T) {
	servers, problems := Parse(read(t, "cursor.json"), "/home/ann/shop/.cursor/mcp.json")
	if len(problems) != 0 || servers[0].Dir != "/home/ann/shop" {
		t.Fatalf("%+v %v", servers, problems)
	}
	filled, err := Fill(servers[0], map[string]any{"NOTES_TOKEN": "t"}, nil)
	if err != nil || filled.Args[0] != filepath.Join("/home/ann/shop", "server.js") {
		t.Errorf("%+v %v", filled, err)
	}
}

func TestTooMuchIsRefusedInWords(t *testing.T) {
	var all strings.Builder
	all.WriteString(`{"mcpServers":{`)
	for i := range MaxServers + 50 {
		if i > 0 {
			all.WriteByte(',')
		}
		name, _ := json.Marshal(strings.Repeat("x", i+1))
		all.Write(name)
		all.WriteString(`:{"command":"x"}`)
	}
	all.WriteString(`}}`)
	servers, problems := Parse([]byte(all.String()), "")
	if len(servers) != MaxServers || len(problems) == 0 {
		t.Errorf("%d servers, %v", len(servers), problems)
	}
	for _, text := range []string{
		strings.Repeat("[", 1000), `{"a":` + strings.Repeat(`{"a":`, 200), strings.Repeat(" ", MaxBytes+1), "", "   ", "7", "hello",
		"a: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\n" +
			"d: &d [*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e]\n" +
			"g: &g [*f,*f,*f,*f,*f,*f,*f,*f]\nh: [*g,*g,*g]\n",
	} {
		if servers, problems := Parse([]byte(text), ""); len(servers) != 0 || len(problems) != 1 {
			t.Errorf("%.40q: %v %v", text, servers, problems)
		}
	}
}

// Each of these took quadratic time in a version that was not finished.
func TestLargeTextsAreReadInLinearTime(t *testing.T) {
	const n = 200_000
	for name, text := range map[string]string{
		"open placeholders":    `{"x":{"command":"` + strings.Repeat("${", n) + `"}}`,
		"many placeholders":    `{"x":{"command":"` + strings.Repeat("${A1}", n) + `"}}`,
		"many members":         `{"mcpServers":{"x":1` + strings.Repeat(`,"x":1`, n) + `}}`,
		"many arguments":       `{"x":{"command":"x","args":["a"` + strings.Repeat(`,"--token"`, n) + `]}}`,
		"open brackets":        strings.Repeat("{ x ", n),
		"merges":               "a: &a {b: c}\nmcpServers:\n  x:\n" + strings.Repeat("    <<: *a\n", n/20),
		"fences":               strings.Repeat("```\n", n),
		"lines without an end": strings.Repeat("\"x\": [\n", n),
	} {
		began := time.Now()
		Parse([]byte(text), "")
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
	var distinct strings.Builder
	for i := range maxInputs + 1 {
		distinct.WriteString("${A" + strconv.Itoa(i) + "}")
	}
	if servers, problems := Parse([]byte(`{"x":{"command":"`+distinct.String()+`"}}`), ""); len(servers) != 0 || len(problems) != 1 {
		t.Errorf("%d servers, %v", len(servers), problems)
	}
}
