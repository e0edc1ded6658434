package render

import (
	"bytes"
	"testing"
)

// What goldmark and our renderers write passes this last, so it is tried with what they never write.
func TestOnlyWhatThePolicyNamesLeaves(t *testing.T) {
	for page, want := range map[string]string{
		`<p class="a" onclick="x()" style="x">a &lt;b&gt;</p>`:  `<p class="a">a &lt;b&gt;</p>`,
		`<script>alert(1)</script><P>b`:                         `<p>b`,
		`<style>p{}</style>c`:                                   `c`,
		`<iframe><p>a</p></iframe>d`:                            `d`,
		`<object><title>a</title><p>b</object>e`:                `e`,
		`</iframe></script>f`:                                   `f`,
		`<svg><a href="javascript:x">g</a></svg>`:               `g`,
		`<a href="java&#115;cript:x">h</a>`:                     `h`,
		`<a href=" https://x.y/ä b">i</a>`:                      `i`,
		`<a href="HTTPS://x.y/ä?b=1&amp;c">j</a>`:               `<a href="https://x.y/%C3%A4?b=1&amp;c">j</a>`,
		`<a href="https://x.y" rel="opener">k</a>`:              `<a href="https://x.y">k</a>`,
		`<a href="//evil">l</a>`:                                `l`,
		`<a>m<a href="mailto:a@b.c">n</a></a>`:                  `m<a href="mailto:a@b.c">n</a>`,
		`<img src="https://x.y/z.png"><img src="/media/z.png">`: `<img src="/media/z.png">`,
		`<img src="/media/../x">o`:                              `o`,
		`<input type="text"><input type="checkbox" checked>`:    `<input type="checkbox" checked="">`,
		`<!-- p --><!doctype q><textarea></p><b>`:               `&lt;/p&gt;&lt;b&gt;`,
		`<p title='"><script>'>r`:                               `<p>r`,
		`<div data-tex='"&lt;' role="alert">s`:                  `<div data-tex="&#34;&lt;">s`,
		"<p\x00x>t":                                             "t",
		`<b`:                                                    ``,
	} {
		if got := sanitize(bytes.NewBufferString(page)); got != want {
			t.Errorf("%q: got %q, want %q", page, got, want)
		}
	}
}
