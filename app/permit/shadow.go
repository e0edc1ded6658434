package permit

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"conclave/app/tool"

	"golang.org/x/text/unicode/norm"
)

// alike maps letters to the Latin ones that they are taken for, as the confusables of
// Unicode (UTS 39) have them: those of Cyrillic, Greek and Armenian, and digits.
var alike = map[rune]rune{
	'а': 'a', 'в': 'b', 'с': 'c', 'ԁ': 'd', 'е': 'e', 'һ': 'h', 'і': 'i', 'ј': 'j', 'к': 'k', 'ӏ': 'l', 'м': 'm',
	'н': 'h', 'о': 'o', 'р': 'p', 'ԛ': 'q', 'ѕ': 's', 'т': 't', 'у': 'y', 'ѵ': 'v', 'ԝ': 'w', 'х': 'x', 'ь': 'b',
	'α': 'a', 'β': 'b', 'ε': 'e', 'η': 'n', 'ι': 'i', 'κ': 'k', 'μ': 'm', 'ν': 'v', 'ο': 'o', 'ρ': 'p', 'τ': 't',
	'υ': 'u', 'χ': 'x', 'ω': 'w', 'ζ': 'z', 'γ': 'y',
	'օ': 'o', 'ո': 'n', 'ս': 'u', 'հ': 'h', 'ց': 'g', 'զ': 'q', 'ı': 'i', 'ɡ': 'g', 'ɑ': 'a', 'ⅼ': 'l',
	'0': 'o', '1': 'l', 'i': 'l', '|': 'l', '5': 's', '-': '_', ' ': '_', '.': '_',
}

// skeleton returns what a name looks like: names that are taken for one another have the
// same.
func skeleton(name string) string {
	var out strings.Builder
	for _, r := range strings.ToLower(norm.NFKD.String(name)) {
		if unicode.In(r, unicode.Mn, unicode.Cf) {
			continue // marks above letters, and what nobody sees
		}
		for range 2 { // ӏ is l, and і is i, which is l
			if a, ok := alike[r]; ok {
				r = a
			}
		}
		out.WriteRune(r)
	}
	return strings.ReplaceAll(strings.ReplaceAll(out.String(), "rn", "m"), "vv", "w")
}

// Shadowing returns a sentence for each thing by which a plugin's tools could be taken for
// another plugin's, or be meant to change how those are used: names that look alike, and
// words about a tool of another.
func (g *Gate) Shadowing(plugin string) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.shadowingLocked(plugin, g.known[plugin].Tools)
}

func (g *Gate) shadowingLocked(plugin string, tools []tool.Tool) []string {
	others := g.namesLocked(plugin)
	var found []string
	for _, t := range tools {
		if _, words := lookAlikes(t.Name); words > 0 {
			found = append(found, fmt.Sprintf("The name of its tool “%s” holds letters that look like others.", t.Name))
		}
		words := identifiers(ToolText(t))
		for _, other := range slices.Sorted(maps.Keys(others)) {
			whose := g.pluginName(others[other])
			switch {
			case other != t.Name && skeleton(other) == skeleton(t.Name):
				found = append(found, fmt.Sprintf("The name of its tool “%s” looks like “%s” of %s.", t.Name, other, whose))
			case other != t.Name && words[spelled(other)]:
				found = append(found, fmt.Sprintf("Its tool “%s” speaks of “%s”, a tool of %s.", t.Name, other, whose))
			}
		}
	}
	own := g.pluginName(plugin)
	if _, words := lookAlikes(own); words > 0 {
		found = append(found, "The name “"+own+"” holds letters that look like others.")
	}
	return found[:min(len(found), maxShadowing)]
}

// maxShadowing bounds what is said of one plugin.
const maxShadowing = 20

// namesLocked returns the names of the tools of all other plugins, and whose they are.
func (g *Gate) namesLocked(plugin string) map[string]string {
	names := map[string]string{}
	for id, a := range g.approvals {
		if id == plugin || a.Effect != Allow {
			continue
		}
		for name := range a.Tools {
			names[name] = id
		}
		for name := range a.Read {
			names[name] = id
		}
	}
	return names
}

// spelled returns a name alike for all ways to write it: in other case, and joined otherwise.
func spelled(name string) string { return strings.ToLower(strings.ReplaceAll(name, "-", "_")) }

// identifiers returns the words of a text that can only be names, as spelled has them: joined,
// with a capital within, or between backquotes. Of one as models are told it, which begins with
// its plugin, the tool's own is there too; of one with hyphens, so is each part that is a name.
func identifiers(text string) map[string]bool {
	words := map[string]bool{}
	add := func(word string) {
		words[spelled(word)] = true
		if _, own, ok := strings.Cut(word, "__"); ok {
			words[spelled(own)] = true
		}
	}
	for i, piece := range strings.Split(text, "`") {
		if i%2 == 1 {
			add(strings.TrimSuffix(strings.TrimSpace(piece), "()"))
		}
		for word := range strings.FieldsFuncSeq(piece, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-'
		}) {
			for _, name := range append(strings.Split(word, "-"), strings.Trim(word, "-")) {
				if isIdentifier(name) {
					add(name)
				}
			}
		}
	}
	return words
}

// isIdentifier reports whether a word can only be a name: it is joined, or has a capital within.
func isIdentifier(word string) bool {
	return strings.ContainsAny(strings.Trim(word, "_-"), "_-") ||
		word != "" && strings.ContainsFunc(word[1:], unicode.IsUpper) && strings.ContainsFunc(word, unicode.IsLower)
}
