package google_test

import (
	"testing"

	"conclave/app/model"
	"conclave/app/model/google"
	"conclave/app/model/modeltest"
)

func TestSuite(t *testing.T) {
	modeltest.Suite(t, modeltest.Wire{
		Kind:  google.Kind,
		Model: "gemini-2.5-flash",
		Open: func(c model.Connection, timeouts model.Timeouts) model.Provider {
			return google.New(c, google.Options{Timeouts: timeouts})
		},
		Base: "/v1beta", AimockBase: "/v1beta",
		Returned: []string{`"thoughtSignature":"CsoBAVSoXO4"`},
		Lacks:    map[string]string{"badargs": "its arguments are JSON already"},
	})
}
