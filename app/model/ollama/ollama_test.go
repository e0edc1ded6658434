package ollama_test

import (
	"testing"

	"conclave/app/model"
	"conclave/app/model/modeltest"
	"conclave/app/model/ollama"
)

func TestSuite(t *testing.T) {
	modeltest.Suite(t, modeltest.Wire{
		Kind:  ollama.Kind,
		Model: "qwen3:8b",
		Open: func(c model.Connection, timeouts model.Timeouts) model.Provider {
			return ollama.New(c, ollama.Options{Timeouts: timeouts})
		},
		Base: "", AimockBase: "",
		Returned: []string{`"reasoning":"The question is about Oslo. I look it up."`},
	})
}
