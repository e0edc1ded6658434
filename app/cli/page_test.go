package cli

import (
	"strings"
	"testing"

	"conclave/app/chat"
)

func TestAPageShowsTheChatAndHoldsNothingThatActs(t *testing.T) {
	page := asPage(exported{
		Conversation: chat.Conversation{Title: "A <b> title"},
		Messages: []chat.Message{{Role: chat.RoleUser, Parts: []chat.Part{{
			Kind: chat.PartText, Text: "**bold** <script>x</script> ![a picture](https://example.org/p.png)",
		}}}},
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
