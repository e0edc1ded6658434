package packages_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/app/plugin"
	"conclave/app/plugin/packages"
	"conclave/app/plugin/python/pythontest"
)

const greeter = `import greetings

def greet(name: str) -> str:
    """Greet somebody."""
    return greetings.greet(name)
`

const greetings = "import politeness\ndef greet(name):\n    return politeness.WORD + ', ' + name\n"

// problem asserts that err is a Problem whose message and hint hold the words.
func problem(t *testing.T, err error, words ...string) *plugin.Problem {
	t.Helper()
	p, ok := errors.AsType[*plugin.Problem](err)
	if !ok {
		t.Fatalf("got %v, want a problem", err)
	}
	for _, word := range words {
		if !strings.Contains(p.Message+"\n"+p.Hint, word) {
			t.Errorf("got %q, %q; want %q in it\n%s", p.Message, p.Hint, word, p.Stderr)
		}
	}
	if p.Kind == "" || strings.Contains(p.Message, "(exit") {
		t.Errorf("a sentence for a machine: %q\n%s", p.Message, p.Stderr)
	}
	return p
}

func TestPackagesGoIntoAnEnvironmentOfThePluginsOwn(t *testing.T) {
	t.Parallel()
	x := newIndex(t, map[string][]file{
		"greetings":  {wheel(t, "greetings", "1.5", greetings, "politeness"), wheel(t, "greetings", "2.0", "")},
		"politeness": {wheel(t, "politeness", "1.0", "WORD = 'Good day'\n")},
	})
	f := fixed(t, x.simple())
	path := folder(t, "greeter", map[string]string{"greeter.py": greeter, "requirements.txt": "greetings<2  # polite\n"})
	py, err := f.python.Python(t.Context())
	must(t, err)
	before := entries(t, py.Site)

	p := f.packages(path)
	if p == nil || len(p.MissingRequired()) != 1 || p.Packages[0].Requirement != "greetings<2" ||
		p.Packages[0].From != "requirements.txt:1" || p.Unable != "" {
		t.Fatalf("before: %+v", p)
	}
	if site := f.e.Site(t.Context(), "greeter"); len(site) != 0 || len(x.asked) != 0 {
		t.Fatalf("before anybody agreed: %v, %v", site, x.asked)
	}
	began := time.Now()
	if err := f.install(path, plugin.InstallOptions{}); err != nil {
		t.Fatalf("%v\n%s", err, f.log())
	}
	t.Logf("an environment with two wheels of one module: %s", time.Since(began).Round(time.Millisecond))

	now := f.packages(path)
	if len(now.MissingRequired()) != 0 || now.Packages[0].Version != "1.5" || now.Stale || now.Path == "" ||
		now.Bytes == 0 ||
		now.Digest != p.Digest {
		t.Errorf("after: %+v", now)
	}
	site := f.e.Site(t.Context(), "greeter")
	if len(site) != 1 || !strings.HasPrefix(site[0], f.dir) {
		t.Fatalf("site: %v", site)
	}
	if after := entries(t, py.Site); !slices.Equal(before, after) {
		t.Errorf("the machine's Python changed: %v, was %v", after, before)
	}
	if site := f.e.Site(t.Context(), "other"); len(site) != 0 {
		t.Errorf("another plugin has %v", site)
	}

	// The plugin uses it in its sandbox.
	w := pythontest.BehindWallsWith(t, f.dialect, path, plugin.StartOptions{Site: site})
	w.List()
	if got := w.Call("greet", `{"name":"Ada"}`).Text(); got != "Good day, Ada" {
		t.Errorf("got %q", got)
	}

	must(t, f.e.Remove("greeter"))
	if p := f.packages(path); len(p.MissingRequired()) != 1 || p.Path != "" {
		t.Errorf("after removal: %+v", p)
	}
}

func entries(t *testing.T, dirs []string) []string {
	t.Helper()
	var names []string
	for _, dir := range dirs {
		list, err := os.ReadDir(dir)
		must(t, err)
		for _, entry := range list {
			names = append(names, entry.Name())
		}
	}
	return names
}

func TestAnInstallationGoesOnWhereItBrokeOff(t *testing.T) {
	t.Parallel()
	second := wheel(t, "politeness", "1.0", "WORD = 'Good day'\n"+strings.Repeat("# long\n", 20000))
	x := newIndex(t, map[string][]file{
		"greetings":  {wheel(t, "greetings", "1.5", greetings, "politeness")},
		"politeness": {second},
	})
	x.breaks[second.name] = true
	f := fixed(t, x.simple())
	path := folder(t, "greeter", map[string]string{"greeter.py": greeter, "requirements.txt": "greetings\n"})

	problem(t, f.install(path, plugin.InstallOptions{}), "broke off", "go on")
	if left := f.environments("greeter"); len(left) != 0 || len(f.e.Site(t.Context(), "greeter")) != 0 {
		t.Errorf("a half-made environment stayed: %v", left)
	}
	x.mu.Lock()
	x.breaks[second.name] = false
	x.mu.Unlock()
	if err := f.install(path, plugin.InstallOptions{}); err != nil {
		t.Fatalf("%v\n%s", err, f.log())
	}
	if got := x.times("/files/greetings-1.5-py3-none-any.whl"); got != 1 {
		t.Errorf("what had arrived was downloaded %d times\n%s", got, f.log())
	}
	if _, err := os.Stat(filepath.Join(f.dir, "greeter", "cache")); err == nil {
		t.Error("the downloads are kept after they were needed")
	}
}

func TestAHashThatDiffersInstallsNothing(t *testing.T) {
	t.Parallel()
	x := newIndex(t, map[string][]file{"greetings": {wheel(t, "greetings", "1.5", "")}})
	f := fixed(t, x.simple())
	path := folder(t, "greeter", map[string]string{
		"greeter.py":       greeter,
		"requirements.txt": "greetings==1.5 \\\n    --hash=sha256:" + strings.Repeat("0", 64) + "\n",
	})
	problem(t, f.install(path, plugin.InstallOptions{}), "hash", "nothing was installed")
	if left := f.environments("greeter"); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

func TestAStoppedInstallationLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	one := wheel(t, "greetings", "1.5", strings.Repeat("# long\n", 20000))
	x := newIndex(t, map[string][]file{"greetings": {one}})
	stalled := make(chan struct{})
	x.stalls[one.name] = stalled
	f := fixed(t, x.simple())
	path := folder(t, "greeter", map[string]string{"greeter.py": greeter, "requirements.txt": "greetings\n"})
	src, m, l := f.read(path)
	ctx, cancel := context.WithCancelCause(t.Context())
	over := make(chan error, 1)
	go func() { over <- f.e.Install(ctx, src, m, l, plugin.InstallOptions{}, f.tell) }()
	select {
	case <-stalled:
	case <-time.After(pythontest.Patience):
		t.Fatalf("nothing was downloaded\n%s", f.log())
	}
	stop := errors.New("enough")
	cancel(stop)
	select {
	case err := <-over:
		if !errors.Is(err, stop) {
			t.Errorf("got %v", err)
		}
	case <-time.After(pythontest.Patience):
		t.Fatal("it did not stop")
	}
	if left := f.environments("greeter"); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

func TestSourceIsNotRunUnlessThePersonSaysSo(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "proof")
	x := newIndex(t, map[string][]file{"greetings": {source(t, "greetings", "1.5", outside)}})
	f := fixed(t, x.simple())
	path := folder(t, "greeter", map[string]string{"greeter.py": greeter, "requirements.txt": "greetings\n"})
	problem(t, f.install(path, plugin.InstallOptions{}), "greetings exists as source only", "--build")
	if x.times("/files/greetings-1.5.tar.gz") != 0 {
		t.Error("the source was downloaded")
	}
	if err := f.install(path, plugin.InstallOptions{Build: true}); err != nil {
		t.Fatalf("%v\n%s", err, f.log())
	}
	if got := f.packages(path).Packages[0]; got.Version != "1.5" {
		t.Errorf("got %+v", got)
	}
	if _, err := os.Stat(outside); err == nil && f.launcher.Confinement().Level == "process+landlock" {
		t.Error("the build wrote outside of its folder")
	}
}

func TestWhatCannotBeInstalledIsSaid(t *testing.T) {
	t.Parallel()
	x := newIndex(t, map[string][]file{
		"greetings":  {wheel(t, "greetings", "1.5", ""), wheel(t, "greetings", "1.6", "", "politeness<1")},
		"politeness": {wheel(t, "politeness", "1.0", "")},
	})
	gone := newIndex(t, nil)
	gone.Close()
	for name, one := range map[string]struct {
		list, index string
		words       []string
	}{
		"unknown":  {"gretings\n", x.simple(), []string{"There is no package gretings"}},
		"conflict": {"greetings==1.6\npoliteness==1.0\n", x.simple(), []string{"cannot be had together", "politeness"}},
		"offline":  {"greetings\n", gone.simple(), []string{"cannot be reached", "install again"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := fixed(t, one.index)
			path := folder(t, "greeter", map[string]string{"greeter.py": greeter, "requirements.txt": one.list})
			problem(t, f.install(path, plugin.InstallOptions{}), one.words...)
		})
	}
}

func TestAddressesAndOtherIndexesNeedConsent(t *testing.T) {
	t.Parallel()
	more := newIndex(t, map[string][]file{
		"greetings":  {wheel(t, "greetings", "1.5", "")},
		"politeness": {wheel(t, "politeness", "1.0", "")},
	})
	x := newIndex(t, map[string][]file{})
	f := fixed(t, x.simple(), func(o *packages.Options) { o.UV = brokenUV() }) // which nobody asks for an address
	path := folder(t, "greeter", map[string]string{"greeter.py": greeter, "requirements.txt": "--extra-index-url " +
		strings.Replace(more.simple(), "http://", "http://ada:secret@", 1) +
		"\ngreetings\npoliteness @ " + more.URL + "/files/politeness-1.0-py3-none-any.whl\n"})
	p := f.packages(path)
	if len(p.Elsewhere) != 2 || strings.Contains(strings.Join(p.Elsewhere, " ")+strings.Join(p.Notes, " "), "secret") {
		t.Errorf("got %v, %v", p.Elsewhere, p.Notes)
	}
	problem(t, f.install(path, plugin.InstallOptions{}), "politeness was not installed", "needs your consent")
	if len(more.asked) != 0 {
		t.Errorf("asked %v", more.asked)
	}
	if err := f.install(path, plugin.InstallOptions{Elsewhere: true}); err != nil {
		t.Fatalf("%v\n%s", err, f.log())
	}
	if p := f.packages(path); len(p.Missing()) != 0 || strings.Contains(f.log(), "pip tries") ||
		!strings.Contains(f.log(), "Installing 2 packages from "+strings.TrimPrefix(x.URL, "http://")+", "+
			strings.TrimPrefix(more.URL, "http://")+", "+more.URL+"/files/politeness-1.0-py3-none-any.whl with pip ") {
		t.Errorf("got %+v\n%s", p.Packages, f.log())
	}
	if log, err := os.ReadFile(filepath.Join(f.dir, "greeter", "install.log")); err != nil ||
		strings.Contains(string(log), "secret") || strings.Contains(f.log(), "secret") {
		t.Errorf("a password is in the log (%v)", err)
	}
}

func TestPipInstallsWhereUVFails(t *testing.T) {
	t.Parallel()
	if brokenUV() == "" {
		t.Skip("there is no program here that fails")
	}
	x := newIndex(t, map[string][]file{"greetings": {wheel(t, "greetings", "1.5", "")}})
	f := fixed(t, x.simple(), func(o *packages.Options) { o.UV = brokenUV() })
	path := folder(t, "greeter", map[string]string{"greeter.py": greeter, "requirements.txt": "greetings\n"})
	if err := f.install(path, plugin.InstallOptions{}); err != nil || !strings.Contains(f.log(), "pip tries") {
		t.Fatalf("%v\n%s", err, f.log())
	}
}

func TestAttackAnAddressOfSourcePassesForOneOfAWheel(t *testing.T) {
	t.Parallel()
	proof := filepath.Join(t.TempDir(), "ran")
	packed := source(t, "evil", "1.0", proof)
	x := newIndex(t, map[string][]file{"evil": {packed}, "greetings": {wheel(t, "greetings", "1.5", "")}})
	for _, end := range []string{"#.whl", "?x=.whl", "#sha256=00.whl", "?.whl#.whl"} {
		f := fixed(t, x.simple())
		path := folder(t, "greeter", map[string]string{
			"greeter.py": greeter, "requirements.txt": "greetings\nevil @ " + x.URL + "/files/" + packed.name + end + "\n",
		})
		problem(t, f.install(path, plugin.InstallOptions{Elsewhere: true}), "evil was not installed",
			"it comes as source, whose code would run during the installation")
		if x.times("/files/"+packed.name) != 0 {
			t.Errorf("%s: it was fetched", end)
		}
	}
	if _, err := os.Lstat(proof); err == nil {
		t.Error("its code ran")
	}
	t.Log("stopped by: what lies at an address is judged by the last part of its path")
}

func TestAttackAWheelRequiresAnAddressThatNobodyWasShown(t *testing.T) {
	t.Parallel()
	other := newIndex(t, map[string][]file{"politeness": {wheel(t, "politeness", "1.0", "")}})
	address := other.URL + "/files/politeness-1.0-py3-none-any.whl"
	carrier := wheel(t, "greetings", "1.5", "", "politeness @ "+address)
	x := newIndex(t, map[string][]file{"greetings": {carrier}})
	for name, list := range map[string]string{
		"of an address": "greetings @ " + x.URL + "/files/" + carrier.name + "\n", "of an index": "greetings\n",
	} {
		f := fixed(t, x.simple())
		path := folder(t, "greeter", map[string]string{"greeter.py": greeter, "requirements.txt": list})
		problem(t, f.install(path, plugin.InstallOptions{Elsewhere: true}), "The package greetings requires politeness from "+
			address, "an address that the plugin's list does not name")
		if len(other.asked) != 0 {
			t.Errorf("%s: it was asked for %v", name, other.asked)
		}
	}
	t.Log("stopped by: no address is fetched that the list does not name")
	f := fixed(t, x.simple())
	path := folder(t, "greeter", map[string]string{
		"greeter.py": greeter, "requirements.txt": "greetings\npoliteness @ " + address + "\n",
	})
	if err := f.install(path, plugin.InstallOptions{Elsewhere: true}); err != nil || len(f.packages(path).Missing()) != 0 {
		t.Errorf("with the address in the list: %v\n%s", err, f.log())
	}
}

func TestAnEnvironmentForAnotherPythonIsNotUsed(t *testing.T) {
	t.Parallel()
	f := fixed(t, "")
	home := filepath.Join(f.dir, "greeter")
	path := folder(t, "greeter", map[string]string{"greeter.py": greeter, "requirements.txt": "greetings\n"})
	must(t, os.MkdirAll(filepath.Join(home, "env-1", "lib"), 0o700))
	if err := os.MkdirAll(filepath.Join(home, "env-half"), 0o700); err != nil { // of a program that was killed
		t.Fatal(err)
	}
	write := func(record map[string]any) {
		text, err := json.Marshal(record)
		if err == nil {
			err = os.WriteFile(filepath.Join(home, "current.json"), text, 0o600)
		}
		must(t, err)
	}
	write(map[string]any{"dir": "env-1", "digest": "of another list", "abi": "cpython-2.7-linux-amd64"})
	p := f.packages(path)
	if site := f.e.Site(t.Context(), "greeter"); len(site) != 0 || !p.Stale || len(p.MissingRequired()) != 1 {
		t.Errorf("got %v, %+v", site, p)
	}
	if left := f.environments("greeter"); len(left) != 1 || filepath.Base(left[0]) != "env-1" {
		t.Errorf("the half-made one was kept: %v", left)
	}
	write(map[string]any{"dir": "../../escape"})
	if p := f.packages(path); p.Path != "" {
		t.Errorf("a record leads out: %+v", p)
	}
}

func TestUVInstallsWhereThereIsOne(t *testing.T) {
	t.Parallel()
	uv := lookUV()
	if uv == "" {
		t.Skip("there is no uv on this machine")
	}
	x := newIndex(t, map[string][]file{"greetings": {wheel(t, "greetings", "1.5", "")}})
	f := fixed(t, x.simple(), func(o *packages.Options) { o.UV = uv })
	path := folder(t, "greeter", map[string]string{"greeter.py": greeter, "requirements.txt": "greetings\n"})
	if err := f.install(path, plugin.InstallOptions{}); err != nil || strings.Contains(f.log(), "pip tries") {
		t.Fatalf("%v\n%s", err, f.log())
	}
}

// brokenUV is a program that manages nothing, where the system has one.
func brokenUV() string {
	path, err := filepath.EvalSymlinks("/bin/false")
	if err != nil {
		return ""
	}
	return path
}

func lookUV() string {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		path := filepath.Join(dir, "uv")
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			if real, err := filepath.EvalSymlinks(path); err == nil {
				return real
			}
		}
	}
	return ""
}
