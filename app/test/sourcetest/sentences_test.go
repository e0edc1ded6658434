package sourcetest

import (
	"encoding/json"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// The files with Chinese texts: the sentences of the core, and the texts of the page.
const (
	coreChinese = "app/base/language/zh.json"
	pageChinese = "frontend/src/messages/zh.json"
)

// chineseTexts returns the texts of a file with their paths in it.
func chineseTexts(t *testing.T, path string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, path))
	must(t, err)
	var all any
	must(t, json.Unmarshal(data, &all))
	texts := map[string]string{}
	var take func(at string, v any)
	take = func(at string, v any) {
		switch v := v.(type) {
		case string:
			texts[at] = v
		case map[string]any:
			for name, one := range v {
				take(strings.TrimPrefix(at+"."+name, "."), one)
			}
		case []any:
			for i, one := range v {
				take(at+"."+strconv.Itoa(i), one)
			}
		}
	}
	if object, is := all.(map[string]any); is && path == coreChinese {
		for english, one := range object {
			take(english, one)
		}
		return texts
	}
	take("", all)
	return texts
}

// dates have no space between digits and Chinese.
var dates = regexp.MustCompile(`\d*[年月日]`)

// notChinese are the marks and spaces that Chinese texts do not have.
var notChinese = map[string]*regexp.Regexp{
	"a Latin mark behind Chinese":        regexp.MustCompile(`\p{Han}[,.:;!?()]($|[^A-Za-z0-9])`),
	"a Latin mark before Chinese":        regexp.MustCompile(`[,;:!?()]\p{Han}`),
	"a straight quote at Chinese":        regexp.MustCompile(`\p{Han}"|"\p{Han}`),
	"no space between Chinese and Latin": regexp.MustCompile(`\p{Han}[A-Za-z0-9]|[A-Za-z0-9]\p{Han}`),
	"a space between Chinese":            regexp.MustCompile(`\p{Han} +\p{Han}`),
	"a space at a full-width mark":       regexp.MustCompile(` [，。：；！？（）、]|[，。；！？（、] `),
	"three dots":                         regexp.MustCompile(`\.\.\.`),
}

// TestChineseReadsAsByOneHand looks for marks, spaces and words that docs/LANGUAGES.md rules out.
func TestChineseReadsAsByOneHand(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs/LANGUAGES.md"))
	must(t, err)
	_, table, found := strings.Cut(string(page), "| not | but |\n|---|---|\n")
	if !found {
		t.Fatal("docs/LANGUAGES.md has no table of words that are not used")
	}
	var not [][2]string
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, "|"); len(cells) == 4 {
			not = append(not, [2]string{strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2])})
		}
	}
	if len(not) < 10 {
		t.Fatalf("only %d words are read from the table", len(not))
	}
	for _, path := range []string{coreChinese, pageChinese} {
		for at, text := range chineseTexts(t, path) {
			for what, pattern := range notChinese {
				if pattern.MatchString(dates.ReplaceAllString(text, "")) {
					t.Errorf("%s: %q has %s: %s", path, at, what, text)
				}
			}
			for _, word := range not {
				if strings.Contains(text, word[0]) {
					t.Errorf("%s: %q says %s, not %s: %s", path, at, word[0], word[1], text)
				}
			}
		}
	}
}

// TestSentencesOfErrorsHaveTheirChinese reads what is said by fault.New and fault.Wrap, by the problems
// of plugins, and by the errors about arguments.
func TestSentencesOfErrorsHaveTheirChinese(t *testing.T) {
	chinese := chineseTexts(t, coreChinese)
	for _, path := range files(t, ".go") {
		ours := strings.HasPrefix(path, "app/") || strings.HasPrefix(path, "store/")
		if strings.HasSuffix(path, "_test.go") || strings.Contains(path, "/plugintest/") || !ours {
			continue
		}
		ast.Inspect(parse(t, filepath.Join(root, path)), func(n ast.Node) bool {
			for _, sentence := range saidBy(n) {
				if !inChinese(chinese, sentence) {
					t.Errorf("%s: app/base/language/zh.json lacks the Chinese of %q", path, sentence)
				}
			}
			return true
		})
	}
}

// inChinese reports whether a text has its Chinese, as a whole or sentence by sentence. What Python and the
// JavaScript engine say of a line of code stays as they say it.
func inChinese(chinese map[string]string, text string) bool {
	if _, found := chinese[text]; found || text == "%s" || text == "SyntaxError: %s" {
		return true
	}
	sentence, rest, more := strings.Cut(text, ". ")
	if !more {
		return false
	}
	_, found := chinese[sentence+"."]
	return found && inChinese(chinese, rest)
}

// saidBy returns the sentences that a call makes an error of, or that a problem of a plugin says: what
// happened, and what to do.
func saidBy(n ast.Node) []string {
	if problem, is := n.(*ast.CompositeLit); is {
		return saidByProblem(problem)
	}
	call, is := n.(*ast.CallExpr)
	if !is {
		return nil
	}
	if name, is := call.Fun.(*ast.Ident); is {
		if at := map[string]int{"usageError": 1, "usageOf": 2}[name.Name]; at > 0 && len(call.Args) >= at {
			if text := asSentence(formatOf(call.Args[at-1])); text != "%s." {
				return []string{text}
			}
			return nil
		}
	}
	if len(call.Args) < 4 {
		return nil
	}
	of, is := call.Fun.(*ast.SelectorExpr)
	if !is || of.Sel.Name != "New" && of.Sel.Name != "Wrap" {
		return nil
	}
	if name, is := of.X.(*ast.Ident); !is || name.Name != "fault" {
		return nil
	}
	return sentencesOf(call.Args[2:4]...)
}

// saidByProblem returns the sentences of a plugin.Problem that is written out.
func saidByProblem(problem *ast.CompositeLit) []string {
	name := ""
	switch of := problem.Type.(type) {
	case *ast.Ident:
		name = of.Name
	case *ast.SelectorExpr:
		name = of.Sel.Name
	}
	if name != "Problem" {
		return nil
	}
	var said []ast.Expr
	for _, element := range problem.Elts {
		field, is := element.(*ast.KeyValueExpr)
		if !is {
			continue
		}
		if key, is := field.Key.(*ast.Ident); is && (key.Name == "Message" || key.Name == "Hint") {
			said = append(said, field.Value)
		}
	}
	return sentencesOf(said...)
}

// sentencesOf returns those of some texts that have words of their own.
func sentencesOf(texts ...ast.Expr) []string {
	var out []string
	for _, text := range texts {
		sentence := formatOf(text)
		if strings.ContainsFunc(strings.ReplaceAll(sentence, "%s", ""), unicode.IsLetter) {
			out = append(out, sentence)
		}
	}
	return out
}

// asSentence writes what is wrong with arguments as the terminal does: with a full stop, and a capital
// where it begins with a word.
func asSentence(text string) string {
	first, _, _ := strings.Cut(text, " ")
	if !strings.ContainsFunc(first, func(r rune) bool { return !unicode.IsLetter(r) }) {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	return strings.TrimSuffix(text, ".") + "."
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
