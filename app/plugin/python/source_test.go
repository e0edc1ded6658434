package python_test

import (
	"strings"
	"testing"

	"conclave/app/plugin/python"
)

func TestATextThatAModuleAssignsIsFound(t *testing.T) {
	for source, want := range map[string]string{
		`__version__ = "1.2"`:                              "1.2",
		"import os\n__version__='2'\n":                     "2",
		"__version__ \t=\n'3'":                             "3",
		"x = 1\n__version__ = f()\n__version__ = \"4\"":    "4",
		`__version__ = "a'b"`:                              "a'b",
		"  __version__ = '1'":                              "",
		"my__version__ = '1'":                              "",
		"__version__s = '1'":                               "",
		`__version__ = ""`:                                 "",
		`__version__ = "a\n"`:                              "",
		"__version__ = \"a\nb\"":                           "",
		"__version__ = 'a":                                 "",
		"__version__ == '1'":                               "",
		"__version__ =":                                    "",
		"__version__ = '" + strings.Repeat("ä", 200) + "'": strings.Repeat("ä", 200),
		"__version__ = '" + strings.Repeat("ä", 201) + "'": "",
	} {
		if got := python.Assigned([]byte(source), "__version__"); got != want {
			t.Errorf("%q: got %q, want %q", source, got, want)
		}
	}
}
