package openai_test

import (
	"testing"

	"conclave/app/llm"
	"conclave/app/llm/llmtest"
	"conclave/app/llm/openai"
)

func TestSuite(t *testing.T) {
	llmtest.Suite(t, llmtest.Wire{
		Kind:  openai.Kind,
		Model: "gpt-4o",
		Open: func(c llm.Connection, timeouts llm.Timeouts) llm.Provider {
			return openai.New(c, openai.Options{Timeouts: timeouts})
		},
		Base: "/v1", AimockBase: "/v1",
		Returned: []string{`"reasoning_content":"The question is about Oslo. I look it up."`},
	})
}
