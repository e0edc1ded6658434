package render

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/app/test/testkit"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// pages holds HTML that goldmark and our renderers never write, with what is left of it.
var pages = map[string]string{
	`<p class="a" onclick="x()" style="x">a &lt;b&gt;</p>`:    `<p class="a">a &lt;b&gt;</p>`,
	`<script>alert(1)</script><P>b`:                           `<p>b`,
	`<script/>alert(1)</script>b`:                             `alert(1)b`,
	`<style>p{}</style>c`:                                     `c`,
	`<iframe><p>a</p></iframe>d`:                              `d`,
	`<object><title>a</title><p>b</object>e`:                  `e`,
	`</iframe></script>f`:                                     `f`,
	`<svg><a href="javascript:x">g</a></svg>`:                 `g`,
	`<svg><style><img src=x onerror=x></style><p>a`:           `<p>a`,
	`<math><mtext><table><mglyph><style><!--</style><img>`:    `<table>`,
	`<svg></p><style><a title="</style><img src onerror=x>">`: `</p>&#34;&gt;`,
	`<noscript><p title="</noscript><img src onerror=x>">`:    `&#34;&gt;`,
	`<xmp></p><b></xmp><listing>&lt;b>`:                       `&lt;/p&gt;&lt;b&gt;&lt;b&gt;`,
	`<plaintext><b></plaintext>`:                              `&lt;b&gt;&lt;/plaintext&gt;`,
	`<template><p>a</template><select><p>b</select>`:          `<p>a<p>b`,
	`<form><form></form><input name=x><button>a`:              `a`,
	`<p><![CDATA[<b>]]><?x <i>?>a`:                            `<p>]]&gt;?&gt;a`,
	`<a href="java&#115;cript:x">h</a>`:                       `h`,
	`<a href="https://x.y" href="javascript:x">h</a>`:         `<a href="https://x.y">h</a>`,
	`<a href=" https://x.y/ä b">i</a>`:                        `i`,
	`<a href="HTTPS://x.y/ä?b=1&amp;c">j</a>`:                 `<a href="https://x.y/%C3%A4?b=1&amp;c">j</a>`,
	`<a href="https://x.y" rel="opener">k</a>`:                `<a href="https://x.y">k</a>`,
	`<a href="//evil">l</a><a href="/\evil">l</a>`:            `ll`,
	`<a href="https://">l</a><a href="http://?x">l</a>`:       `ll`,
	`<a href="https://x\@y">l</a><a href="https:&#9;//x">l`:   `ll`,
	`<a>m<a href="mailto:a@b.c">n</a></a>`:                    `m<a href="mailto:a@b.c">n</a>`,
	`<img src="https://x.y/z.png"><img src="/media/z.png">`:   `<img src="/media/z.png">`,
	`<img src="/media/../x">o<img src="/media/x&#10;">`:       `o`,
	`<input type="text"><input type="checkbox" checked>`:      `<input type="checkbox" checked="">`,
	`<!-- p --><!doctype q><textarea></p><b>`:                 `&lt;/p&gt;&lt;b&gt;`,
	`<!--><img src=x onerror=x>--><!-- --!><p>q`:              `--&gt;<p>q`,
	`<p title='"><script>'>r`:                                 `<p>r`,
	`<p class=">"/class='"'><p/class=a<b>r`:                   `<p class="&gt;"><p class="a&lt;b">r`,
	"<p class=\"`'&amp;quot;\r\n\">":                          "<p class=\"`&#39;&amp;quot;\n\">",
	`<div data-tex='"&lt;' role="alert">s`:                    `<div data-tex="&#34;&lt;">s`,
	"<p\x00x>t":                                               "t",
	"<p class=\"a\x00\" o\x00nclick=x>\x00":                   "<p class=\"a\uFFFD\">\x00",
	`<b`:                                                      ``,
	`<p class="a`:                                             ``,
	`</b a=">"></ b><//p>c`:                                   `</b>c`,
}

// What goldmark and our renderers write passes this last, so it is tried with what they never write.
func TestOnlyWhatThePolicyNamesLeaves(t *testing.T) {
	for page, want := range pages {
		got := sanitize(bytes.NewBufferString(page))
		if got != want {
			t.Errorf("%q: got %q, want %q", page, got, want)
		}
		holds(t, page, got)
	}
}

// holds checks that a browser finds nothing in HTML that the policy does not name, and that the policy
// takes nothing more out of it.
func holds(t *testing.T, page, left string) {
	t.Helper()
	if again := sanitize(bytes.NewBufferString(left)); again != left {
		t.Errorf("of %.300q %.300q is left, and then %.300q", page, left, again)
	}
	in := &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div}
	nodes, err := html.ParseFragment(strings.NewReader(left), in)
	if err != nil {
		return // it is deeper than this parser goes
	}
	implied := []string{"tbody", "colgroup"} // elements that a browser adds have no attributes
	for len(nodes) > 0 {
		n := nodes[len(nodes)-1]
		nodes = slices.AppendSeq(nodes[:len(nodes)-1], n.ChildNodes())
		if n.Type == html.TextNode {
			continue
		}
		of, known := policy()[n.Data]
		if n.Type != html.ElementNode || n.Namespace != "" || !known && !slices.Contains(implied, n.Data) {
			t.Errorf("of %.300q %.300q is left, where a browser finds %q", page, left, n.Data)
		}
		for _, a := range n.Attr {
			if a.Namespace != "" || !of.passes(a) {
				t.Errorf("of %.300q %.300q is left, where a browser finds %s=%q", page, left, a.Key, a.Val)
			}
		}
	}
}

func TestLargePagesTakeTimeByTheirLength(t *testing.T) {
	const size = 1 << 19
	for _, part := range []string{
		"<", "<p", "<p ", "<p>", "</p>", "<a>", "</a>", "<a href=https://x.y>", "<!--", "<![CDATA[", "&", "&lt;", "<title>",
		"<object>", "<script>", "<!-- <script>", "</script", "<p class=", `<p class="`, "x=y ", "\x00",
	} {
		parts := strings.Repeat(part, size/len(part))
		for _, page := range []string{parts, "<p " + parts + ">"} {
			start := testkit.ProcessorTime()
			sanitize(bytes.NewBufferString(page))
			if took := testkit.ProcessorTime() - start; took > 20*time.Second { // some milliseconds
				t.Errorf("%.20q takes %s", page, took)
			}
		}
	}
}

func FuzzOnlyWhatThePolicyNamesLeaves(f *testing.F) {
	for page := range pages {
		f.Add(page)
	}
	f.Fuzz(func(t *testing.T, page string) { holds(t, page, sanitize(bytes.NewBufferString(page))) })
}
