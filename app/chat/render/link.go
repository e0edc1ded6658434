package render

import (
	"net/url"
	"strings"

	"conclave/app/base/hidden"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"
	"golang.org/x/net/idna"
)

// maxURL is the longest address that becomes a link, in bytes; browsers accept
// 2,000 without trouble, and no one reads more.
const maxURL = 4 << 10

// target is where a link or image leads.
type target struct {
	url  string
	host string // as the net knows it: small letters, punycode; "" for mailto
	user string // what stands before an @, which may be made to look like a host
}

// targetOf reads an address from a text. Only http, https and mailto with
// something to reach are targets; ok is false for everything else, which is
// then shown as words.
func targetOf(destination []byte) (t target, ok bool) {
	if len(destination) > maxURL {
		return target{}, false
	}
	// The same steps that goldmark takes: escapes and entities first, so that
	// "java&#115;cript:" is judged as what it becomes.
	raw := string(util.URLEscape(destination, true))
	u, err := url.Parse(raw)
	if err != nil {
		return target{}, false
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		host := strings.ToLower(u.Hostname())
		if host == "" {
			return target{}, false
		}
		if ascii, err := idna.Lookup.ToASCII(host); err == nil {
			host = ascii
		}
		t = target{url: u.String(), host: host}
		if u.User != nil {
			t.user = u.User.Username()
		}
		return t, true
	case "mailto":
		return target{url: u.String()}, u.Opaque != ""
	}
	return target{}, false
}

// mismatch returns the host that the words of a link name although the link
// leads to another, or "".
func (t target) mismatch(words string) string {
	if t.user != "" {
		return strings.ToLower(t.user)
	}
	named := namedHost(words)
	if named == "" || t.host == "" {
		return ""
	}
	shown, real := strings.TrimPrefix(named, "www."), strings.TrimPrefix(t.host, "www.")
	if shown == real || strings.HasSuffix(real, "."+shown) {
		return ""
	}
	return named
}

// namedHost returns the host that words look like the address of, or "".
func namedHost(words string) string {
	words, _ = hidden.Strip(words)
	words = strings.ToLower(strings.TrimSpace(words))
	if words == "" || len(words) > 300 || strings.ContainsAny(words, " \n\t") {
		return ""
	}
	address := words
	if _, after, found := strings.Cut(words, "://"); found {
		address = after
	}
	host := address
	if i := strings.IndexAny(host, "/?#"); i >= 0 {
		host = host[:i]
	}
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		host = host[i+1:]
	}
	host, _, _ = strings.Cut(host, ":")
	ascii, err := idna.Lookup.ToASCII(host)
	if err != nil {
		return ""
	}
	dot := strings.LastIndexByte(ascii, '.')
	if dot <= 0 || len(ascii)-dot < 3 || strings.Contains(ascii, "..") {
		return ""
	}
	last := ascii[dot+1:]
	if last[0] < 'a' || last[0] > 'z' {
		return ""
	}
	if host == words && strings.Contains(fileEndings, " "+last+" ") {
		return "" // README.md is a file before it is a host in Moldova
	}
	return ascii
}

// fileEndings are the ends of file names that are also ends of hosts, or look
// like one.
const fileEndings = " c cc cfg conf cpp cs css csv env go h hpp htm html ini java jpg js json jsx kt lock log lua " +
	"md mjs mod pdf php pl png ps py rb rs sh sql sum svg swift tf toml ts tsx txt vue xml yaml yml zig zip "

// mediaID returns the name of a picture that is kept next to the conversation,
// written as conclave-media://ID or /media/ID.
func mediaID(destination []byte) (id string, ok bool) {
	s := string(destination)
	for _, prefix := range []string{"conclave-media://", "/media/"} {
		if id, found := strings.CutPrefix(s, prefix); found {
			if id == "" || len(id) > 128 || strings.Contains(id, "..") ||
				strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") != "" {
				return "", false
			}
			return id, true
		}
	}
	return "", false
}

// wordsOf returns the text that a node shows, up to some 300 bytes.
func wordsOf(n ast.Node, source []byte) string {
	var b strings.Builder
	// The walk's error is that of the function below, which returns none.
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Segment.Value(source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		case *ast.AutoLink:
			b.Write(n.Label(source))
		}
		if b.Len() > 300 {
			return ast.WalkStop, nil
		}
		return ast.WalkContinue, nil
	})
	return string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations([]byte(b.String())))))
}
