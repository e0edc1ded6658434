package sourcetest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	quotedJourney = regexp.MustCompile(`([a-z]+(?:/[a-z]+)?) “([^”]+)”`)
	titleOfTest   = regexp.MustCompile("test\\(\\s*[\"`](.+)[\"`]")
)

// The table of what people look for says of each row whether it works, and names a test for each that does.
func TestEachRowOfWhatPeopleLookForNamesATestThatIsThere(t *testing.T) {
	table, err := os.ReadFile(filepath.Join(root, "docs", "ROWS.md"))
	must(t, err)
	goTests := map[string]bool{}
	for _, d := range documents(t) {
		for _, m := range declared.FindAllStringSubmatch(d.text, -1) {
			goTests[m[1]] = true
		}
	}
	titles := map[string]string{} // of a file's tests, one a line
	for _, path := range files(t, ".mjs") {
		name, is := strings.CutPrefix(path, "frontend/e2e/")
		if !is {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, path))
		must(t, err)
		for _, m := range titleOfTest.FindAllStringSubmatch(string(text), -1) {
			titles[strings.TrimSuffix(name, ".mjs")] += m[1] + "\n"
		}
	}
	rows := map[string]int{}
	for line := range strings.Lines(string(table)) {
		cells := append(strings.Split(strings.Trim(line, "| \n"), " | "), "") // where nothing is named
		if len(cells) < 3 || strings.HasPrefix(cells[0], "---") || cells[0] == "row" || cells[0] == "defect" {
			continue
		}
		rows[cells[1]]++
		journeys, units := quotedJourney.FindAllStringSubmatch(cells[2], -1), quotedTest.FindAllStringSubmatch(cells[2], -1)
		if cells[1] == "works" && len(journeys)+len(units) == 0 {
			t.Errorf("docs/ROWS.md: %s: no test is named", cells[0])
		}
		for _, m := range journeys {
			if !strings.Contains(titles[m[1]], m[2]) {
				t.Errorf("docs/ROWS.md: %s: frontend/e2e/%s.mjs has no test “%s”", cells[0], m[1], m[2])
			}
		}
		for _, m := range units {
			if !goTests[m[1]] {
				t.Errorf("docs/ROWS.md: %s: there is no test %s", cells[0], m[1])
			}
		}
	}
	if rows["works"]+rows["partly"]+rows["later"] < 100 {
		t.Errorf("docs/ROWS.md has the rows %v", rows)
	}
	t.Logf("rows: %v", rows)
}
