package packages_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/host"
	"conclave/app/plugin/packages"
	"conclave/app/plugin/plugintest"
	"conclave/app/plugin/python/pythontest"
	"conclave/app/tool"
)

func TestWhatAPluginWantsIsReadFromWhereItStands(t *testing.T) {
	t.Parallel()
	f := fixed(t, "https://ada:secret@index.example.org/simple", bare(t))
	for name, one := range map[string]struct {
		files map[string]string
		want  []string // name standing [optional] [guessed], in order
		lacks int
	}{
		"imports": {
			map[string]string{"plug.py": `
import os, json, helper, conclave, yaml_not_here, pydantic
from bs5 import soup
try:
    import fast_json_not_here
except ImportError:
    fast_json_not_here = None
try:
    import caught_not_here
except (ValueError, ModuleNotFoundError):
    import fallback_not_here
def later() -> str:
    import lazy_not_here
    return ""
if False:
    from typing import TYPE_CHECKING
`, "helper.py": "import plug.other_part\nimport deep_not_here\n"},
			[]string{
				"bs5 missing guessed", "caught-not-here missing optional guessed", "deep-not-here missing guessed",
				"fallback-not-here missing optional guessed",
				"fast-json-not-here missing optional guessed", "lazy-not-here missing optional guessed",
				"pydantic provided optional guessed", "yaml-not-here missing guessed",
			},
			0,
		},
		"known names": {
			map[string]string{"plug.py": "import cv2, PIL\nfrom sklearn.svm import SVC\n"},
			[]string{"opencv-python missing guessed", "pillow missing guessed", "scikit-learn missing guessed"},
			0,
		},
		"declared": {map[string]string{
			"plug.py": "import bs4\ntry:\n    import dateutil\nexcept ImportError:\n    dateutil = None\n",
			"requirements.txt": "beautifulsoup4_not_here\npython-dateutil\nnever-here; sys_platform == 'plan9'\n" +
				"pydantic>=2\nbs4-is-not-it>=1\n",
		}, []string{
			"beautifulsoup4 missing guessed", "beautifulsoup4-not-here missing", "bs4-is-not-it missing",
			"never-here skipped", "pydantic missing optional", "python-dateutil missing optional",
		}, 2},
		// Conclave provides the modules that it has itself.
		"sdk": {
			map[string]string{"plug.py": "import maibot_sdk\n", "requirements.txt": "maibot-plugin-sdk>=2\n"},
			[]string{"maibot-plugin-sdk provided"},
			0,
		},
		// Tests are not read, and a module next to a file or above it is no package.
		"own files": {map[string]string{
			"plug.py": "def f(): ...\n", "core/__init__.py": "\n",
			"core/engine.py": "import store_not_here\nimport wheel_not_here\n", "core/store_not_here.py": "X = 1\n",
			"tests/test_plug.py": "import fakes, pytest_not_here\n", "tests/fakes.py": "X = 1\n",
			"test/conf.py": "import conf_not_here\n",
		}, []string{"wheel-not-here missing guessed"}, 0},
		"vendor": {map[string]string{
			"plug.py": "import inside\n", "vendor/inside.py": "",
			"vendor/inside-1.2.dist-info/METADATA": "", "requirements.txt": "inside>=1\n",
		}, []string{"inside installed"}, 0},
		"old": {map[string]string{
			"plug.py": "import inside\n", "vendor/inside.py": "",
			"vendor/inside-1.2.dist-info/METADATA": "", "requirements.txt": "inside>=2\n",
		}, []string{"inside outdated"}, 1},
		"nothing": {map[string]string{"plug.py": "import os, sys, collections.abc, time, _thread, math\n"}, nil, 0},
		"llm": {
			map[string]string{
				"plug.py":        "import llm_not_here\n",
				"pyproject.toml": "[project]\nname='llm-plug'\ndependencies=['n-e-k-o', 'llm-plug[test]']\n",
			},
			[]string{"llm-not-here missing guessed", "n-e-k-o provided"},
			0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one.files["plug.py"] += "\ndef offered(): ...\n" // else it is no plugin
			p := f.packages(folder(t, "plug", one.files))
			if p == nil {
				p = &plugin.Packages{}
			} else if strings.Contains(p.Index, "secret") || !strings.Contains(p.Index, "index.example.org") {
				t.Errorf("index: %s", p.Index)
			}
			var got []string
			for _, is := range p.Packages {
				line := is.Name + " " + string(is.Status)
				if is.Optional {
					line += " optional"
				}
				if is.Guessed {
					line += " guessed"
				}
				got = append(got, line)
			}
			slices.Sort(got)
			if !slices.Equal(got, one.want) {
				t.Errorf("got\n %s\nwant\n %s", strings.Join(got, "\n "), strings.Join(one.want, "\n "))
			}
			if got := len(p.MissingRequired()); got != one.lacks {
				t.Errorf("it lacks %d, want %d", got, one.lacks)
			}
		})
	}
}

// TestAndF85AndNK05APluginWaitsForItsPackagesAndLoadsOnceTheyAreThere is the whole way: the
// host, a real dialect, a real installation.
func TestAndF85AndNK05APluginWaitsForItsPackagesAndLoadsOnceTheyAreThere(t *testing.T) {
	t.Parallel()
	x := newIndex(t,
		map[string][]file{"greetings": {wheel(t, "greetings", "1.5", "def greet(name):\n    return 'Hello, ' + name\n")}})
	f := fixed(t, x.simple())
	dir := pythontest.Files(t, map[string]string{
		// It declares a package that only an unused file imports.
		"spare.py": "# /// script\n# dependencies = [\"never-needed\"]\n# ///\ndef greet(name: str) -> str:\n    " +
			"return name\n",
		"declares.py": "# /// script\n# dependencies = [\"greetings\"]\n# ///\n" + greeter,
		"imports.py":  greeter,
		"tries.py": "try:\n    import greetings\nexcept ImportError:\n    greetings = None\n\ndef greet(name: str) " +
			"-> str:\n    return name\n",
		"plain.py": "def greet(name: str) -> str:\n    return name\n",
	})
	gate, err := gate.Open(t.Context(), gate.Options{Log: slog.New(slog.DiscardHandler)})
	must(t, err)
	tools := tool.NewRegistry()
	h := host.New(host.Options{
		Dir: dir, Data: t.TempDir(), Dialects: []plugin.Dialect{f.dialect}, Launcher: f.launcher,
		Registry: tools, Gate: gate,
		Store: &plugintest.Memory{}, Log: slog.New(slog.DiscardHandler), Environments: f.e, LoadTimeout: pythontest.Patience,
	})
	t.Cleanup(h.Close)
	in := packages.NewInstaller(h, f.e)
	t.Cleanup(in.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 5*pythontest.Patience)
	defer cancel()
	must(t, h.Scan())
	settled := func() {
		t.Helper()
		must(t, h.WaitIdle(ctx))
	}
	settled()
	for _, id := range []string{"declares", "imports", "tries", "plain", "spare"} {
		must(t, plugintest.Approve(ctx, h, id, false))
	}
	settled()
	status := func(id string) plugin.Status {
		t.Helper()
		s, err := h.Status(id)
		must(t, err)
		return s
	}
	for id, want := range map[string]plugin.State{
		"declares": plugin.NeedsPackages, "imports": plugin.NeedsPackages,
		"tries": plugin.Ready, "plain": plugin.Ready, "spare": plugin.Ready,
	} {
		s := status(id)
		if s.State != want || want == plugin.NeedsPackages &&
			(!strings.Contains(s.Problem.Message, "greetings") ||
				!strings.Contains(s.Problem.Hint, "plugins packages "+id+map[string]string{"imports": " NAME"}[id]+" --install")) {
			t.Errorf("%s is %s: %+v", id, s.State, s.Problem)
		}
	}
	if p := status("plain").Packages; p != nil {
		t.Errorf("a plugin that wants nothing wants %+v", p)
	}
	digest := status("declares").Packages.Digest
	if err := in.Install(ctx, "declares", "of another list", plugin.InstallOptions{},
		nil); fault.Of(err).Kind != fault.Conflict {
		t.Errorf("got %v", err)
	}
	if err := in.Install(ctx, "plain", "", plugin.InstallOptions{}, nil); fault.Of(err).Kind != fault.NotFound {
		t.Errorf("got %v", err)
	}
	if err := in.Install(ctx, "declares", digest, plugin.InstallOptions{}, f.tell); err != nil {
		t.Fatalf("%v\n%s", err, f.log())
	}
	settled()
	s := status("declares")
	if s.State != plugin.Ready || s.Packages.Path == "" || s.PackageWork == nil || s.PackageWork.Running ||
		len(s.PackageWork.Lines) == 0 {
		t.Fatalf("after the installation: %s, %+v, %+v", s.State, s.Problem, s.PackageWork)
	}
	if other := status("imports"); other.State != plugin.NeedsPackages {
		t.Errorf("another plugin took part: %s", other.State)
	}
	if tools.Set().Len() != 4 {
		t.Errorf("%d tools are offered, want those of declares, tries, plain and spare", tools.Set().Len())
	}
	// A guessed package is installed only by name.
	if err := in.Install(ctx, "imports", "", plugin.InstallOptions{Guessed: []string{"another"}},
		nil); fault.Of(err).Kind != fault.NotFound {
		t.Errorf("a package that is not of the list: %v", err)
	}
	if err := in.Install(ctx, "imports", status("imports").Packages.Digest, plugin.InstallOptions{}, nil); err == nil ||
		!strings.Contains(fault.Of(err).Hint, "by its name") {
		t.Errorf("without its name: %v", err)
	}
	if err := in.Install(ctx, "imports", status("imports").Packages.Digest,
		plugin.InstallOptions{Guessed: []string{"greetings"}}, f.tell); err != nil {
		t.Fatalf("by its name: %v\n%s", err, f.log())
	}
	settled()
	if s := status("imports"); s.State != plugin.Ready {
		t.Errorf("after its installation by name: %s, %+v", s.State, s.Problem)
	}
	must(t, in.Remove("declares"))
	settled()
	if s := status("declares"); s.State != plugin.NeedsPackages || s.Packages.Path != "" {
		t.Errorf("after removal: %s", s.State)
	}
}
