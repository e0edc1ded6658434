package sourcetest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// contract is one page of docs/contracts, as far as it can be cited.
type contract struct {
	sections   map[string]bool // "7", "7.5", "5.4.6"
	items      map[string]bool // items that are numbered through the whole page
	prefix     string          // of its statements: "SP"
	statements map[string]bool // "SP-25"
}

const contractsFolder = "../../../docs/contracts"

// statement is the number of a statement, as prose and tests write it.
var statement = regexp.MustCompile(`\b(LF|SP|NK|MB|PC|MC|AS|OW)-?(\d{2,3})\b`)

// stated is a line of a page that makes a statement: an entry of a list, a row of
// a table, or a line that begins with the number.
var stated = regexp.MustCompile(`^(?:- )?(?:\*\*[^*]+\*\* )?(?:\| )?([A-Z]{2})-(\d{2,3})\b`)

var (
	headed  = regexp.MustCompile(`^#+ (\d+[a-z]?(?:\.\d+)*)\.? `)
	entry   = regexp.MustCompile(`^\s*(\d+)\. `)
	labeled = regexp.MustCompile(`^(?:- |\| )?(\d+\.\d+) `)
)

// readContracts returns the pages by name: "spindle".
func readContracts(t *testing.T) map[string]contract {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(contractsFolder, "*.md"))
	must(t, err)
	pages := map[string]contract{}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".md")
		if name != "README" {
			pages[name] = readContract(t, path)
		}
	}
	if len(pages) < 8 {
		t.Fatalf("%s holds %d pages", contractsFolder, len(pages))
	}
	return pages
}

func readContract(t *testing.T, path string) contract {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	c := contract{sections: map[string]bool{}, items: map[string]bool{}, statements: map[string]bool{}}
	heading := ""
	for line := range strings.Lines(string(text)) {
		if m := headed.FindStringSubmatch(line); m != nil {
			heading = m[1]
			c.sections[heading] = true
		} else if m := entry.FindStringSubmatch(line); m != nil {
			c.sections[heading+"."+m[1]], c.items[m[1]] = true, true
		} else if m := labeled.FindStringSubmatch(line); m != nil {
			c.sections[m[1]] = true
		}
		if m := stated.FindStringSubmatch(line); m != nil {
			number := m[1] + "-" + m[2]
			if c.statements[number] || c.prefix != "" && c.prefix != m[1] {
				t.Errorf("%s: %s is stated twice, or among others; give each statement a number of its own", path, number)
			}
			c.prefix, c.statements[number] = m[1], true
		}
	}
	for i := range len(c.statements) {
		if number := fmt.Sprintf("%s-%02d", c.prefix, i+1); !c.statements[number] {
			t.Errorf("%s: %s is missing; say there that it is withdrawn, and give its number to nothing else", path, number)
		}
	}
	return c
}

// document is one of our files, its comment signs and line ends taken out, so
// that a citation is found wherever its comment was wrapped.
type document struct {
	path   string
	text   string
	starts []int // where each line begins in text
}

func (d document) place(at int) string {
	line, found := slices.BinarySearch(d.starts, at)
	if found {
		line++
	}
	return d.path + ":" + strconv.Itoa(line)
}

var commentSign = regexp.MustCompile(`^\s*(?://+|#+|\*+/?|/\*+|-- |"""|<!--)?\s*`)

// documents returns every text file that is ours. They are read once.
func documents(t *testing.T) []document {
	t.Helper()
	if allDocuments == nil {
		allDocuments = readDocuments(t)
	}
	return allDocuments
}

var allDocuments []document

func readDocuments(t *testing.T) []document {
	t.Helper()
	var found []document
	for _, path := range files(t, ".go", ".py", ".js", ".mjs", ".ts", ".svelte", ".txt", ".md", ".css") {
		if path == "app/test/sourcetest/contracts_test.go" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil || !utf8.Valid(text) {
			continue // no text
		}
		d := document{path: path}
		var b strings.Builder
		for line := range strings.Lines(string(text)) {
			d.starts = append(d.starts, b.Len())
			b.WriteString(strings.TrimRight(line[len(commentSign.FindString(line)):], " \t\r\n"))
			b.WriteByte(' ')
		}
		d.text = b.String()
		found = append(found, d)
	}
	if len(found) < 300 {
		t.Fatalf("%d files are looked at", len(found))
	}
	return found
}

const numbers = `(\d+[a-z]?(?:\.\d+)*)(?:( to | and |, )(\d+[a-z]?(?:\.\d+)*))?`

var (
	// citation is “contracts/spindle, section 7.5”; the page alone will do.
	citation = regexp.MustCompile(`\bcontracts/([a-z-]+)(?:\.md\)?)?(?:\]\([^)]*\))?(?:,? (sections?|items?) ` + numbers +
		`)?`)
	// wireCitation is “docs/WIRE.md, section 5”.
	wireCitation = regexp.MustCompile(`\bWIRE\.md,? sections? ` + numbers)
	// ownSection is “section 7.5” in a page of docs/contracts.
	ownSection = regexp.MustCompile(`\b[Ss]ections? ` + numbers)
	// vague names a section and not the page.
	vague = regexp.MustCompile(`\b[Cc]ontracts?(?: [a-z-]+)?,? \(?(?:sections? )?\d+[a-z]?(?:\.\d+)+|\b[Cc]ontracts?(?: [a-z-]+)?,? \(?sections? \d`)
	// elsewhere cites a section of a page that was never in the repository.
	elsewhere = regexp.MustCompile(`\b[Aa]rchitecture,? (?:section )?\d+(?:\.\d+)?`)
	// page is the name of a Markdown page in a comment.
	page = regexp.MustCompile(`\b[A-Za-z_-]+(?:/[A-Za-z_-]+)*\.md\b`)
	// testName is the beginning of a test's name that has statements in it:
	// TestSP24ToSP30AndSP38…, TestSP27And28….
	testName = regexp.MustCompile(`\bTest((?:(?:And|To)?(?:LF|SP|NK|MB|PC|MC|AS|OW)?\d{2,3})+)`)
	nameStep = regexp.MustCompile(`(And|To)?(LF|SP|NK|MB|PC|MC|AS|OW)?(\d{2,3})`)
)

func TestWhatIsCitedOfTheContractsIsThere(t *testing.T) {
	contracts := readContracts(t)
	known := map[string]bool{}
	for _, c := range contracts {
		for number := range c.statements {
			known[number] = true
		}
	}
	wire := readContract(t, "../../../docs/WIRE.md")
	cited := 0
	for _, d := range documents(t) {
		for _, m := range citation.FindAllStringSubmatchIndex(d.text, -1) {
			cited++
			checkCitation(t, d, m, contracts)
		}
		for _, m := range wireCitation.FindAllStringSubmatchIndex(d.text, -1) {
			for _, number := range []string{group(d.text, m, 1), group(d.text, m, 3)} {
				if number != "" && !wire.sections[number] {
					t.Errorf("%s: docs/WIRE.md has no section %s; cite one of its headings", d.place(m[0]), number)
				}
			}
		}
		if filepath.Ext(d.path) == ".md" || !strings.Contains(d.text, "ontract") {
			// nothing that is vague
		} else if m := vague.FindStringIndex(d.text); m != nil {
			t.Errorf("%s: %q names no page; write “contracts/NAME, section N”", d.place(m[0]), d.text[m[0]:m[1]])
		}
		if m := elsewhere.FindStringIndex(d.text); m != nil {
			t.Errorf("%s: %q is no section of docs/ARCHITECTURE.md; cite a page and a heading that are there", d.place(m[0]),
				d.text[m[0]:m[1]])
		}
		for _, m := range statement.FindAllStringSubmatchIndex(d.text, -1) {
			if number := group(d.text, m, 1) + "-" + group(d.text, m, 2); !known[number] {
				t.Errorf("%s: %s is no statement of docs/contracts; look for the one that is meant", d.place(m[0]), number)
			}
		}
		if c, ok := contracts[strings.TrimSuffix(strings.TrimPrefix(d.path, "docs/contracts/"), ".md")]; ok {
			for _, m := range ownSection.FindAllStringSubmatchIndex(d.text, -1) {
				for _, number := range []string{group(d.text, m, 1), group(d.text, m, 3)} {
					if number != "" && !c.sections[number] {
						t.Errorf("%s: the page has no section %s", d.place(m[0]), number)
					}
				}
			}
		}
		for number, at := range namedByTests(d) {
			if !known[number] {
				t.Errorf("%s: the test's name has %s, which is no statement of docs/contracts", d.place(at), number)
			}
		}
	}
	if cited < 50 {
		t.Errorf("only %d citations were found; does the test still see them?", cited)
	}
}

func checkCitation(t *testing.T, d document, m []int, contracts map[string]contract) {
	t.Helper()
	name := group(d.text, m, 1)
	c, ok := contracts[name]
	if !ok {
		if name != "README" && name != "" {
			t.Errorf("%s: docs/contracts/%s.md is not there; the pages are %s", d.place(m[0]), name,
				strings.Join(names(contracts), ", "))
		}
		return
	}
	kind, there := group(d.text, m, 2), c.sections
	if strings.HasPrefix(kind, "item") {
		there = c.items
	}
	for _, number := range []string{group(d.text, m, 3), group(d.text, m, 5)} {
		if number != "" && !there[number] {
			t.Errorf("%s: docs/contracts/%s.md has no %s %s; cite one of its headings, with the numbered entry after a dot",
				d.place(m[0]), name, strings.TrimSuffix(kind, "s"), number)
		}
	}
}

// The keys that Conclave and a plugin's process know of each other are on the page of the wire.
func TestEachKeyOfTheWireIsOnItsPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs/WIRE.md"))
	must(t, err)
	key := regexp.MustCompile(`"(conclave/[a-z-]+)"`)
	notOfTheWire := []string{"conclave/plugins", "conclave/store"} // packages
	seen := map[string]bool{}
	for _, path := range files(t, ".go") {
		if !strings.HasPrefix(path, "app/plugin/") || isTest(path) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, path))
		must(t, err)
		for _, m := range key.FindAllStringSubmatch(string(text), -1) {
			if seen[m[1]] || slices.Contains(notOfTheWire, m[1]) {
				continue
			}
			seen[m[1]] = true
			if !regexp.MustCompile("[`\"]" + m[1] + "[`\"]").Match(page) {
				t.Errorf("%s: docs/WIRE.md does not tell of %s", path, m[1])
			}
		}
	}
	if len(seen) < 20 {
		t.Errorf("only %d keys were found; does the test still see them?", len(seen))
	}
}

// A page that a comment names is in the repository: a reader has nothing else.
func TestPagesNamedInCommentsAreThere(t *testing.T) {
	here := map[string]bool{}
	all := documents(t)
	for _, d := range all {
		here[filepath.Base(d.path)] = true
	}
	for name := range readContracts(t) {
		here[name+".md"] = true
	}
	comment := regexp.MustCompile(`^\s*(?://|#|\*|/\*)`)
	for _, d := range all {
		if ext := filepath.Ext(d.path); ext != ".go" && ext != ".py" && ext != ".js" && ext != ".mjs" && ext != ".ts" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, d.path))
		must(t, err)
		for i, line := range strings.Split(string(text), "\n") {
			if !comment.MatchString(line) || strings.HasPrefix(strings.TrimSpace(line), "//go:") {
				continue
			}
			for _, name := range page.FindAllString(line, -1) {
				if base := filepath.Base(name); !here[base] && !slices.Contains(foreignPages, base) {
					t.Errorf("%s:%d: %s is not in the repository; name a page of docs, or say what it says", d.path, i+1, name)
				}
			}
		}
	}
}

// foreignPages are pages that comments name and that are somebody else's, or an
// example.
var foreignPages = []string{"tuesday.md"}

// Each statement is named by a test, or docs/contracts/README.md says why not.
func TestEveryStatementHasATestOrAReason(t *testing.T) {
	tested := map[string]bool{}
	for _, d := range documents(t) {
		if !isTest(d.path) {
			continue
		}
		for _, m := range statement.FindAllStringSubmatch(d.text, -1) {
			tested[m[1]+"-"+m[2]] = true
		}
		for number := range namedByTests(d) {
			tested[number] = true
		}
	}
	readme, err := os.ReadFile(filepath.Join(contractsFolder, "README.md"))
	must(t, err)
	_, after, _ := strings.Cut(string(readme), "\n## Statements without a test\n")
	without, after, _ := strings.Cut(after, "\n## Tested in part\n")
	inPart, _, _ := strings.Cut(after, "\n## ")
	excused := map[string]bool{}
	for _, row := range tableRows(without) {
		open := 0
		for _, number := range listed(row) {
			excused[number] = true
			if !tested[number] {
				open++
			}
		}
		if open == 0 {
			t.Errorf("docs/contracts/README.md: every statement of “%s” has a test; take the row out", row)
		}
	}
	for _, row := range tableRows(inPart) {
		for _, number := range listed(row) {
			if !tested[number] {
				t.Errorf("docs/contracts/README.md: %s is said to be tested in part, and no test names it", number)
			}
		}
	}
	contracts := readContracts(t)
	for _, name := range names(contracts) {
		c, waiting := contracts[name], 0
		for number := range c.statements {
			if tested[number] {
				continue
			}
			waiting++
			if !excused[number] {
				t.Errorf("%s of docs/contracts/%s.md has no test; name one Test%s…, or say why not in docs/contracts/README.md",
					number, name, strings.Replace(number, "-", "", 1))
			}
		}
		t.Logf("%s: %d statements, %d without a test", name, len(c.statements), waiting)
	}
}

func TestTheIndexHasEachPageWithItsStatements(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(contractsFolder, "README.md"))
	must(t, err)
	for name, c := range readContracts(t) {
		row := regexp.MustCompile(fmt.Sprintf(`(?m)^\| \[%[1]s\.md\]\(%[1]s\.md\) \| [^|]+ \| %[2]s-01 to %[2]s-%02[3]d \| [^|]+ \|$`,
			name, c.prefix, len(c.statements)))
		if !row.Match(readme) {
			t.Errorf("docs/contracts/README.md has no row of %s.md with %s-01 to %s-%02d", name, c.prefix, c.prefix,
				len(c.statements))
		}
	}
}

// isTest reports whether a file holds tests: only those count as testing what
// they name.
func isTest(path string) bool {
	return strings.HasSuffix(path, "_test.go") || strings.Contains(path, ".test.") ||
		strings.Contains(path, "/testdata/") || strings.Contains(path, "plugintest/") || strings.Contains(path, "/e2e/")
}

// namedByTests returns the statements in the names of a document's tests, and
// where they are.
func namedByTests(d document) map[string]int {
	found := map[string]int{}
	if !strings.HasSuffix(d.path, ".go") {
		return found
	}
	for _, m := range testName.FindAllStringSubmatchIndex(d.text, -1) {
		prefix, last := "", 0
		for _, step := range nameStep.FindAllStringSubmatch(group(d.text, m, 1), -1) {
			if step[2] != "" {
				prefix = step[2]
			}
			if prefix == "" {
				break // a number of something else
			}
			number, _ := strconv.Atoi(step[3])
			for i := last + 1; step[1] == "To" && i < number; i++ {
				found[fmt.Sprintf("%s-%02d", prefix, i)] = m[0]
			}
			found[prefix+"-"+step[3]], last = m[0], number
		}
	}
	return found
}

// tableRows returns the first cell of each row of a table.
func tableRows(text string) []string {
	var rows []string
	for line := range strings.Lines(text) {
		if cells := strings.Split(line, "|"); len(cells) > 2 && statement.MatchString(cells[1]) {
			rows = append(rows, strings.TrimSpace(cells[1]))
		}
	}
	return rows
}

// listed returns the statements of “NK-28 to NK-41, NK-46”.
func listed(text string) []string {
	var found []string
	for part := range strings.SplitSeq(text, ",") {
		ends := statement.FindAllStringSubmatch(part, -1)
		first, _ := strconv.Atoi(ends[0][2])
		last, _ := strconv.Atoi(ends[len(ends)-1][2])
		for i := first; i <= last; i++ {
			found = append(found, fmt.Sprintf("%s-%02d", ends[0][1], i))
		}
	}
	return found
}

func names(contracts map[string]contract) []string {
	var found []string
	for name := range contracts {
		found = append(found, name)
	}
	slices.Sort(found)
	return found
}

// group returns group n of a match, or "".
func group(text string, m []int, n int) string {
	if m[2*n] < 0 {
		return ""
	}
	return text[m[2*n]:m[2*n+1]]
}

// Links between our pages lead to a file that is there, and to a heading of it.
func TestLinksBetweenPagesLead(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^()\s]+)\)`)
	headings := map[string]map[string]bool{}
	links := 0
	for _, d := range documents(t) {
		if filepath.Ext(d.path) != ".md" || strings.Contains(d.path, "/testdata/") {
			continue
		}
		for _, m := range link.FindAllStringSubmatchIndex(d.text, -1) {
			to := group(d.text, m, 1)
			if strings.Contains(to, ":") || strings.HasPrefix(to, "/") {
				continue // an address elsewhere, or an example
			}
			links++
			file, anchor, _ := strings.Cut(to, "#")
			path := filepath.Join(root, d.path)
			if file != "" {
				path = filepath.Join(root, filepath.Dir(d.path), file)
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s: the link to %s leads nowhere", d.place(m[0]), to)
				continue
			}
			if headings[path] == nil {
				headings[path] = anchors(t, path)
			}
			if anchor != "" && !headings[path][anchor] {
				t.Errorf("%s: %s has no heading #%s", d.place(m[0]), path, anchor)
			}
		}
	}
	if links < 50 {
		t.Errorf("only %d links were found; does the test still see them?", links)
	}
}

var notInAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

// anchors returns the headings of a page as links name them.
func anchors(t *testing.T, path string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	if filepath.Ext(path) != ".md" {
		return found
	}
	text, err := os.ReadFile(path)
	must(t, err)
	for line := range strings.Lines(string(text)) {
		if title, isHeading := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); isHeading && line[0] == '#' {
			title = notInAnchor.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
			found[strings.ReplaceAll(title, " ", "-")] = true
		}
	}
	return found
}
