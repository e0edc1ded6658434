package sourcetest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// maxLine is the length of a line of Go, in characters.
const maxLine = 120

var saysIsWhat = regexp.MustCompile(`^\s*// [\w.]+(?: and \w+)? (?:is|are) what\b`)

// Lines fit beside each other on a screen, and comments say what a thing does or holds.
func TestLinesAreShortAndCommentsSayWhatAThingDoes(t *testing.T) {
	for _, name := range files(t, ".go") {
		text, err := os.ReadFile(filepath.Join(root, name))
		must(t, err)
		for _, fault := range faultsOfLines(text) {
			t.Errorf("%s:%s", name, fault)
		}
	}
}

// faultsOfLines returns what is wrong with the lines of a file, each with its number. A
// raw string has the lines it needs.
func faultsOfLines(text []byte) []string {
	raw := map[int]bool{}
	var s scanner.Scanner
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(text))
	s.Init(file, text, nil, 0)
	for {
		at, kind, literal := s.Scan()
		if kind == token.EOF {
			break
		}
		if kind == token.STRING && literal[0] == '`' {
			for line := file.Line(at); line <= file.Line(at)+strings.Count(literal, "\n"); line++ {
				raw[line] = true
			}
		}
	}
	var faults []string
	for i, line := range bytes.Split(text, []byte("\n")) {
		if n := utf8.RuneCount(line); n > maxLine && !raw[i+1] {
			faults = append(faults, fmt.Sprintf("%d has %d characters; break it", i+1, n))
		}
		if saysIsWhat.Match(line) && !raw[i+1] {
			faults = append(faults, fmt.Sprintf("%d: say what it does or holds, not what it is: %s", i+1, bytes.TrimSpace(line)))
		}
	}
	return faults
}

// goFile is a file of Go as it is parsed, and where things stand in it.
type goFile struct {
	*ast.File
	set *token.FileSet
}

// parsed yields all files of Go, with their comments.
func parsed(t *testing.T) iter.Seq2[string, goFile] {
	return func(yield func(string, goFile) bool) {
		for _, name := range files(t, ".go") {
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, filepath.Join(root, name), nil, parser.ParseComments|parser.SkipObjectResolution)
			must(t, err)
			if !yield(name, goFile{file, set}) {
				return
			}
		}
	}
}

// A comment that begins with a name begins with that of what it is about: the name of old
// is easily forgotten in it.
func TestCommentsBeginWithTheNameThatIsThere(t *testing.T) {
	looked := 0
	for name, file := range parsed(t) {
		for _, declared := range file.Decls {
			f, ok := declared.(*ast.FuncDecl)
			if !ok || f.Doc == nil {
				continue
			}
			looked++
			first, _, _ := strings.Cut(strings.TrimSpace(f.Doc.Text()), " ")
			first = strings.TrimRight(first, ",.:")
			if r, _ := utf8.DecodeRuneInString(first); unicode.IsLower(r) && first != f.Name.Name {
				t.Errorf("%s:%d: the comment of %s begins with %s", name, file.set.Position(f.Pos()).Line, f.Name.Name, first)
			}
		}
	}
	if looked < 1000 {
		t.Errorf("%d comments of functions were looked at", looked)
	}
}

// verb follows the name that a comment of a field or of an interface's method begins with.
var verb = regexp.MustCompile(`^(\w+),? (?:is|are|says|returns|holds|tells|reports|shows|has|when not nil)\b`)

// noName are words that begin a sentence about a field without naming it.
var noName = []string{"It", "This", "That", "What", "Which", "Nil", "Zero", "Empty", "There", "Each", "They"}

// A comment over a field or a method of an interface begins with its name, too, where it
// begins with a name.
func TestCommentsOfFieldsBeginWithTheNameThatIsThere(t *testing.T) {
	looked := 0
	for name, file := range parsed(t) {
		ast.Inspect(file.File, func(n ast.Node) bool {
			f, ok := n.(*ast.Field)
			if !ok || f.Doc == nil || len(f.Names) == 0 {
				return true
			}
			looked++
			m := verb.FindStringSubmatch(f.Doc.Text())
			if m != nil && !slices.Contains(noName, m[1]) &&
				!slices.ContainsFunc(f.Names, func(n *ast.Ident) bool { return n.Name == m[1] }) {
				t.Errorf("%s:%d: the comment of %s begins with %s", name, file.set.Position(f.Pos()).Line, f.Names[0], m[1])
			}
			return true
		})
	}
	if looked < 300 {
		t.Errorf("%d comments of fields were looked at", looked)
	}
}

// testNamed is a test that a comment names, and what follows the name: “…” stands for the rest.
var testNamed = regexp.MustCompile(`\b(Test[A-Z]\w*)(…?)`)

// A comment that says which test looks after something names one that is there.
func TestCommentsNameTestsThatAreThere(t *testing.T) {
	known := goTests(t)
	types := map[string]bool{"TestCase": true, "TestResult": true} // of recorded calls
	begins := func(beginning string) bool {
		for name := range known {
			if strings.HasPrefix(name, beginning) {
				return true
			}
		}
		return false
	}
	named := 0
	for name, file := range parsed(t) {
		for _, comment := range file.Comments {
			for _, m := range testNamed.FindAllStringSubmatch(comment.Text(), -1) {
				named++
				if known[m[1]] == nil && !types[m[1]] && (m[2] == "" || !begins(m[1])) {
					t.Errorf("%s:%d: there is no %s", name, file.set.Position(comment.Pos()).Line, m[1])
				}
			}
		}
	}
	if named < 20 {
		t.Errorf("%d names of tests were found; does the test still see them?", named)
	}
}
