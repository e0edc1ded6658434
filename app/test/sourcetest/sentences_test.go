package sourcetest

import (
	"encoding/json"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// TestSentencesOfErrorsHaveTheirChinese reads what is said by fault.New and fault.Wrap.
func TestSentencesOfErrorsHaveTheirChinese(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(root, "app/base/language/zh.json"))
	must(t, err)
	var chinese map[string]string
	must(t, json.Unmarshal(data, &chinese))
	for _, path := range files(t, ".go") {
		if strings.HasSuffix(path, "_test.go") || !strings.HasPrefix(path, "app/") {
			continue
		}
		ast.Inspect(parse(t, filepath.Join(root, path)), func(n ast.Node) bool {
			for _, sentence := range saidBy(n) {
				if _, found := chinese[sentence]; !found {
					t.Errorf("%s: app/base/language/zh.json lacks the Chinese of %q", path, sentence)
				}
			}
			return true
		})
	}
}

// saidBy returns the sentences that a call makes an error of: what happened, and what to do.
func saidBy(n ast.Node) []string {
	call, is := n.(*ast.CallExpr)
	if !is || len(call.Args) < 4 {
		return nil
	}
	of, is := call.Fun.(*ast.SelectorExpr)
	if !is || of.Sel.Name != "New" && of.Sel.Name != "Wrap" {
		return nil
	}
	if name, is := of.X.(*ast.Ident); !is || name.Name != "fault" {
		return nil
	}
	var out []string
	for _, arg := range call.Args[2:4] {
		sentence := formatOf(arg)
		if strings.ContainsFunc(strings.ReplaceAll(sentence, "%s", ""), unicode.IsLetter) {
			out = append(out, sentence)
		}
	}
	return out
}

// formatOf returns a text as zh.json names it, with %s for what is only known when the program runs.
func formatOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return text
		}
	case *ast.BinaryExpr:
		return formatOf(e.X) + formatOf(e.Y)
	case *ast.CallExpr:
		if of, is := e.Fun.(*ast.SelectorExpr); is && of.Sel.Name == "Sprintf" {
			return formatOf(e.Args[0])
		}
	}
	return "%s"
}
