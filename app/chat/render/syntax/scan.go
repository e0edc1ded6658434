package syntax

import "strings"

// scan colours src from p.done up to end with the general scanner: comments,
// strings, numbers and words, as the language's spec says.
func (p *painter) scan(st State, end int) State {
	p.lang.once.Do(p.lang.prepare)
	spec, opens, s := &p.lang.spec, &p.lang.opens, p.src[:end]
	i := p.done
	switch st.mode {
	case inQuote:
		i, st = p.quoted(st, i, i, end)
	case inComment:
		i, st = p.commented(st, i, i, end)
	}
	operand := false // whether what came last can be divided, so that "/" divides it
	for i < end {
		c := s[i]
		if c == ' ' || c == '\t' {
			i++
			continue
		}
		if c >= '0' && c <= '9' || c == '.' && i+1 < end && s[i+1] >= '0' && s[i+1] <= '9' {
			j := numberEnd(s, i)
			p.span(i, j, number)
			i, operand = j, true
			continue
		}
		if opens[c] {
			if lineCommentAt(spec.line, s, i) {
				p.span(i, end, comment)
				return st
			}
			if k := prefixOf(spec.block, s[i:]); k >= 0 {
				i, st = p.commented(State{mode: inComment, index: uint8(k), depth: 1}, i, i+len(spec.block[k][0]), end)
				continue
			}
			if k := p.quoteAt(i, i); k >= 0 {
				i, st = p.quoted(State{mode: inQuote, index: uint8(k)}, i, i+len(spec.quotes[k].open), end)
				operand = true
				continue
			}
		}
		if isName(c, spec.ident) {
			i, st, operand = p.name(st, i, end)
			continue
		}
		if j, cl := p.marked(i, end, operand); j > 0 {
			p.span(i, j, cl)
			i, operand = j, cl != marker
			continue
		}
		operand = c == ')' || c == ']' || c == '}'
		i++
	}
	return st
}

// name colours the name that begins at i, or the string that it begins, as r"…" in Python. It
// returns where that ends, the state there, and whether it can be divided.
func (p *painter) name(st State, i, end int) (next int, _ State, operand bool) {
	spec, s := &p.lang.spec, p.src[:end]
	j := i + 1
	for j < end && isName(s[j], spec.ident) {
		j++
	}
	if j < end && p.lang.opens[s[j]] && isPrefix(s[i:j]) {
		if k := p.quoteAt(j, i); k >= 0 {
			next, st = p.quoted(State{mode: inQuote, index: uint8(k)}, i, j+len(spec.quotes[k].open), end)
			return next, st, true
		}
	}
	cl := p.word(i, j, end)
	p.span(i, j, cl)
	return j, st, cl != keyword
}

// marked returns the end of what a special character begins at i, and what it is: a variable, a
// marker as @decorator, or a regular expression. The end is 0 if nothing begins there.
func (p *painter) marked(i, end int, operand bool) (int, class) {
	spec, s := &p.lang.spec, p.src[:end]
	if j := nameAfter(spec.sigils, s, i, spec.ident); j > 0 {
		return j, variable
	}
	if j := nameAfter(spec.markers, s, i, spec.ident+"."); j > 0 {
		return j, marker
	}
	if s[i] == '/' && spec.regex && !operand {
		return regexEnd(s, i), str
	}
	return 0, plain
}

// word returns what the name src[i:j] is.
func (p *painter) word(i, j, end int) class {
	spec, w := &p.lang.spec, p.src[i:j]
	member := i > 0 && p.src[i-1] == '.' && (i < 2 || p.src[i-2] != '.')
	if !member {
		if cl := p.lang.class(w); cl != plain {
			return cl
		}
	}
	k := j
	for k < end && p.src[k] == ' ' {
		k++
	}
	switch {
	case k < end && p.src[k] == '(':
		return function
	case spec.keys && k < end && (p.src[k] == ':' || p.src[k] == '=' && spec.fold):
		return attribute
	case spec.upper && w[0] >= 'A' && w[0] <= 'Z':
		return typ
	}
	return plain
}

// quoted colours a string that began at from and whose inside begins at i. It
// returns where it ends and the state there.
func (p *painter) quoted(st State, from, i, end int) (int, State) {
	q := p.lang.spec.quotes[st.index]
	for i < end {
		if p.src[i] == '\\' && !q.raw {
			i += 2
			continue
		}
		if strings.HasPrefix(p.src[i:end], q.close) {
			i += len(q.close)
			cl := str
			if p.lang.spec.keys && colonNext(p.src[i:end]) {
				cl = attribute
			}
			p.span(from, i, cl)
			return i, State{}
		}
		i++
	}
	p.span(from, end, str)
	if q.multi {
		return end, st
	}
	return end, State{}
}

// commented colours a comment that began at from and whose inside begins at i.
func (p *painter) commented(st State, from, i, end int) (int, State) {
	b := p.lang.spec.block[st.index]
	for i < end {
		switch {
		case strings.HasPrefix(p.src[i:end], b[1]):
			i += len(b[1])
			if st.depth--; st.depth == 0 {
				p.span(from, i, comment)
				return i, State{}
			}
		case p.lang.spec.nest && st.depth < 200 && strings.HasPrefix(p.src[i:end], b[0]):
			i += len(b[0])
			st.depth++
		default:
			i++
		}
	}
	p.span(from, end, comment)
	return end, st
}

// quoteAt returns which quote of the language opens at i, or -1. start is where
// the word before it begins, if any.
func (p *painter) quoteAt(i, start int) int {
	for k := range p.lang.spec.quotes {
		q := &p.lang.spec.quotes[k]
		if !strings.HasPrefix(p.src[i:], q.open) {
			continue
		}
		if !q.char || oneCharacter(p.src[i+len(q.open):], q.close) {
			if start != i && !q.prefix {
				return -1
			}
			return k
		}
	}
	return -1
}

// oneCharacter reports whether s begins with one character, or an escape of
// one, and the closing quote.
func oneCharacter(s, closing string) bool {
	end := strings.Index(s[:min(len(s), 12)], closing)
	if end == 0 {
		return false
	}
	if s != "" && s[0] == '\\' {
		return end > 1 || end == 1 && strings.HasPrefix(s[2:], closing)
	}
	return end > 0 && len([]rune(s[:end])) == 1
}

// lineCommentAt reports whether one of the comment starters, separated by
// spaces, stands at s[i:]. A "#" counts only at a word's start, for a shell.
func lineCommentAt(starters, s string, i int) bool {
	for starters != "" {
		var start string
		start, starters, _ = strings.Cut(starters, " ")
		if strings.HasPrefix(s[i:], start) &&
			(start != "#" || i == 0 || s[i-1] != '$' && s[i-1] != '{' && !isName(s[i-1], "")) {
			return true
		}
	}
	return false
}

func prefixOf(pairs [][2]string, s string) int {
	for k := range pairs {
		if strings.HasPrefix(s, pairs[k][0]) {
			return k
		}
	}
	return -1
}

func isName(c byte, more string) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= 0x80 ||
		more != "" && strings.IndexByte(more, c) >= 0
}

// isPrefix reports whether w may stand before a string: r"…", rb'…', f"…".
func isPrefix(w string) bool {
	return len(w) <= 2 && strings.Trim(w, "bBcCfFrRuU") == ""
}

// nameAfter returns the end of a name with one of the marks before it, or 0.
func nameAfter(marks, s string, i int, ident string) int {
	if marks == "" || strings.IndexByte(marks, s[i]) < 0 {
		return 0
	}
	j := i + 1
	if j < len(s) && (s[j] == '{' || s[j] == '[') && s[i] != '@' {
		if k := strings.IndexAny(s[j:min(len(s), j+80)], "}]"); k > 0 {
			return j + k + 1
		}
		return 0
	}
	for j < len(s) && isName(s[j], ident) {
		j++
	}
	if j == i+1 {
		return 0
	}
	return j
}

// numberEnd returns where the number at i ends: digits, letters of a base, an
// exponent or a suffix, separators, and one point that is not a range.
func numberEnd(s string, i int) int {
	for j := i; j < len(s); j++ {
		c := s[j]
		switch {
		case isName(c, "") && c < 0x80:
		case c == '.' && j+1 < len(s) && s[j+1] >= '0' && s[j+1] <= '9':
		case (c == '+' || c == '-') && (s[j-1]|0x20 == 'e') && j+1 < len(s) && s[j+1] >= '0' && s[j+1] <= '9' &&
			!strings.HasPrefix(s[i:], "0x"):
		default:
			return j
		}
	}
	return len(s)
}

// regexEnd returns where the regular expression at i ends on this line, or 0.
// It looks 500 bytes far: longer ones are rare, and lines of slashes are not.
func regexEnd(s string, i int) int {
	set := false
	s = s[:min(len(s), i+500)]
	for j := i + 1; j < len(s); j++ {
		switch s[j] {
		case '\\':
			j++
		case '[':
			set = true
		case ']':
			set = false
		case '/':
			if set {
				continue
			}
			if j == i+1 {
				return 0
			}
			for j++; j < len(s) && s[j] >= 'a' && s[j] <= 'z'; j++ {
			}
			return j
		}
	}
	return 0
}

// colonNext reports whether the next character that is no space is a colon.
func colonNext(s string) bool {
	s = strings.TrimLeft(s, " \t")
	return s != "" && s[0] == ':'
}
