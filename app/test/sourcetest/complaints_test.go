package sourcetest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The page of contracts names the tests for each complaint about other programs and each misbehaviour of a server.
func TestMC134EachComplaintAndMisbehaviourHasItsTests(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(contractsFolder, "README.md"))
	must(t, err)
	_, after, _ := strings.Cut(string(readme), "\n## Complaints about other programs, and their tests\n")
	tables, _, _ := strings.Cut(after, "\n## ")
	there := map[string]bool{}
	for _, d := range documents(t) {
		for _, m := range declared.FindAllStringSubmatch(d.text, -1) {
			there[m[1]] = true
		}
	}
	rows := 0
	for line := range strings.Lines(tables) {
		cells := strings.Split(line, " | ")
		if len(cells) != 2 || !strings.Contains(cells[1], "Test") {
			continue
		}
		rows++
		for _, m := range quotedTest.FindAllStringSubmatch(cells[1], -1) {
			if !there[m[1]] {
				t.Errorf("docs/contracts/README.md: %s: there is no test %s", strings.TrimPrefix(cells[0], "| "), m[1])
			}
		}
	}
	if rows < 41 {
		t.Errorf("docs/contracts/README.md has %d rows of complaints and misbehaviours with tests", rows)
	}
}

var (
	declared   = regexp.MustCompile(`\bfunc (Test\w+)\(t \*testing\.T\)`)
	quotedTest = regexp.MustCompile("`(Test\\w+)`")
)
