package render

import (
	"bytes"
	"regexp"
	"sync"

	"github.com/microcosm-cc/bluemonday"
)

// policy is the list of what may leave this package. It repeats in one place
// what the renderers write, so that neither they nor goldmark can let anything
// else through. It is made when it is first needed.
var policy = sync.OnceValue(func() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements(
		"p", "h3", "h4", "h5", "h6", "hr", "blockquote", "ul", "ol", "li", "dl", "dt", "dd",
		"em", "strong", "del", "code", "pre", "br", "b", "i", "u", "s", "sub", "sup", "kbd", "mark", "small",
		"details", "summary", "figure", "figcaption", "div", "span",
		"table", "thead", "tbody", "tr", "th", "td",
	)
	p.AllowAttrs("class").OnElements("p", "ul", "ol", "blockquote", "div", "span", "pre", "figure", "details", "th", "td",
		"sup")

	p.AllowAttrs("start").Matching(regexp.MustCompile(`^\d{1,10}$`)).OnElements("ol")
	p.AllowAttrs("scope").Matching(regexp.MustCompile(`^col$`)).OnElements("th")
	p.AllowAttrs("tabindex").Matching(regexp.MustCompile(`^0$`)).OnElements("div", "pre", "span")
	p.AllowAttrs("role").Matching(regexp.MustCompile(`^(region|button)$`)).OnElements("div", "span")
	p.AllowAttrs("aria-label").OnElements("div")

	p.AllowAttrs("data-lang", "data-lines").OnElements("figure")
	p.AllowAttrs("data-source").OnElements("pre")
	p.AllowAttrs("data-tex").OnElements("div", "span")
	p.AllowAttrs("data-footnote").OnElements("div")
	p.AllowAttrs("data-footnote-ref").OnElements("sup")
	p.AllowAttrs("data-src", "data-host", "data-alt").OnElements("span")

	p.RequireParseableURLs(true)
	p.AllowURLSchemes("http", "https", "mailto")
	p.AllowRelativeURLs(true) // for /media/ alone: see the patterns
	p.AllowAttrs("href").Matching(regexp.MustCompile(`(?i)^(https?://|mailto:)`)).OnElements("a")
	p.AllowAttrs("rel").Matching(regexp.MustCompile(`^noopener noreferrer nofollow$`)).OnElements("a")
	p.AllowAttrs("target").Matching(regexp.MustCompile(`^_blank$`)).OnElements("a")
	p.AllowAttrs("title", "data-host", "data-mismatch").OnElements("a")
	p.AllowAttrs("src").Matching(regexp.MustCompile(`^/media/[A-Za-z0-9._-]+$`)).OnElements("img")
	p.AllowAttrs("alt").OnElements("img")
	p.AllowAttrs("loading").Matching(regexp.MustCompile(`^lazy$`)).OnElements("img")
	p.AllowAttrs("type").Matching(regexp.MustCompile(`^checkbox$`)).OnElements("input")
	p.AllowAttrs("disabled", "checked").Matching(regexp.MustCompile(`^$`)).OnElements("input")
	return p
})

// sanitize returns what of html passes the policy.
func sanitize(html *bytes.Buffer) string {
	return policy().SanitizeReader(html).String()
}
