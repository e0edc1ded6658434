package syntax

import "strings"

// The languages below are lines or tags rather than words.

// scanDiff colours a patch.
func scanDiff(p *painter, st State) State {
	s := p.src
	switch {
	case strings.HasPrefix(s, "+++"), strings.HasPrefix(s, "---"), strings.HasPrefix(s, "diff "),
		strings.HasPrefix(s, "index "):
		p.span(0, len(s), heading)
	case strings.HasPrefix(s, "@@"):
		p.span(0, len(s), marker)
	case strings.HasPrefix(s, "+"):
		p.span(0, len(s), inserted)
	case strings.HasPrefix(s, "-"):
		p.span(0, len(s), deleted)
	}
	return st
}

// scanConsole colours a terminal talk: a prompt, what was typed, what came.
func scanConsole(p *painter, st State) State {
	s := strings.TrimLeft(p.src, " ")
	from := len(p.src) - len(s)
	for _, prompt := range []string{"$ ", "# ", "% ", "> ", ">>> ", "PS> "} {
		if strings.HasPrefix(s, prompt) {
			p.span(from, from+len(prompt)-1, marker)
			shell := Find("bash")
			q := painter{dst: p.dst, src: p.src, done: p.done, lang: shell}
			q.scan(State{}, len(p.src))
			p.dst, p.done = q.dst, q.done
			return State{}
		}
	}
	return State{}
}

// scanYAML colours keys, list dashes and anchors, then the value.
func scanYAML(p *painter, st State) State {
	s := p.src
	if st.mode == inQuote || st.mode == inComment {
		return p.scan(st, len(s))
	}
	i := 0
	for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '-' && (i+1 == len(s) || s[i+1] == ' ')) {
		i++
	}
	if strings.HasPrefix(s[i:], "---") || strings.HasPrefix(s[i:], "...") {
		p.span(i, i+3, marker)
		i += 3
	} else if i < len(s) && s[i] != '#' && s[i] != '"' && s[i] != '\'' && s[i] != '{' && s[i] != '[' {
		if k := keyEnd(s[i:]); k > 0 {
			p.span(i, i+k, attribute)
			i += k + 1
		}
	}
	p.flush(min(i, len(s)))
	return p.scan(st, len(s))
}

// keyEnd returns the length of the key before ": " or a colon at the end.
func keyEnd(s string) int {
	for from := 0; ; {
		k := strings.IndexByte(s[from:], ':')
		if k < 0 {
			return 0
		}
		k += from
		if k+1 == len(s) || s[k+1] == ' ' {
			if h := strings.Index(s[:k], " #"); h >= 0 {
				return 0
			}
			return k
		}
		from = k + 1
	}
}

// scanINI colours sections and keys, then the value (also TOML and .env).
func scanINI(p *painter, st State) State {
	s := p.src
	if st.mode == atText {
		t := strings.TrimSpace(s)
		if strings.HasPrefix(t, "[") && strings.HasSuffix(t, "]") && !strings.ContainsAny(t, ",=\"") {
			p.span(0, len(s), heading)
			return st
		}
		if k := strings.IndexByte(s, '='); k > 0 && !strings.HasPrefix(t, "#") && !strings.HasPrefix(t, ";") &&
			!strings.ContainsAny(s[:k], "\"'#") {
			p.span(0, k, attribute)
		}
	}
	return p.scan(st, len(s))
}

// scanMarkdown colours headings, quotes, list marks, code and fences.
func scanMarkdown(p *painter, st State) State {
	s := p.src
	t := strings.TrimLeft(s, " ")
	from := len(s) - len(t)
	if strings.HasPrefix(t, "```") || strings.HasPrefix(t, "~~~") {
		p.span(0, len(s), marker)
		if st.mode == inFence {
			return State{}
		}
		return State{mode: inFence}
	}
	if st.mode == inFence {
		p.span(0, len(s), str)
		return st
	}
	switch {
	case strings.HasPrefix(t, "#"):
		p.span(0, len(s), heading)
		return st
	case strings.HasPrefix(t, ">"):
		p.span(from, from+1, marker)
	case strings.HasPrefix(t, "- "), strings.HasPrefix(t, "* "), strings.HasPrefix(t, "+ "):
		p.span(from, from+1, keyword)
	}
	for i := p.done; i < len(s); i++ {
		for _, q := range []struct {
			mark  string
			class class
		}{{"`", str}, {"**", strong}} {
			if strings.HasPrefix(s[i:], q.mark) {
				if k := strings.Index(s[i+len(q.mark):], q.mark); k > 0 {
					j := i + k + 2*len(q.mark)
					p.span(i, j, q.class)
					i = j - 1
					break
				}
			}
		}
	}
	return st
}

// scanMarkup colours HTML, XML and the component files made of them: tags,
// attributes, and the languages inside script and style.
func scanMarkup(p *painter, st State) State {
	s := p.src
	for i := p.done; i < len(s); {
		switch st.mode {
		case inComment:
			j := strings.Index(s[i:], "-->")
			if j < 0 {
				p.span(i, len(s), comment)
				return st
			}
			p.span(i, i+j+3, comment)
			i, st = i+j+3, State{}
		case inScript, inStyle:
			i, st = p.embedded(st, i)
		case inTag, inTagQuote:
			i, st = p.insideTag(st, i)
		default:
			j := strings.IndexByte(s[i:], '<')
			if j < 0 {
				return st
			}
			i += j
			if strings.HasPrefix(s[i:], "<!--") {
				st = State{mode: inComment}
				continue
			}
			j = i + 1
			for j < len(s) && (s[j] == '/' || s[j] == '!' || s[j] == '?') {
				j++
			}
			name := j
			for j < len(s) && isName(s[j], "-:.") {
				j++
			}
			if j == name {
				i++
				continue
			}
			p.span(i, j, tag)
			st = State{mode: inTag}
			switch strings.ToLower(s[i+1 : j]) {
			case "script":
				st.inner = uint8(inScript)
			case "style":
				st.inner = uint8(inStyle)
			}
			i = j
		}
	}
	return st
}

// insideTag colours attributes up to the tag's end.
func (p *painter) insideTag(st State, i int) (int, State) {
	s := p.src
	if st.mode == inTagQuote {
		j := strings.IndexByte(s[i:], st.index)
		if j < 0 {
			p.span(i, len(s), str)
			return len(s), st
		}
		p.span(i, i+j+1, str)
		st.mode = inTag
		return i + j + 1, st
	}
	switch c := s[i]; {
	case c == '>':
		p.span(i, i+1, tag)
		self := i > 0 && s[i-1] == '/'
		if st.inner != 0 && !self {
			return i + 1, State{mode: mode(st.inner)}
		}
		return i + 1, State{}
	case c == '"' || c == '\'':
		j := strings.IndexByte(s[i+1:], c)
		if j < 0 {
			p.span(i, len(s), str)
			st.mode, st.index = inTagQuote, c
			return len(s), st
		}
		p.span(i, i+j+2, str)
		return i + j + 2, st
	case isName(c, ":@-"):
		j := i + 1
		for j < len(s) && isName(s[j], ":@-.|") {
			j++
		}
		p.span(i, j, attribute)
		return j, st
	}
	return i + 1, st
}

// embedded colours script or style up to its closing tag.
func (p *painter) embedded(st State, i int) (int, State) {
	name, closing := "javascript", "</script"
	if st.mode == inStyle {
		name, closing = "css", "</style"
	}
	end := strings.Index(p.src[i:], closing)
	if end < 0 {
		end = len(p.src)
	} else {
		end += i
	}
	q := painter{dst: p.dst, src: p.src, done: p.done, lang: Find(name)}
	q.flush(i)
	in := q.scan(State{mode: st.sub.mode, index: st.sub.index, depth: st.sub.depth}, end)
	q.flush(end)
	p.dst, p.done = q.dst, q.done
	if end < len(p.src) {
		return end, State{}
	}
	st.sub = sub{in.mode, in.index, in.depth}
	return end, st
}
