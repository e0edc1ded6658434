package spindle

import (
	"regexp"
	"slices"
	"strings"

	"conclave/app/base/pattern"
	"conclave/app/tool"
)

// maxScan bounds the text that is looked through; what a bundle registers is
// usually at its end or its beginning, but a listing is a preview, no promise.
const maxScan = 2 << 20

// A registration that is written out: spindle.registerTool({ name: "x", …. The
// words are looked for near the call, whatever order they come in.
var (
	registration = pattern.Lazy(`\.registerTool\(\s*\{`)
	nameWord     = pattern.Lazy(`\bname\s*:\s*(` + textLiteral + `)`)
	titleWord    = pattern.Lazy(`\bdisplay_name\s*:\s*(` + textLiteral + `)`)
	aboutWord    = pattern.Lazy(`\bdescription\s*:\s*(` + textLiteral + `)`)
	council      = pattern.Lazy(`\bcouncil_eligible\s*:\s*(?:true|!0)\b`)
	inline       = pattern.Lazy(`\binline_available\s*:\s*(?:true|!0)\b`)
	importWord   = pattern.Lazy(`(?m)^\s*(?:import|export)\b[^;'"]*?(?:from\s*)?["']([^"'\n]+)["']`)
)

// textLiteral is a string of JavaScript without escapes, on one line.
const textLiteral = `"[^"\\\n]*"|'[^'\\\n]*'|` + "`[^`\\\\$]*`"

// scanTools finds registrations that are written out in text.
func scanTools(text string) []tool.Tool {
	if len(text) > maxScan {
		text = text[:maxScan]
	}
	tools := []tool.Tool{}
	for _, at := range registration().FindAllStringIndex(text, -1) {
		body, top := objectAt(text, at[1]-1)
		name := literal(nameWord(), top)
		if name == "" || slices.ContainsFunc(tools, func(t tool.Tool) bool { return t.Name == name }) {
			continue
		}
		t := tool.Tool{
			Name: name, Title: literal(titleWord(), top), Description: descriptions(top, body),
			CouncilEligible: council().MatchString(top), InlineAvailable: inline().MatchString(top),
			Line: strings.Count(text[:at[0]], "\n") + 1,
		}
		if t.Title == "" {
			t.Title = name
		}
		tools = append(tools, t)
	}
	return tools
}

// descriptions returns the description of a tool and below it those of its parameters: all that
// a model reads of them is shown before the yes.
func descriptions(top, body string) string {
	all := []string{}
	if own := literal(aboutWord(), top); own != "" {
		all = append(all, own)
	}
	for _, m := range aboutWord().FindAllStringSubmatch(body, -1) {
		if text := m[1][1 : len(m[1])-1]; text != "" && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return strings.Join(all, "\n")
}

func literal(word *regexp.Regexp, text string) string {
	m := word.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	return m[1][1 : len(m[1])-1]
}

// maxObject bounds how much of one registration is read.
const maxObject = 64 << 10

// objectAt returns the object literal that begins at text[from], with its braces, and it with
// what is nested in it made blank, so that the name of a parameter is not taken for that of
// the tool. Strings are passed over; comments and expressions that hold quotes may end it
// early, which a preview can bear.
func objectAt(text string, from int) (body, top string) {
	out := []byte(text[from:min(len(text), from+maxObject)])
	depth, quote, escaped := 0, byte(0), false
	for i, c := range out {
		inner := depth > 1
		switch {
		case escaped:
			escaped = false
		case quote != 0 && c == '\\':
			escaped = true
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
		case c == '"', c == '\'', c == '`':
			quote = c
		case c == '{', c == '[', c == '(':
			depth++
			inner = depth > 1
		case c == '}', c == ']', c == ')':
			depth--
		}
		if inner && c != '\n' {
			out[i] = ' '
		}
		if depth == 0 {
			return text[from : from+i+1], string(out[:i+1])
		}
	}
	return text[from : from+len(out)], string(out)
}

// scanImports returns what the text imports by name from its first line on,
// without repeats.
func scanImports(text string) []string {
	if len(text) > maxScan {
		text = text[:maxScan]
	}
	imports := []string{}
	for _, m := range importWord().FindAllStringSubmatch(text, -1) {
		if !strings.Contains(m[0], "import") && !strings.Contains(m[0], "from") || slices.Contains(imports, m[1]) {
			continue
		}
		imports = append(imports, m[1])
	}
	return imports
}
