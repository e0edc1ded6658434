package sourcetest

import (
	"go/ast"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// maxMethods bounds the methods of a type. With more it is several types.
const maxMethods = 40

// largeTypes have more methods than that, and how many. A type leaves the list once it is split,
// and none may grow or be added.
var largeTypes = map[string]int{}

func TestNoTypeHasMoreThanFortyMethods(t *testing.T) {
	methods := map[string]int{}
	for name, file := range parsed(t) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, declared := range file.Decls {
			if f, ok := declared.(*ast.FuncDecl); ok && f.Recv != nil {
				methods[path.Dir(filepath.ToSlash(name))+"."+receiver(f.Recv.List[0].Type)]++
			}
		}
	}
	for _, of := range slices.Sorted(maps.Keys(methods)) {
		switch n, known := methods[of], largeTypes[of]; {
		case known == 0 && n > maxMethods:
			t.Errorf("%s has %d methods, of at most %d: split it by subject", of, n, maxMethods)
		case known > 0 && n > known:
			t.Errorf("%s has %d methods, and had %d: split it instead", of, n, known)
		case known > 0 && n < known-3:
			t.Errorf("%s has only %d methods now: write that into largeTypes", of, n)
		}
	}
	if len(methods) < 500 {
		t.Errorf("methods of %d types were found", len(methods))
	}
}

// receiver returns the name of a method's type.
func receiver(of ast.Expr) string {
	switch of := of.(type) {
	case *ast.StarExpr:
		return receiver(of.X)
	case *ast.IndexExpr:
		return receiver(of.X)
	case *ast.IndexListExpr:
		return receiver(of.X)
	case *ast.Ident:
		return of.Name
	}
	return ""
}

// oldWords make sentences hard to read. Each stands in the Go files at most as often as when it was
// last counted; whoever makes a file plain writes the lower number here.
var oldWords = []struct {
	pattern, instead string
	most             int
}{
	{`(?i)\banew\b`, "again", 25},
	{`(?i)\bbeside\b`, "next to, in addition to, with", 157},
	{`(?i)\btold\b`, "reported to, shown, sent", 548},
	{`(?i)\bno more\b`, "no longer, not any more", 28},
	{`(?i)\b(?:lent|lends?)\b`, "passes, gives", 14},
	{`(?i)\bof (?:its|their) own\b`, "its own, or nothing", 71},
	{`(?i)\bwhat c[ao]mes? of\b`, "the result of", 9},
	{`(?i)\bkin\b|\bvouch`, "related; trust", 0},
	{`(?i)\bof which\b`, "two sentences", 74},
	{`(?m)^\s*// \w+ (?:is how|says (?:what|how|where|why|whether))\b`, "what it returns or does", 26},
}

func TestOldWordsBecomeFewer(t *testing.T) {
	counts := make([]int, len(oldWords))
	patterns := make([]*regexp.Regexp, len(oldWords))
	for i, w := range oldWords {
		patterns[i] = regexp.MustCompile(w.pattern)
	}
	for _, name := range files(t, ".go") {
		if strings.HasSuffix(name, "house_test.go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		must(t, err)
		for i, p := range patterns {
			counts[i] += len(p.FindAll(text, -1))
		}
	}
	for i, w := range oldWords {
		switch {
		case counts[i] > w.most:
			t.Errorf("%s stands in %d places, and stood in %d: write %s", w.pattern, counts[i], w.most, w.instead)
		case counts[i] < w.most-60:
			t.Errorf("%s stands in %d places now: write that into oldWords", w.pattern, counts[i])
		}
	}
}
