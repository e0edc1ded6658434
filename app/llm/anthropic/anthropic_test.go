package anthropic_test

import (
	"testing"

	"conclave/app/llm"
	"conclave/app/llm/anthropic"
	"conclave/app/llm/llmtest"
)

func TestSuite(t *testing.T) {
	llmtest.Suite(t, llmtest.Wire{
		Kind:  anthropic.Kind,
		Model: "claude-sonnet-4-5",
		Open: func(c llm.Connection, timeouts llm.Timeouts) llm.Provider {
			return anthropic.New(c, anthropic.Options{Timeouts: timeouts})
		},
		Base: "", AimockBase: "",
		Returned: []string{
			`{"signature":"EqQBCgIYAhIk","thinking":"The question is about Oslo. ","type":"thinking"}`,
			`{"data":"EmwKAhgBEgy3va3pzix","type":"redacted_thinking"}`,
			`{"signature":"ErUBsecond","thinking":"I look it up.","type":"thinking"}`,
		},
	})
}
