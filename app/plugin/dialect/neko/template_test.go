package neko_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/app/plugin/python/pythontest"
)

func TestTheTemplateLoadsAndAnswers(t *testing.T) {
	tree := map[string]string{}
	for _, name := range []string{"plugin.toml", "__init__.py"} {
		text, err := os.ReadFile(filepath.Join("templates/neko/NAME", name))
		must(t, err)
		tree["greeter/"+name] = strings.ReplaceAll(string(text), "NAME", "greeter")
	}
	w := pythontest.Launch(t, aPython(t), pythontest.Source(t, pythontest.Files(t, tree)+"/greeter"))
	w.List()
	says(t, w.Call("greet", `{"name":"Ada","times":2}`), "Hello, Ada! Hello, Ada!")
	fails(t, w.Call("greet", `{"name":"Ada","times":11}`), "times is from 1 to 10")
}
