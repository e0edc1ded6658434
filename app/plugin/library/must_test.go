package library_test

import "conclave/app/plugin/plugintest"

var must, kind, answers = plugintest.Must, plugintest.Kind, plugintest.Answers
