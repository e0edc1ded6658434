package render

import (
	"bytes"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/net/html"
)

// bareElements may leave this package. They repeat what the renderers write, so that neither they nor
// goldmark can let anything else through.
const bareElements = "p h3 h4 h5 h6 hr blockquote ul ol li dl dt dd em strong del code pre br b i u s sub sup kbd " +
	"mark small details summary figure figcaption div span table thead tbody tr th td"

// attributes are those that the elements may have. A pattern is for the whole value; an element
// that is only here must have an attribute.
var attributes = []struct{ names, elements, pattern string }{
	{"class", "p ul ol blockquote div span pre figure details th td sup", ""},
	{"start", "ol", `^\d{1,10}$`},
	{"scope", "th", `^col$`},
	{"tabindex", "div pre span", `^0$`},
	{"role", "div span", `^(region|button)$`},
	{"aria-label", "div", ""},
	{"data-lang data-lines", "figure", ""},
	{"data-source", "pre", ""},
	{"data-tex", "div span", ""},
	{"data-footnote", "div", ""},
	{"data-footnote-ref", "sup", ""},
	{"data-src data-host data-alt", "span", ""},
	{"href", "a", `(?i)^(https?://|mailto:)`},
	{"rel", "a", `^noopener noreferrer nofollow$`},
	{"target", "a", `^_blank$`},
	{"title data-host data-mismatch", "a", ""},
	{"src", "img", `^/media/[A-Za-z0-9._-]+$`},
	{"alt", "img", ""},
	{"loading", "img", `^lazy$`},
	{"type", "input", `^checkbox$`},
	{"disabled checked", "input", `^$`},
}

// hiding elements are removed with what is in them, which nobody was to read.
var hiding = []string{
	"frame", "frameset", "iframe", "noembed", "noframes", "noscript", "nostyle", "object", "title",
}

// element describes one that may leave this package.
type element struct {
	bare       bool                      // it may be without attributes
	attributes map[string]*regexp.Regexp // by name; nil accepts each value
}

// policy is made when it is first needed.
var policy = sync.OnceValue(func() map[string]element {
	all := map[string]element{}
	for name := range strings.FieldsSeq(bareElements) {
		all[name] = element{true, map[string]*regexp.Regexp{}}
	}
	for _, a := range attributes {
		var pattern *regexp.Regexp
		if a.pattern != "" {
			pattern = regexp.MustCompile(a.pattern)
		}
		for name := range strings.FieldsSeq(a.elements) {
			if _, known := all[name]; !known {
				all[name] = element{false, map[string]*regexp.Regexp{}}
			}
			for attribute := range strings.FieldsSeq(a.names) {
				all[name].attributes[attribute] = pattern
			}
		}
	}
	return all
})

// sanitize returns what of page passes the policy, as the tokenizer of browsers' rules reads it.
func sanitize(page *bytes.Buffer) string {
	var out strings.Builder
	out.Grow(page.Len())
	tokens := html.NewTokenizer(page)
	hidden, code := 0, false // hiding elements that are open; the text to come is a script or a style
	var unwritten int        // open links whose beginning was removed for want of attributes
	for {
		kind := tokens.Next()
		if kind == html.ErrorToken {
			return out.String() // its end: a buffer has no other error
		}
		token := tokens.Token()
		of, write := policy()[token.Data]
		switch kind {
		case html.TextToken:
			write = !code
		case html.StartTagToken, html.SelfClosingTagToken:
			for i, a := range token.Attr {
				token.Attr[i].Val = rewritten(a)
			}
			token.Attr = slices.DeleteFunc(token.Attr, func(a html.Attribute) bool { return !of.passes(a) })
			removed := write && !of.bare && len(token.Attr) == 0
			write = write && !removed
			switch {
			case kind == html.SelfClosingTagToken:
			case slices.Contains(hiding, token.Data):
				hidden++
			case removed && token.Data == "a":
				unwritten++
			}
		case html.EndTagToken:
			switch {
			case token.Data == "img" || token.Data == "input": // they have none
				write = false
			case token.Data == "a" && unwritten > 0:
				unwritten--
				write = false
			case hidden > 0 && slices.Contains(hiding, token.Data):
				hidden--
			}
		default: // comments and document types
			write = false
		}
		code = kind == html.StartTagToken && (token.Data == "script" || token.Data == "style")
		if write && hidden == 0 {
			out.WriteString(token.String())
		}
	}
}

// passes reports whether an attribute may stay, with the value that is written.
func (e element) passes(a html.Attribute) bool {
	pattern, known := e.attributes[a.Key]
	return known && (pattern == nil || pattern.MatchString(a.Val))
}

// rewritten returns the value of an attribute; an address as it is after it was parsed, or "", which no
// pattern of addresses accepts, if that is none.
func rewritten(a html.Attribute) string {
	if a.Key != "href" && a.Key != "src" {
		return a.Val
	}
	u, err := url.Parse(a.Val)
	if err != nil || strings.Contains(a.Val, " ") {
		return ""
	}
	switch u.Scheme {
	case "", "http", "https", "mailto":
		return u.String()
	}
	return ""
}
