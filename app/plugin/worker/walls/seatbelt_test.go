package walls

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"conclave/app/plugin/sandbox"
)

// as leaves paths as they are; "/gone" is not there, and "/link" leads to "/real".
func as(path string) (string, error) {
	switch {
	case strings.HasPrefix(path, "/gone"):
		return "", errors.New("not there")
	case strings.HasPrefix(path, "/link"):
		return "/real" + strings.TrimPrefix(path, "/link"), nil
	}
	return path, nil
}

func profileOf(t *testing.T, spec sandbox.Spec) string {
	t.Helper()
	text, err := Seatbelt(spec, as)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// plugin describes the process of a plugin in Python.
func plugin() sandbox.Spec {
	return sandbox.Spec{
		Kind: "command", Argv: []string{"/opt/python/bin/python3"},
		Read: []string{"/opt/python/lib", "/data/plugins/notes"}, Execute: []string{"/opt/python/bin/python3"},
		Write: []string{"/data/storage/notes"},
	}
}

func TestAProfileDeniesAllAndAllowsWhatTheSpecLists(t *testing.T) {
	text := profileOf(t, plugin())
	if !strings.HasPrefix(text, "(version 1)\n(deny default)\n") {
		t.Errorf("it begins %q", text[:40])
	}
	for _, want := range []string{
		"(allow file-read* file-map-executable\n  (subpath \"/opt/python/lib\")\n  (subpath \"/data/plugins/notes\"))\n",
		"(allow file-read* file-map-executable process-exec\n  (subpath \"/opt/python/bin/python3\"))\n",
		"(allow file-read* file-map-executable file-write-data file-write-unlink\n  (subpath \"/data/storage/notes\"))\n",
		"(allow file-write-create (require-all (subpath \"/data/storage/notes\") (require-any " +
			"(vnode-type REGULAR-FILE) (vnode-type DIRECTORY) (vnode-type SYMLINK))))\n",
		"(allow signal (target self))\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}

// Every rule but that about the existence of paths has a filter, and of each kind of
// operation there are only those named here: a new one is a decision.
func TestAProfileAllowsNothingWithoutAFilter(t *testing.T) {
	spec := plugin()
	spec.Sockets, spec.Proxy, spec.Spawn = true, "127.0.0.1:4711", true
	reviewed := []string{
		"file-read-metadata", "file-read*", "file-map-executable", "file-write-data", "file-write-unlink",
		"file-write-create", "process-exec", "process-fork", "signal", "process-info*", "sysctl-read", "mach-lookup",
		"network-outbound",
	}
	text := profileOf(t, spec)
	for _, rule := range regexp.MustCompile(`(?m)^\(allow ([^()\n]*)(.*)`).FindAllStringSubmatch(text, -1) {
		for _, what := range strings.Fields(rule[1]) {
			if !slices.Contains(reviewed, what) {
				t.Errorf("%s: nobody reviewed this operation", what)
			}
		}
		bare := rule[2] == ")"
		alone := []string{"file-read-metadata", "process-fork"}
		if bare && !slices.Contains(alone, strings.TrimSpace(rule[1])) {
			t.Errorf("(allow %s) is for everything", rule[1])
		}
	}
	for _, never := range []string{"(allow default", "network-inbound", "network-bind", "file-link", "file-write*",
		"file-write-mode", "file-ioctl", "kern.proc", "iokit", "(subpath \"/\")", "mach-register"} {
		if strings.Contains(text, never) {
			t.Errorf("the profile has %s in it", never)
		}
	}
}

func TestAProfileLetsAProcessConnectToItsProxyAlone(t *testing.T) {
	without := profileOf(t, plugin())
	for _, word := range []string{"network", "mach-lookup", "process-fork"} {
		if strings.Contains(without, word) {
			t.Errorf("without permissions there is %s in\n%s", word, without)
		}
	}
	for proxy, want := range map[string]string{"127.0.0.1:4711": "localhost:4711", "[::1]:80": "localhost:80"} {
		spec := plugin()
		spec.Sockets, spec.Proxy = true, proxy
		text := profileOf(t, spec)
		rules := regexp.MustCompile(`\(allow network.*`).FindAllString(text, -1)
		if !slices.Equal(rules, []string{`(allow network-outbound (remote tcp "` + want + `"))`}) {
			t.Errorf("%s: %q", proxy, rules)
		}
		services := regexp.MustCompile(`global-name "([^"]*)"`).FindAllString(text, -1)
		if len(services) != len(networkServices) {
			t.Errorf("%s: services %q", proxy, services)
		}
	}
	for _, proxy := range []string{
		"192.0.2.1:80", "localhost:80", "127.0.0.1:0", `127.0.0.1:80"))(allow default)`, "127.0.0.1",
	} {
		spec := plugin()
		spec.Sockets, spec.Proxy = true, proxy
		if _, err := Seatbelt(spec, as); err == nil {
			t.Errorf("%s was taken for a proxy", proxy)
		}
	}
}

func TestThePathsOfAProfileStayText(t *testing.T) {
	for path, want := range map[string]string{
		`/a b/c`:                  `(subpath "/a b/c")`,
		`/a "quoted" folder`:      `(subpath "/a \"quoted\" folder")`,
		`/ends with \`:            `(subpath "/ends with \\")`,
		`/both \" at once`:        `(subpath "/both \\\" at once")`,
		`/x"))(allow default)(("`: `(subpath "/x\"))(allow default)((\"")`,
		`/(parentheses) ; #t #"`:  `(subpath "/(parentheses) ; #t #\"")`,
		`/Résumé/日本`:              `(subpath "/Résumé/日本")`,
		`/link/under`:             `(subpath "/real/under")`,
	} {
		for _, spec := range []sandbox.Spec{{Read: []string{path}}, {Execute: []string{path}}, {Write: []string{path}}} {
			text := profileOf(t, spec)
			if !strings.Contains(text, want) {
				t.Errorf("%s is not in it as %s:\n%s", path, want, text)
			}
			outside := unquoted(text)
			if strings.Contains(outside, "allow default") || strings.Count(outside, "(") != strings.Count(outside, ")") {
				t.Errorf("%s got out of its string:\n%s", path, outside)
			}
		}
	}
	for _, path := range []string{"/line\nbreak", "/nul\x00", "/bad\xff", "/del\x7f", "relative", "", "/"} {
		if _, err := Seatbelt(sandbox.Spec{Write: []string{path}}, as); err == nil {
			t.Errorf("%q was put into a profile", path)
		}
	}
	text := profileOf(t, sandbox.Spec{Read: []string{"/gone"}, Write: []string{"/gone"}})
	if strings.Contains(text, "gone") || strings.Contains(text, "file-write-unlink") {
		t.Errorf("what is not there was allowed:\n%s", text)
	}
}

// unquoted returns a profile without its strings, read as the language reads them.
func unquoted(text string) string {
	var out strings.Builder
	inside := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inside && c == '\\':
			i++
		case c == '"':
			inside = !inside
		case !inside:
			out.WriteByte(c)
		}
	}
	return out.String()
}

func FuzzThePathsOfAProfileStayText(f *testing.F) {
	f.Add(`/x"))(allow default)`)
	f.Add(`/x\`)
	bare := unquoted(must(Seatbelt(sandbox.Spec{Read: []string{"/x"}}, as)))
	f.Fuzz(func(t *testing.T, name string) {
		text, err := Seatbelt(sandbox.Spec{Read: []string{"/" + name}}, func(p string) (string, error) { return p, nil })
		if err == nil && unquoted(text) != bare {
			t.Errorf("%q changes the profile:\n%s", name, text)
		}
	})
}

func must(text string, err error) string {
	if err != nil {
		panic(err)
	}
	return text
}
