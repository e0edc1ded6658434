package gate

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"conclave/app/tool"

	"golang.org/x/text/unicode/norm"
)

// sameInNames are characters that are mistaken for one another in names, in lower case.
var sameInNames = map[rune]rune{'0': 'o', '1': 'l', 'i': 'l', '|': 'l', '5': 's', '-': '_', ' ': '_', '.': '_'}

// skeleton returns what a name looks like: names that are taken for one another have the
// same.
func skeleton(name string) string { return pairs.Replace(drawn(name)) }

// pairs are two letters that together are taken for one.
var pairs = strings.NewReplacer("rn", "m", "vv", "w")

// drawn returns what the letters of a name look like, each by itself, in lower case.
func drawn(name string) string {
	var out strings.Builder
	write := func(r rune) {
		if looks, ok := lookAlikeTable[r]; ok {
			r = looks.latin
		}
		r = unicode.ToLower(r)
		if same, ok := sameInNames[r]; ok {
			r = same
		}
		out.WriteRune(r)
	}
	for _, r := range name {
		if _, known := lookAlikeTable[r]; known || r < utf8.RuneSelf {
			write(r)
			continue
		}
		for _, r := range norm.NFKD.String(string(r)) {
			if !unicode.In(r, unicode.Mn, unicode.Cf) { // marks above letters, and what nobody sees
				write(r)
			}
		}
	}
	return out.String()
}

// speaker is the name under which Conclave itself speaks to a person.
var speaker = skeleton("conclave")

// Reserved reports whether a name reads as that of Conclave, or begins as it does: whoever had it
// could speak in Conclave's name where a message says who speaks.
func Reserved(name string) bool {
	letters := strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1 // C-o-n-c-l-a-v-e
		}
		return r
	}, drawn(name))
	return strings.HasPrefix(pairs.Replace(letters), speaker)
}

// Shadowing returns a sentence for each thing by which a plugin's tools could be taken for
// another plugin's, or be meant to change how those are used: names that look alike, and
// words about a tool of another. If the plugin is not approved, there are also sentences for the
// approved tools that mention its tools; once it is approved, these belong to the other plugins.
func (a *Approvals) Shadowing(plugin string) []string {
	a.mu.Lock()
	all := a.comparedLocked(a.known[plugin])
	sentences, known := all.sentences[plugin]
	a.mu.Unlock()
	if !known {
		sentences = all.found()
		a.mu.Lock()
		all.sentences[plugin] = sentences
		a.mu.Unlock()
	}
	return slices.Clone(sentences)
}

// likenesses holds what Shadowing compares plugins with. It is made under the lock of Approvals, again
// once approvals or versions of plugins changed, and read without it: texts may be long, and calls are
// decided meanwhile.
type likenesses struct {
	allowed   []Approval          // of all plugins that the person allows, by id
	names     map[string]string   // of those plugins, by id
	theirs    func() *theirs      // of allowed
	sentences map[string][]string // those found so far, by plugin; guarded by the lock of Approvals
}

// compared is a version of a plugin, with what it is compared with.
type compared struct {
	*likenesses
	PluginVersion
	name     string
	approved bool
}

func (a *Approvals) comparedLocked(c PluginVersion) compared {
	if a.likenesses == nil {
		l := &likenesses{names: map[string]string{}, sentences: map[string][]string{}}
		for _, id := range slices.Sorted(maps.Keys(a.approvals)) {
			if of := a.approvals[id]; of.Effect == Allow {
				l.allowed = append(l.allowed, of)
				l.names[id] = a.pluginName(id)
			}
		}
		l.theirs = sync.OnceValue(func() *theirs { return theirNames(l.allowed) })
		a.likenesses = l
	}
	status, _ := a.status(c)
	return compared{a.likenesses, c, a.pluginName(c.Plugin), status == Approved}
}

// found returns the sentences of Shadowing.
func (l compared) found() []string {
	theirs := l.theirs()
	found := []string{}
	for _, t := range l.Tools {
		if _, words := lookAlikes(t.Name); words > 0 {
			found = append(found, fmt.Sprintf("The name of its tool “%s” holds letters that look like others.", t.Name))
		}
		others := theirs.all.in(ToolText(t))
		for _, name := range theirs.looks[skeleton(t.Name)] {
			others[name] = true
		}
		for _, other := range slices.Sorted(maps.Keys(others)) {
			whose := slices.DeleteFunc(slices.Clone(theirs.whose[other]), func(id string) bool {
				return id == l.Plugin || l.offers(id, t)
			})
			if other == t.Name || len(whose) == 0 {
				continue
			}
			say := "Its tool “%s” speaks of “%s”, a tool of %s."
			if skeleton(other) == skeleton(t.Name) {
				say = "The name of its tool “%s” looks like “%s” of %s."
			}
			found = append(found, fmt.Sprintf(say, t.Name, other, l.names[whose[len(whose)-1]]))
		}
	}
	if !l.approved {
		found = append(found, l.spokenOf()...)
	}
	if _, words := lookAlikes(l.name); words > 0 {
		found = append(found, "The name “"+l.name+"” holds letters that look like others.")
	}
	return found[:min(len(found), maxShadowing)]
}

// offers reports whether an approved plugin has the same tool, word by word, as a server does that is there twice:
// what it says of others there is about its own.
func (l compared) offers(plugin string, t tool.Tool) bool {
	return slices.ContainsFunc(l.allowed, func(a Approval) bool {
		return a.Plugin == plugin && a.Tools[t.Name] == t.Digest && t.Digest != ""
	})
}

// spokenOf returns which tools of other plugins speak of the plugin's: who approved those could not
// know of these.
func (l compared) spokenOf() []string {
	names := make([]string, len(l.Tools))
	for i, t := range l.Tools {
		names[i] = t.Name
	}
	own := namesIn(slices.Values(names))
	var found []string
	for _, a := range l.allowed {
		if a.Plugin == l.Plugin {
			continue
		}
		texts, its := a.modelTexts(), map[string]bool{}
		for name := range texts {
			its[skeleton(name)] = true
		}
		for _, theirs := range slices.Sorted(maps.Keys(texts)) {
			for _, name := range slices.Sorted(maps.Keys(own.in(texts[theirs]))) {
				if its[skeleton(name)] {
					continue // it may mention its own tools
				}
				found = append(found, fmt.Sprintf("“%s”, a tool of %s, speaks of its tool “%s”.", theirs, l.names[a.Plugin], name))
			}
		}
	}
	return found
}

// modelTexts returns the texts that a model gets for each approved tool, by name.
func (a Approval) modelTexts() map[string]string {
	texts := maps.Clone(a.Read)
	if texts == nil {
		texts = map[string]string{}
	}
	for name := range a.Tools {
		texts[name] = strings.Join(append([]string{texts[name], a.Texts[name], a.Titles[name]},
			schemaTexts(a.Schemas[name])...), "\n")
	}
	return texts
}

// maxShadowing bounds the sentences about one plugin.
const maxShadowing = 20

// theirs are the names of tools, and whose they are.
type theirs struct {
	all   names
	whose map[string][]string // ids of plugins, sorted, by name of a tool
	looks map[string][]string // names by their skeleton
}

func theirNames(allowed []Approval) *theirs {
	t := &theirs{whose: map[string][]string{}, looks: map[string][]string{}}
	for _, a := range allowed {
		for _, of := range []map[string]string{a.Tools, a.Read} {
			for name := range of {
				if whose := t.whose[name]; len(whose) == 0 || whose[len(whose)-1] != a.Plugin {
					t.whose[name] = append(whose, a.Plugin)
				}
			}
		}
	}
	for name := range t.whose {
		looks := skeleton(name)
		t.looks[looks] = append(t.looks[looks], name)
	}
	t.all = namesIn(maps.Keys(t.whose))
	return t
}

// names are names of tools that are looked for in texts.
type names struct {
	joined map[string][]string // those of several words, by what they look like without what joins them
	single map[string][]string // those of one word, which may be an ordinary one
	words  int                 // how many words the longest have
	size   int                 // how many bytes the longest looks like
	sizes  map[int]bool        // of joined ones, see word.size
}

// maxRun bounds the words of a text that are tried as one name, which costs as much for each word
// of the text. A longer name is found only where its words are joined as in the name.
const maxRun = 8

func namesIn(all iter.Seq[string]) names {
	n := names{joined: map[string][]string{}, single: map[string][]string{}, sizes: map[int]bool{}}
	for name := range all {
		words := wordsOf(name)
		looks, to := looksLike(words), n.single
		if len(words) > 1 || isIdentifier(name) {
			to = n.joined
			n.sizes[sizeOf(words)] = true
		}
		if looks != "" {
			to[looks] = append(to[looks], name)
		}
		n.words, n.size = max(n.words, len(words)), max(n.size, len(looks))
	}
	return n
}

// in returns the names that a text mentions. A name of several words counts however they are joined
// and written. A single word may be an ordinary one, and counts in quotes, as a function
// (search()), as models see it (notes__search), and in letters that look like its own.
func (n names) in(text string) map[string]bool {
	found := map[string]bool{}
	add := func(all []string) {
		for _, name := range all {
			found[name] = true
		}
	}
	words := wordsOf(text)
	for i, w := range words {
		for _, name := range n.single[looksLike(words[i:i+1])] {
			if strings.HasSuffix(text[:w.from], "__") || strings.HasPrefix(text[w.to:], "()") ||
				w.foreign && !strings.EqualFold(text[w.from:w.to], name) {
				found[name] = true
			}
		}
		size := 0
		for end := i + 1; end <= len(words) && end-i <= min(n.words, maxRun); end++ {
			if size += words[end-1].size; size > 2*n.size || end-1 > i && !joins(text[words[end-2].to:words[end-1].from]) {
				break
			}
			if n.sizes[size] {
				add(n.joined[looksLike(words[i:end])])
			}
		}
	}
	for run := range n.longIn(text, words) {
		add(n.joined[looksLike(run)])
	}
	for piece := range quotedIn(text) {
		if len(piece) <= 8*n.size {
			looks := looksLike(wordsOf(piece))
			add(n.joined[looks])
			add(n.single[looks])
		}
	}
	return found
}

// longIn returns the runs of more than maxRun words that are as long as a name and stand alone, or
// behind the name of a plugin as models see it.
func (n names) longIn(text string, words []word) iter.Seq[[]word] {
	return func(yield func([]word) bool) {
		for from := 0; from < len(words); {
			to, size := from+1, words[from].size
			for to < len(words) && joined(text[words[to-1].to:words[to].from]) {
				size += words[to].size
				to++
			}
			for i := from; to-i > maxRun; i++ {
				begins := i == from || strings.HasSuffix(text[:words[i].from], "__")
				if begins && n.sizes[size] && !yield(words[i:to]) {
					return
				}
				size -= words[i].size
			}
			from = to
		}
	}
}

// word is a word of a text: letters and digits.
type word struct {
	from, to int
	drawn    string
	size     int  // in bytes; a character that looks like a pair counts as the pair
	foreign  bool // it has letters of an alphabet whose letters are taken for Latin ones
}

func wordsOf(text string) []word {
	var all []word
	from := -1
	end := func(to int) {
		if from < 0 {
			return
		}
		of := text[from:to]
		looks := strings.ReplaceAll(drawn(of), "_", "")
		size := len(looks) + strings.Count(looks, "m") + strings.Count(looks, "w")
		all = append(all, word{from, to, looks, size, strings.ContainsFunc(of, func(r rune) bool {
			alphabet, _, ok := alphabetOf(r)
			return ok && alphabet > 0
		})})
		from = -1
	}
	for i, r := range text {
		switch letter := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.In(r, unicode.M, unicode.Cf); {
		case !letter:
			end(i)
		case from < 0:
			from = i
		}
	}
	end(len(text))
	return all
}

// looksLike returns what words look like without what joins them.
func looksLike(words []word) string {
	if len(words) == 1 {
		return pairs.Replace(words[0].drawn)
	}
	var all strings.Builder
	for _, w := range words {
		all.WriteString(w.drawn)
	}
	return pairs.Replace(all.String())
}

// sizeOf returns the size of words together. Words that look alike have the same.
func sizeOf(words []word) (size int) {
	for _, w := range words {
		size += w.size
	}
	return size
}

// joins reports whether what stands between two words may join them to a name.
func joins(between string) bool { return strings.TrimSpace(between) == "" || joined(between) }

// joined reports whether what stands between two words joins the words of a name.
func joined(between string) bool {
	return strings.Trim(between, "_") == "" || len(between) == 1 && strings.Contains("-./:", between)
}

const (
	quotes        = "\"'`´“”„‟‘’‚‛«»‹›「」『』＂＇"
	openingQuotes = "“„‟‘‚‛«‹「『"
)

// quotedIn returns what stands between quotation marks of any kinds. An apostrophe is one too, so
// what begins or ends with a space is quoted only behind a mark that opens.
func quotedIn(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		seen := map[rune]int{}
		from, opens := -1, false
		for i, r := range text {
			if !strings.ContainsRune(quotes, r) {
				continue
			}
			if from >= 0 {
				piece := text[from:i]
				trimmed := strings.TrimSpace(piece)
				if trimmed != "" && (opens || piece == trimmed) && !yield(trimmed) {
					return
				}
			}
			seen[r]++
			from = i + utf8.RuneLen(r)
			opens = strings.ContainsRune(openingQuotes, r) || strings.ContainsRune("\"`", r) && seen[r]%2 == 1
		}
	}
}

// isIdentifier reports whether a word can only be a name: it is joined, or has a capital within.
func isIdentifier(word string) bool {
	return strings.ContainsAny(strings.Trim(word, "_-"), "_-") ||
		word != "" && strings.ContainsFunc(word[1:], unicode.IsUpper) && strings.ContainsFunc(word, unicode.IsLower)
}
