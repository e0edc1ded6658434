package sourcetest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// attack is an entry of docs/ATTACKS.md: what was tried, what stops it, what happens with the right grant, and the
// tests, a line each.
type attack struct {
	key   string
	tests []string
}

var (
	attackEntry = regexp.MustCompile(
		`(?m)^\*\*([A-Z][\w-]+)\*\* (?:\S.*)\n\*Stopped:\* (?:\S.*)\n\*Granted:\* (?:\S.*)\n(` + "`.*`" + `)$`)
	attackKey  = regexp.MustCompile(`(?m)^\*\*([A-Z][\w-]+)\*\*`)
	quoted     = regexp.MustCompile("`([^`]+)`")
	ofGo       = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	attackName = regexp.MustCompile(`^Test(Attack|F(0[1-9]|1[0-9]|2[0-5])[A-Z])`)
)

// attacks returns the entries of the page.
func attacks(t *testing.T) []attack {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs/ATTACKS.md"))
	must(t, err)
	var all []attack
	for _, m := range attackEntry.FindAllStringSubmatch(string(text), -1) {
		a := attack{key: m[1]}
		for _, name := range quoted.FindAllStringSubmatch(m[2], -1) {
			a.tests = append(a.tests, name[1])
		}
		all = append(all, a)
	}
	for _, m := range attackKey.FindAllStringSubmatch(string(text), -1) {
		if !slices.ContainsFunc(all, func(a attack) bool { return a.key == m[1] }) {
			t.Errorf("%s is no entry of docs/ATTACKS.md: its lines are the attack, *Stopped:*, *Granted:* and its tests", m[1])
		}
	}
	return all
}

// goTests returns the places of all Go tests by name.
func goTests(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for _, path := range files(t, ".go") {
		if !strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, path))
		must(t, err)
		for _, m := range ofGo.FindAllStringSubmatch(string(text), -1) {
			found[m[1]] = append(found[m[1]], path)
		}
	}
	return found
}

// exists returns why a test of the page is none that can be run; empty when it can.
func exists(t *testing.T, name string, tests map[string][]string) string {
	t.Helper()
	read := func(path string) string {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
		if err != nil {
			return ""
		}
		return string(text)
	}
	file, sentence, page := strings.Cut(name, ": ")
	script, talk := strings.CutPrefix(name, "TestScripts/")
	switch {
	case page:
		test := regexp.MustCompile(`(?m)^ *test\(\s*"` + regexp.QuoteMeta(sentence) + `",`)
		if !test.MatchString(read("frontend/e2e/" + file)) {
			return file + " has no such test"
		}
	case talk:
		if read("app/cmd/conclave/testdata/script/"+script+".txt") == "" {
			return "there is no such script"
		}
	case strings.HasSuffix(name, ".mjs"):
		run := " e2e " + strings.TrimSuffix(name, ".mjs") + "\n"
		if read("frontend/e2e/"+name) == "" || !strings.Contains(read(".ci/test"), run) {
			return "there is no such suite in make test"
		}
	case len(tests[name]) != 1:
		return fmt.Sprintf("Go has %d tests of that name: %v", len(tests[name]), tests[name])
	case !strings.HasPrefix(tests[name][0], "app/") && !strings.HasPrefix(tests[name][0], "store/"):
		return "it lies where make attack does not look: " + tests[name][0]
	}
	return ""
}

func TestEveryAttackHasTestsThatMakeAttackRuns(t *testing.T) {
	rows, tests := attacks(t), goTests(t)
	keys, named := map[string]bool{}, map[string]bool{}
	var all []string
	for _, row := range rows {
		if keys[row.key] {
			t.Errorf("the key %s stands twice", row.key)
		}
		keys[row.key] = true
		for _, name := range row.tests {
			if why := exists(t, name, tests); why != "" {
				t.Errorf("%s names %q: %s", row.key, name, why)
			}
			if !named[name] {
				all = append(all, name)
			}
			named[name] = true
		}
	}
	// A number is never given up.
	for letter, last := range map[string]int{"A": 10, "F": 25, "H": 13, "X": 11} {
		for n := range last {
			if key := fmt.Sprintf("%s%02d", letter, n+1); !keys[key] {
				t.Errorf("%s is missing", key)
			}
		}
	}
	for _, incident := range []string{
		"cc87053", "cc43883", "CVE-2025-54136", "cc5749", "cc5631", "mcpb120", "CS7970", "CS14446", "goose-open",
	} {
		if !keys["I-"+incident] {
			t.Errorf("the incident I-%s is missing", incident)
		}
	}
	for name, places := range tests {
		if attackName.MatchString(name) && !named[name] {
			t.Errorf("%s of %v is in no entry of docs/ATTACKS.md", name, places)
		}
	}
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	must(t, err)
	_, target, _ := strings.Cut(string(makefile), "\nattack:")
	target, _, _ = strings.Cut(target, "\n\n")
	if !strings.Contains(target, "\t@.ci/attack") {
		t.Errorf("make attack does not run .ci/attack: %s", target)
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("what is run is listed by a Python program:", err)
	}
	out, err := exec.CommandContext(t.Context(), python, filepath.Join(root, ".ci/attack"), "list").CombinedOutput()
	if ran := strings.Split(strings.TrimSpace(string(out)), "\n"); err != nil || !slices.Equal(ran, all) {
		t.Errorf(".ci/attack runs %d tests, of the page are %d: %v\n%s", len(ran), len(all), err, out)
	}
}
