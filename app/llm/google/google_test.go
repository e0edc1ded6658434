package google_test

import (
	"testing"

	"conclave/app/llm"
	"conclave/app/llm/google"
	"conclave/app/llm/llmtest"
)

func TestSuite(t *testing.T) {
	llmtest.Suite(t, llmtest.Wire{
		Kind:  google.Kind,
		Model: "gemini-2.5-flash",
		Open: func(c llm.Connection, timeouts llm.Timeouts) llm.Provider {
			return google.New(c, google.Options{Timeouts: timeouts})
		},
		Base: "/v1beta", AimockBase: "/v1beta",
		Returned: []string{`"thoughtSignature":"CsoBAVSoXO4"`},
		Lacks:    map[string]string{"badargs": "its arguments are JSON already"},
	})
}
