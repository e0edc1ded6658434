package ollama_test

import (
	"testing"

	"conclave/app/llm"
	"conclave/app/llm/llmtest"
	"conclave/app/llm/ollama"
)

func TestSuite(t *testing.T) {
	llmtest.Suite(t, llmtest.Wire{
		Kind:  ollama.Kind,
		Model: "qwen3:8b",
		Open: func(c llm.Connection, timeouts llm.Timeouts) llm.Provider {
			return ollama.New(c, ollama.Options{Timeouts: timeouts})
		},
		Base: "", AimockBase: "",
		Returned: []string{`"reasoning":"The question is about Oslo. I look it up."`},
	})
}
