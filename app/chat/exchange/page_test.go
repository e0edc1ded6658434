package exchange

import (
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/chat/render"
)

func TestAPageShowsTheChatAndHoldsNothingThatActs(t *testing.T) {
	var b strings.Builder
	page := wholeOf(t, &asPage{w: &b, drawer: render.Drawer{}}, &b, "A <b> title", chat.Message{
		Role: chat.RoleUser, Parts: []chat.Part{
			chat.TextPart("**bold** <script>x</script> ![a picture](https://example.org/p.png)"),
		},
	})
	for _, want := range []string{
		"<!doctype html>", "<title>A &lt;b&gt; title</title>", "A &lt;b&gt; title</h3>",
		"<strong>bold</strong> &lt;script&gt;x&lt;/script&gt;", "</body></html>\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%s is not in the page:\n%s", want, page)
		}
	}
	for _, never := range []string{"<script", "<img", ` src="`} {
		if strings.Contains(page, never) {
			t.Errorf("%s is in the page:\n%s", never, page)
		}
	}
}

// wholeOf returns a chat as a document that writes into b.
func wholeOf(t *testing.T, to document, b *strings.Builder, title string,
	messages ...chat.Message,
) string {
	t.Helper()
	v := shownChat{
		Conversation: chat.Conversation{ID: "c1", Title: title}, command: func(command string) string { return command },
	}
	v.has = func(chat.Media) bool { return true }
	must(t, to.begin(v))
	for _, m := range messages {
		must(t, to.message(m))
	}
	must(t, to.end(nil))
	return b.String()
}

func TestAFenceThatIsNotClosedHoldsNoOtherMessage(t *testing.T) {
	var b strings.Builder
	page := wholeOf(t, &asPage{w: &b, drawer: render.Drawer{}}, &b, "t",
		chat.Message{Role: chat.RoleUser, Parts: []chat.Part{chat.TextPart("```\ncode")}},
		chat.Message{Role: chat.RoleAssistant, Model: "m", Parts: []chat.Part{chat.TextPart("*after*")}})
	if !strings.Contains(page, "<em>after</em>") {
		t.Error(page)
	}
}
