package engine

import (
	"strconv"
	"strings"
)

// webURL is an address as the WHATWG URL Standard takes it apart
// (https://url.spec.whatwg.org/), which net/url does not do: "http:\\a\..\b" is
// an address there.
type webURL struct {
	scheme             string
	username, password string
	host               *string // nil: none; file:///x has an empty one
	port               string
	path               []string // after each slash; unused when opaque is set
	opaque             *string  // "a@b" of mailto:a@b
	query, fragment    *string
}

var specialPorts = map[string]string{"http": "80", "https": "443", "ws": "80", "wss": "443", "ftp": "21", "file": ""}

func (u *webURL) special() bool { _, ok := specialPorts[u.scheme]; return ok }

// Percent-encode sets of the standard, section 1.3: what is escaped beyond
// control characters and everything outside ASCII.
const (
	fragmentSet  = " \"<>`"
	querySet     = " \"#<>"
	specialQuery = " \"#<>'"
	pathSet      = " \"#<>?^`{}"
	userSet      = pathSet + "/:;=@[\\]|"
)

const hexDigits = "0123456789ABCDEF"

func escape(text, set string) string {
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		if c <= 0x1f || c >= 0x7f || strings.IndexByte(set, c) >= 0 {
			b.WriteByte('%')
			b.WriteByte(hexDigits[c>>4])
			b.WriteByte(hexDigits[c&15])
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// parseURL reads input, relative to base when that is not nil, and reports
// whether it is an address.
func parseURL(input string, base *webURL) (*webURL, bool) {
	input = strings.TrimFunc(input, func(r rune) bool { return r <= 0x20 })
	input = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(input)
	u := &webURL{}
	rest, fragment, hasFragment := strings.Cut(input, "#")
	if hasFragment {
		f := escape(fragment, fragmentSet)
		u.fragment = &f
	}
	scheme, after, ok := cutScheme(rest)
	if !ok {
		return u.relative(rest, base)
	}
	u.scheme = scheme
	switch {
	case scheme == "file":
		if base != nil && base.scheme != "file" {
			base = nil
		}
		return u.file(after, base)
	case u.special():
		if base != nil && base.scheme == scheme && !startsWithSlashes(after) {
			return u.relative(after, base)
		}
		return u.authority(strings.TrimLeft(after, `/\`))
	case strings.HasPrefix(after, "//"):
		return u.authority(after[2:])
	case strings.HasPrefix(after, "/"):
		u.setPathAndQuery(after, nil)
		return u, true
	default:
		path, query, hasQuery := strings.Cut(after, "?")
		p := escape(path, "")
		u.opaque = &p
		u.setQuery(query, hasQuery)
		return u, true
	}
}

func startsWithSlashes(text string) bool {
	return len(text) > 1 && isSlash(text[0]) && isSlash(text[1])
}

func isSlash(c byte) bool { return c == '/' || c == '\\' }

func cutScheme(text string) (scheme, rest string, ok bool) {
	for i := range len(text) {
		c := text[i] | 0x20
		switch {
		case c >= 'a' && c <= 'z':
		case i > 0 && (text[i] >= '0' && text[i] <= '9' || strings.IndexByte("+-.", text[i]) >= 0):
		case i > 0 && text[i] == ':':
			return strings.ToLower(text[:i]), text[i+1:], true
		default:
			return "", "", false
		}
	}
	return "", "", false
}

// relative reads text that has no scheme of its own.
func (u *webURL) relative(text string, base *webURL) (*webURL, bool) {
	if base == nil {
		return nil, false
	}
	u.scheme = base.scheme
	if base.opaque != nil {
		if text != "" {
			return nil, false
		}
		u.opaque, u.query = base.opaque, base.query
		return u, true
	}
	if u.scheme == "file" {
		return u.file(text, base)
	}
	slashes := text
	if u.special() {
		slashes = strings.ReplaceAll(text, `\`, "/")
	}
	if strings.HasPrefix(slashes, "//") {
		if u.special() {
			return u.authority(strings.TrimLeft(text, `/\`))
		}
		return u.authority(text[2:])
	}
	u.username, u.password, u.host, u.port = base.username, base.password, base.host, base.port
	u.joinPath(text, base)
	return u, true
}

// joinPath sets path and query from text, which may be relative to base's.
func (u *webURL) joinPath(text string, base *webURL) {
	switch {
	case text == "":
		u.path, u.query = base.path, base.query
	case text[0] == '?':
		u.path = base.path
		u.setQuery(text[1:], true)
	case text[0] == '/' || text[0] == '\\' && u.special():
		u.setPathAndQuery(text, nil)
	default:
		dir := base.path
		if len(dir) > 0 {
			dir = dir[:len(dir)-1]
		}
		u.setPathAndQuery("/"+text, dir)
	}
}

func (u *webURL) file(text string, base *webURL) (*webURL, bool) {
	empty := ""
	u.host = &empty
	if startsWithSlashes(text) {
		return u.authority(text[2:])
	}
	if base == nil {
		if text == "" || !isSlash(text[0]) && text[0] != '?' {
			text = "/" + text
		}
		u.setPathAndQuery(text, nil)
		return u, true
	}
	u.host = base.host
	u.joinPath(text, base)
	return u, true
}

// authority reads what follows the two slashes.
func (u *webURL) authority(text string) (*webURL, bool) {
	ends := "/?"
	if u.special() {
		ends = `/\?`
	}
	end := strings.IndexAny(text, ends)
	if end < 0 {
		end = len(text)
	}
	authority, rest := text[:end], text[end:]
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		if u.scheme == "file" || at == len(authority)-1 {
			return nil, false
		}
		name, password, _ := strings.Cut(authority[:at], ":")
		u.username, u.password = escape(name, userSet), escape(password, userSet)
		authority = authority[at+1:]
	}
	if !u.setHostAndPort(authority) {
		return nil, false
	}
	u.setPathAndQuery(rest, nil)
	return u, true
}

func (u *webURL) setHostAndPort(text string) bool {
	host, port := text, ""
	if u.scheme != "file" {
		if colon := strings.LastIndexByte(text, ':'); colon >= 0 && colon > strings.LastIndexByte(text, ']') {
			host, port = text[:colon], text[colon+1:]
			if host == "" {
				return false
			}
		}
	}
	if !u.setHost(host) {
		return false
	}
	return u.setPort(port)
}

func (u *webURL) setHost(text string) bool {
	if text == "" {
		if u.special() && u.scheme != "file" {
			return false
		}
		u.host = &text
		return true
	}
	host, ok := parseHost(text, u.special())
	if !ok {
		return false
	}
	if u.scheme == "file" && host == "localhost" {
		host = ""
	}
	u.host = &host
	return true
}

func (u *webURL) setPort(text string) bool {
	if text == "" {
		u.port = ""
		return true
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || text[0] == '+' {
		return false
	}
	u.port = strconv.FormatUint(n, 10)
	if u.port == specialPorts[u.scheme] {
		u.port = ""
	}
	return true
}

func (u *webURL) setQuery(text string, has bool) {
	u.query = nil
	if !has {
		return
	}
	set := querySet
	if u.special() {
		set = specialQuery
	}
	q := escape(text, set)
	u.query = &q
}

// setPathAndQuery reads a path with its query; the path's segments follow dir.
func (u *webURL) setPathAndQuery(text string, dir []string) {
	path, query, hasQuery := strings.Cut(text, "?")
	u.setQuery(query, hasQuery)
	u.setPath(path, dir)
}

func (u *webURL) setPath(path string, dir []string) {
	u.path = append([]string(nil), dir...)
	if u.special() {
		path = strings.ReplaceAll(path, `\`, "/")
	}
	if path == "" {
		if u.special() {
			u.path = append(u.path, "")
		}
		return
	}
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, segment := range segments {
		last := i == len(segments)-1
		switch strings.ReplaceAll(strings.ToLower(segment), "%2e", ".") {
		case "..":
			if len(u.path) > 0 {
				u.path = u.path[:len(u.path)-1]
			}
			if last {
				u.path = append(u.path, "")
			}
		case ".":
			if last {
				u.path = append(u.path, "")
			}
		default:
			u.path = append(u.path, escape(segment, pathSet))
		}
	}
}

func (u *webURL) pathname() string {
	if u.opaque != nil {
		return *u.opaque
	}
	if len(u.path) == 0 {
		return ""
	}
	return "/" + strings.Join(u.path, "/")
}

func (u *webURL) hostPort() string {
	if u.host == nil {
		return ""
	}
	if u.port == "" {
		return *u.host
	}
	return *u.host + ":" + u.port
}

func (u *webURL) href() string {
	var b strings.Builder
	b.WriteString(u.scheme + ":")
	if u.host != nil {
		b.WriteString("//")
		if u.username != "" || u.password != "" {
			b.WriteString(u.username)
			if u.password != "" {
				b.WriteString(":" + u.password)
			}
			b.WriteString("@")
		}
		b.WriteString(u.hostPort())
	} else if u.opaque == nil && len(u.path) > 1 && u.path[0] == "" {
		b.WriteString("/.") // else the path would read as a host
	}
	b.WriteString(u.pathname())
	if u.query != nil {
		b.WriteString("?" + *u.query)
	}
	if u.fragment != nil {
		b.WriteString("#" + *u.fragment)
	}
	return b.String()
}

func (u *webURL) origin() string {
	switch {
	case u.scheme == "file" || !u.special():
		return "null"
	default:
		return u.scheme + "://" + u.hostPort()
	}
}
