package anthropic_test

import (
	"testing"

	"conclave/app/model"
	"conclave/app/model/anthropic"
	"conclave/app/model/modeltest"
)

func TestSuite(t *testing.T) {
	modeltest.Suite(t, modeltest.Wire{
		Kind:  anthropic.Kind,
		Model: "claude-sonnet-4-5",
		Open: func(c model.Connection, timeouts model.Timeouts) model.Provider {
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
