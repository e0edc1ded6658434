package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/fault"
)

func TestAPageWithoutARendererHoldsTheTextAsItWasWritten(t *testing.T) {
	v := exported{
		Conversation: chat.Conversation{Title: "A <b> title"},
		Messages:     []chat.Message{{Role: chat.RoleUser, Parts: []chat.Part{{Kind: chat.PartText, Text: "**bold** <script>x</script>"}}}},
	}
	var problems bytes.Buffer
	c := &command{Session: &Session{Err: &problems}}
	gone := &App{Render: func(context.Context, string, string) (string, error) {
		return "", fault.New(fault.NotFound, "test", "The renderer is gone.", "Look for it.")
	}}
	page := c.page(t.Context(), gone, v)
	for _, want := range []string{"<!doctype html>", "<title>A &lt;b&gt; title</title>", "<pre># A &lt;b&gt; title", "**bold** &lt;script&gt;x&lt;/script&gt;", "</body></html>\n"} {
		if !strings.Contains(page, want) {
			t.Errorf("%s is not in the page:\n%s", want, page)
		}
	}
	if want := "The texts are in the page as they were written. The renderer is gone. Look for it.\n"; problems.String() != want {
		t.Errorf("said %q, want %q", problems.String(), want)
	}
	there := &App{Render: func(_ context.Context, title, markdown string) (string, error) {
		return title + "|" + markdown[:4], nil
	}}
	if got := c.page(t.Context(), there, v); got != "A <b> title|# A " {
		t.Errorf("the renderer's page is %q", got)
	}
}
