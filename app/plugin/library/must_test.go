package library_test

import (
	"conclave/app/plugin/plugintest"
	"conclave/app/test/testkit"
)

var must, kind, answers = testkit.Must, plugintest.Kind, plugintest.Answers
