package chat_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"conclave/app/base/limit"
	"conclave/app/chat"
)

func TestAnOriginsNameIsOneLineOfWhatCanBeSeen(t *testing.T) {
	for given, want := range map[string]string{
		"a\nb\tc":                           "a b c",
		"report\u202egpj.exe":               "reportgpj.exe",
		"in\u200bvis\U000e0041ible\x1b[31m": "invisible[31m",
		strings.Repeat("x", 100):            strings.Repeat("x", 79) + "…",
	} {
		if got := chat.NewOrigin(chat.FromAttachment, given).Name; got != want {
			t.Errorf("%q is %q, not %q", given, got, want)
		}
	}
}

func TestOriginsBeyondTheBoundAreMorePlaces(t *testing.T) {
	var all []chat.Origin
	for i := range limit.ChatOrigins + 1 {
		for range 2 { // the second time is nothing new
			all = chat.AddOrigins(all, chat.NewOrigin(chat.FromWeb, fmt.Sprint("h", i, ".example")))
		}
	}
	if n := len(all); n != limit.ChatOrigins+1 || all[n-1].Kind != chat.FromMore {
		t.Errorf("there are %d, the last %v", n, all[n-1])
	}
	if got := all[len(all)-1].String(); got != "text from more places" {
		t.Errorf("it reads %q", got)
	}
}

func TestAddingOriginsLeavesTheListAsItWas(t *testing.T) {
	web := func(name string) chat.Origin { return chat.NewOrigin(chat.FromWeb, name) }
	base := make([]chat.Origin, 1, 8)
	base[0] = web("a")
	one, two := chat.AddOrigins(base, web("b")), chat.AddOrigins(base, web("c"))
	if one[1] != web("b") || two[1] != web("c") || len(base) != 1 {
		t.Errorf("they are %v and %v of %v", one, two, base)
	}
}

func TestAPathBringsWhatItsMessagesBroughtHiddenOrNot(t *testing.T) {
	page, file := chat.NewOrigin(chat.FromWeb, "example.org"), chat.NewOrigin(chat.FromAttachment, "report.pdf")
	set := chat.NewOrigin(chat.FromPlugin, "Notes")
	path := []chat.Message{
		{Role: chat.RoleUser, Parts: []chat.Part{
			chat.TextPart("look"), {Kind: chat.PartMedia, Media: &chat.Media{Name: "report.pdf"}},
		}},
		{Role: chat.RoleAssistant, Parts: []chat.Part{{Kind: chat.PartMedia, Media: &chat.Media{Name: "own.png"}}}},
		{Role: chat.RoleTool, Origins: []chat.Origin{page}, Hidden: true},
		{Role: chat.RoleTool, Origins: []chat.Origin{page}},
	}
	got := chat.OriginsOf(chat.Conversation{Origins: []chat.Origin{set}}, path)
	if want := []chat.Origin{set, file, page}; !slices.Equal(got, want) {
		t.Errorf("it brings %v, not %v", got, want)
	}
}
