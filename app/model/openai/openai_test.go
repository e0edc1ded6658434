package openai_test

import (
	"testing"

	"conclave/app/model"
	"conclave/app/model/modeltest"
	"conclave/app/model/openai"
)

func TestSuite(t *testing.T) {
	modeltest.Suite(t, modeltest.Wire{
		Kind:  openai.Kind,
		Model: "gpt-4o",
		Open: func(c model.Connection, timeouts model.Timeouts) model.Provider {
			return openai.New(c, openai.Options{Timeouts: timeouts})
		},
		Base: "/v1", AimockBase: "/v1",
		Returned: []string{`"reasoning_content":"The question is about Oslo. I look it up."`},
	})
}
