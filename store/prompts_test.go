package store_test

import (
	"strings"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/chat/prompt"
	"conclave/store/storetest"
)

func TestPromptsAreStoredAllOrNoneAndComeBack(t *testing.T) {
	s := storetest.Open(t)
	ctx := t.Context()
	must(t, s.Prompts.PutPrompts(ctx, prompt.Prompt{Title: "Letter", Text: "To {{name}}"}))
	kind(t, s.Prompts.PutPrompts(ctx, prompt.Prompt{Title: "Fine", Text: "x"}, prompt.Prompt{Title: " ", Text: "x"}),
		fault.Invalid)
	all, err := s.Prompts.Prompts(ctx)
	must(t, err)
	if len(all) != 1 || all[0].ID == "" || all[0].Updated.IsZero() {
		t.Fatalf("stored %+v", all)
	}
	gone, err := s.Prompts.DeletePrompt(ctx, all[0].ID)
	must(t, err)
	_, err = s.Prompts.DeletePrompt(ctx, gone.ID)
	kind(t, err, fault.NotFound)
	must(t, s.Prompts.PutPrompts(ctx, gone))
	if all, err = s.Prompts.Prompts(ctx); err != nil || len(all) != 1 || !strings.Contains(all[0].Text, "{{name}}") {
		t.Errorf("after undoing: %+v, %v", all, err)
	}
}
