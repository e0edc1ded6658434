package engine

import "strings"

// urlParts holds the parts that the prelude's URL class shows.
type urlParts struct {
	Href     string `json:"href"`
	Protocol string `json:"protocol"`
	Username string `json:"username"`
	Password string `json:"password"`
	Host     string `json:"host"`
	Hostname string `json:"hostname"`
	Port     string `json:"port"`
	Pathname string `json:"pathname"`
	Search   string `json:"search"`
	Hash     string `json:"hash"`
	Origin   string `json:"origin"`
}

func (u *webURL) parts() urlParts {
	p := urlParts{
		Href: u.href(), Protocol: u.scheme + ":", Username: u.username, Password: u.password, Host: u.hostPort(),
		Port: u.port, Pathname: u.pathname(), Origin: u.origin(),
	}
	if u.host != nil {
		p.Hostname = *u.host
	}
	if u.query != nil && *u.query != "" {
		p.Search = "?" + *u.query
	}
	if u.fragment != nil && *u.fragment != "" {
		p.Hash = "#" + *u.fragment
	}
	return p
}

// set changes one part, as assigning to a URL does. It reports whether anything
// could be changed.
func (u *webURL) set(part, value string) bool {
	fixed := u.host == nil || *u.host == "" || u.scheme == "file" // no credentials, no port
	switch part {
	case "href":
		fresh, ok := parseURL(value, nil)
		if ok {
			*u = *fresh
		}
		return ok
	case "protocol":
		scheme, _, ok := cutScheme(value + ":")
		_, isSpecial := specialPorts[scheme]
		if !ok || isSpecial != u.special() || scheme == "file" != (u.scheme == "file") {
			return false
		}
		u.scheme = scheme
		return u.setPort(u.port)
	case "username", "password":
		if fixed {
			return false
		}
		if part == "username" {
			u.username = escape(value, userSet)
		} else {
			u.password = escape(value, userSet)
		}
		return true
	case "host", "hostname":
		if u.opaque != nil {
			return false
		}
		if end := strings.IndexAny(value, `/\?#`); end >= 0 {
			value = value[:end]
		}
		if part == "hostname" {
			return !strings.Contains(strings.TrimSuffix(value, "]"), ":") && u.setHost(value) ||
				strings.HasPrefix(value, "[") && u.setHost(value)
		}
		port := u.port
		if !u.setHostAndPort(value) {
			return false
		}
		if u.port == "" && !strings.Contains(value, ":") {
			u.port = port
		}
		return true
	case "port":
		if fixed {
			return false
		}
		digits := value
		if end := strings.IndexFunc(value, func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
			digits = value[:end]
		}
		return (digits != "" || value == "") && u.setPort(digits)
	case "pathname":
		if u.opaque != nil {
			return false
		}
		value = strings.NewReplacer("?", "%3F", "#", "%23").Replace(value)
		u.setPath(value, nil)
		return true
	case "search":
		value = strings.TrimPrefix(value, "?")
		u.setQuery(strings.ReplaceAll(value, "#", "%23"), value != "")
		return true
	case "params": // already written by the query's own rules
		u.query = nil
		if value != "" {
			u.query = &value
		}
		return true
	case "hash":
		value = strings.TrimPrefix(value, "#")
		u.fragment = nil
		if value != "" {
			f := escape(value, fragmentSet)
			u.fragment = &f
		}
		return true
	}
	return false
}

// parseQuery reads application/x-www-form-urlencoded text.
func parseQuery(text string) [][2]string {
	pairs := [][2]string{}
	for part := range strings.SplitSeq(text, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		read := func(s string) string {
			return strings.ToValidUTF8(unescape(strings.ReplaceAll(s, "+", " ")), "\uFFFD")
		}
		pairs = append(pairs, [2]string{read(name), read(value)})
	}
	return pairs
}

// writeQuery writes application/x-www-form-urlencoded text.
func writeQuery(pairs [][2]string) string {
	var b strings.Builder
	write := func(text string) {
		for i := range len(text) {
			c := text[i]
			switch {
			case c == ' ':
				b.WriteByte('+')
			case c >= '0' && c <= '9', c|0x20 >= 'a' && c|0x20 <= 'z', strings.IndexByte("*-._", c) >= 0:
				b.WriteByte(c)
			default:
				b.WriteByte('%')
				b.WriteByte(hexDigits[c>>4])
				b.WriteByte(hexDigits[c&15])
			}
		}
	}
	for i, pair := range pairs {
		if i > 0 {
			b.WriteByte('&')
		}
		write(pair[0])
		b.WriteByte('=')
		write(pair[1])
	}
	return b.String()
}
