package model

import (
	"strings"
	"testing"
)

func TestModelsWhoseIDsCannotBeShownAreLeftOut(t *testing.T) {
	var got []string
	for _, m := range Listed([]Info{
		{ID: "gpt-4o", Title: "GPT\x1b[31m 4o\nnew"},
		{ID: "esc\x1b[2J"},
		{ID: "a\nwork/gpt-5 trusted"},
		{ID: "x\u202egnp"},
		{ID: "qwen2.5:7b-instruct"},
		{ID: "org/模型-7B"},
		{ID: "tab\tx"},
		{ID: ""},
		{ID: strings.Repeat("x", 401)},
		{ID: "a\xff"},
		{ID: "wide\u3000blank"},
		{ID: "hangul\u3164filler"},
		{ID: "line\u2028sep"},
	}) {
		got = append(got, m.ID+"="+m.Title)
	}
	if s := strings.Join(got, " "); s != "gpt-4o=GPT 4o new qwen2.5:7b-instruct= org/模型-7B=" {
		t.Errorf("got %q", s)
	}
}
