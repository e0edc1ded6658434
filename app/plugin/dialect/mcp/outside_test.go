package mcp

import (
	"slices"
	"strings"
	"testing"

	"conclave/app/plugin"
	"conclave/app/plugin/dialect/mcp/config"
)

func TestMC114TheCardNamesCodeThatMayChangeWithoutAQuestion(t *testing.T) {
	none, own := plugin.Source{}, plugin.Source{Path: "/p/mine", Folder: true}
	by := func(line string) config.Server {
		words := strings.Fields(line)
		return config.Server{Command: words[0], Args: words[1:]}
	}
	inHome := by("node a.mjs")
	inHome.Dir = "/home/me"
	const folder = "code in the folder /home/me/srv"
	const index = "/home/me/srv/dist/index.js"
	for name, c := range map[string]struct {
		src  plugin.Source
		s    config.Server
		want []string
	}{
		"a script":               {none, by("node " + index + " /data/x.json"), []string{index}},
		"two of one":             {none, by("python3.12 ~/a.py ~/a.py"), []string{"~/a.py"}},
		"a script in its folder": {own, by("python3 server.py"), nil},
		"one next to it":         {own, by("python3 ../other.py"), []string{"/p/other.py"}},
		"one by its folder":      {none, inHome, []string{"/home/me/a.mjs"}},
		"a program":              {none, by("/home/me/go/bin/srv"), []string{"/home/me/go/bin/srv"}},
		"a program by name":      {none, by("github-mcp-server stdio"), []string{"the program github-mcp-server"}},
		"the system's":           {none, by("/usr/bin/python3 /usr/lib/srv/a.py"), nil},
		"a virtual one":          {none, by("/home/me/.venv/bin/python -m srv"), []string{"/home/me/.venv/bin/python"}},
		"a folder":               {none, by("uv --directory /home/me/srv run srv"), []string{folder}},
		"a folder with =":        {none, by("uv --project=/home/me/srv run"), []string{folder}},
		"a package":              {none, by("npx -y @a/b.js@1"), nil},
		"a package from a git":   {none, by("uvx --from git+https://example.com/a a"), nil},
		"a bundle":               {plugin.Source{Path: "/p/a.mcpb"}, by("node ${__dirname}/server/index.js"), nil},
		"an address":             {none, config.Server{URL: "https://example.com/x.js"}, nil},
	} {
		var got []string
		for _, sentence := range outside(c.src, c.s) {
			what, ok := strings.CutSuffix(strings.TrimPrefix(sentence, "It runs "), changesUnasked)
			if !ok {
				t.Errorf("%s: %q", name, sentence)
			}
			got = append(got, what)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
