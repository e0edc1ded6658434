package window

import (
	"log/slog"
	"strings"
	"testing"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
)

func TestALinkFillsInAMessageOrAPluginsAddress(t *testing.T) {
	for address, want := range map[string]LinkView{
		"conclave://ask?text=Hello+there%0D%0ALyon": {Kind: LinkAsk, Text: "Hello there\nLyon"},
		"CONCLAVE://ask/?text=a&model=openai%2Fgpt": {Kind: LinkAsk, Text: "a", Model: "openai/gpt"},
		"conclave://ask?text=a%E2%80%AEb%00c%FF":    {Kind: LinkAsk, Text: "abc", Hidden: 2},
		"conclave://plugin?url=https://example.org/name.git": {
			Kind: LinkPlugin, Address: "https://example.org/name.git",
		},
	} {
		if link, err := readLink(address); err != nil || link != want {
			t.Errorf("%s is %+v, %v; want %+v", address, link, err, want)
		}
	}
}

func TestEveryOtherLinkIsRefusedWithASentence(t *testing.T) {
	for address, why := range map[string]string{
		"conclave://":                                  "not one that Conclave knows",
		"conclave:ask?text=a":                          "not one that Conclave knows",
		"conclave://run?text=a":                        "not one that Conclave knows",
		"conclave://ask/send?text=a":                   "not one that Conclave knows",
		"conclave://me@ask?text=a":                     "not one that Conclave knows",
		"conclave://ask?text=a#b":                      "not one that Conclave knows",
		"https://ask?text=a":                           "not one that Conclave knows",
		"conclave://ask?text=%zz":                      "is damaged",
		"conclave://ask":                               "has no text",
		"conclave://ask?text=%E2%80%8B":                "has no text",
		"conclave://ask?text=a&send=true":              "more than Conclave does",
		"conclave://ask?text=a&text=b":                 "more than Conclave does",
		"conclave://ask?text=a&model=%E2%80%AEx":       "cannot be one",
		"conclave://plugin":                            "the https address of a plugin",
		"conclave://plugin?url=http://a.org/x":         "the https address of a plugin",
		"conclave://plugin?url=/home/ada/x":            "the https address of a plugin",
		"conclave://plugin?url=https://u:p@a.org":      "the https address of a plugin",
		"conclave://plugin?url=https://gіthub.com/a/b": "the https address of a plugin",
		"conclave://plugin?url=https://a.org/" + strings.Repeat("x", maxLinkAddress): "the https address of a plugin",
		"conclave://plugin?url=https://a.org/x&install=now":                          "more than Conclave does",
		"conclave://ask?text=" + strings.Repeat("x", maxLinkText+1):                  "more than 8000 characters",
		"conclave://ask?text=" + strings.Repeat("x", maxLink):                        "too long",
	} {
		link, err := readLink(address)
		if f := fault.Of(err); err == nil || f.Kind != fault.Invalid || !strings.Contains(f.Message, why) || f.Hint == "" {
			t.Errorf("%.60s is %+v, %v; want an error with “%s”", address, link, err, why)
		}
	}
}

func TestThePageTakesEachLinkOnce(t *testing.T) {
	b := bus.New()
	w := New(Core{Bus: b}, slog.New(slog.DiscardHandler))
	w.OpenLink("conclave://ask?text=hello")
	w.OpenLink("conclave://format-disk")
	links, err := w.Window.Links()
	if err != nil || len(links) != 2 || links[0].Text != "hello" || links[1].Refused == nil {
		t.Errorf("links are %+v, %v", links, err)
	}
	for range 2 * maxLinks {
		w.OpenLink("conclave://ask?text=again")
	}
	if links, _ := w.Window.Links(); len(links) != maxLinks {
		t.Errorf("%d links waited", len(links))
	}
	if links, err := w.Window.Links(); err != nil || links == nil || len(links) != 0 {
		t.Errorf("links that were taken are %+v, %v", links, err)
	}
	if b.Revision(bus.Links, "") == 0 {
		t.Error("the page gets no notice of links")
	}
}
