package packages_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"conclave/app/plugin"
	"conclave/app/plugin/dialect/functions"
	"conclave/app/plugin/dialect/maibot"
	"conclave/app/plugin/dialect/neko"
	"conclave/app/plugin/packages"
	"conclave/app/plugin/python"
	"conclave/app/plugin/python/pythontest"
	"conclave/app/plugin/sandbox"
	"conclave/app/test/programtest"
	"conclave/app/test/testkit"
)

var must = testkit.Must

func TestMain(m *testing.M) { programtest.Main(m) }

// wheel makes a wheel of one module.
func wheel(t testing.TB, name, version, source string, requires ...string) file {
	t.Helper()
	module := strings.ReplaceAll(name, "-", "_")
	info := module + "-" + version + ".dist-info/"
	metadata := "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\n"
	for _, r := range requires {
		metadata += "Requires-Dist: " + r + "\n"
	}
	files := map[string]string{
		module + ".py":    source,
		info + "METADATA": metadata,
		info + "WHEEL":    "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
	}
	var record strings.Builder
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	put := func(path, text string) {
		w, err := z.Create(path)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		must(t, err)
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		sum := sha256.Sum256([]byte(files[path]))
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", path, base64.RawURLEncoding.EncodeToString(sum[:]), len(files[path]))
		put(path, files[path])
	}
	put(info+"RECORD", record.String()+info+"RECORD,,\n")
	must(t, z.Close())
	return file{module + "-" + version + "-py3-none-any.whl", b.Bytes()}
}

// source makes a package that exists as source only, whose build backend writes
// a file wherever it is run.
func source(t testing.TB, name, version, proof string) file {
	t.Helper()
	built := wheel(t, name, version, "VALUE = 'built'\n")
	files := map[string]string{
		"PKG-INFO":       "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\n",
		"pyproject.toml": "[build-system]\nrequires = []\nbuild-backend = \"backend\"\nbackend-path = [\".\"]\n",
		"backend.py": fmt.Sprintf(`import base64, os
try:
    open(%q, "w").close()
except OSError:
    pass
def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    open(os.path.join(wheel_directory, %q), "wb").write(base64.b64decode(%q))
    return %q
`, proof, built.name, base64.StdEncoding.EncodeToString(built.data), built.name),
	}
	var b bytes.Buffer
	g := gzip.NewWriter(&b)
	w := tar.NewWriter(g)
	top := name + "-" + version
	for _, path := range slices.Sorted(maps.Keys(files)) {
		text := files[path]
		must(t, w.WriteHeader(&tar.Header{Name: top + "/" + path, Mode: 0o644, Size: int64(len(text))}))
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	must(t, w.Close())
	must(t, g.Close())
	return file{top + ".tar.gz", b.Bytes()}
}

type file struct {
	name string
	data []byte
}

func (f file) hash() string {
	sum := sha256.Sum256(f.data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// index is a package index on a loopback port (PEP 503).
type index struct {
	*httptest.Server

	mu     sync.Mutex // guards the fields below
	files  map[string][]file
	asked  map[string]int // by path
	breaks map[string]bool
	stalls map[string]chan struct{} // closed once the file is asked for
}

func newIndex(t testing.TB, files map[string][]file) *index {
	t.Helper()
	x := &index{files: files, asked: map[string]int{}, breaks: map[string]bool{}, stalls: map[string]chan struct{}{}}
	x.Server = httptest.NewServer(http.HandlerFunc(x.serve))
	t.Cleanup(x.Close)
	return x
}

func (x *index) serve(w http.ResponseWriter, r *http.Request) {
	x.mu.Lock()
	x.asked[r.URL.Path]++
	x.mu.Unlock()
	if name, ok := strings.CutPrefix(r.URL.Path, "/simple/"); ok {
		files, known := x.files[strings.Trim(name, "/")]
		if !known {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		for _, f := range files {
			fmt.Fprintf(w, "<a href=\"/files/%s#%s\">%s</a>\n", f.name, strings.Replace(f.hash(), ":", "=", 1), f.name)
		}
		return
	}
	base := filepath.Base(r.URL.Path)
	for _, files := range x.files {
		for _, f := range files {
			if f.name == base {
				x.send(w, r, f)
				return
			}
		}
	}
	http.NotFound(w, r)
}

func (x *index) send(w http.ResponseWriter, r *http.Request, f file) {
	x.mu.Lock()
	breaks, stall := x.breaks[f.name], x.stalls[f.name]
	delete(x.stalls, f.name)
	x.mu.Unlock()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", fmt.Sprint(len(f.data)))
	w.Header().Set("Cache-Control", "max-age=365000000, immutable, public")
	half := len(f.data) / 2
	switch {
	case breaks:
		_, _ = w.Write(f.data[:half])
		panic(http.ErrAbortHandler)
	case stall != nil:
		_, _ = w.Write(f.data[:half])
		_ = http.NewResponseController(w).Flush()
		close(stall)
		<-r.Context().Done()
	default:
		_, _ = w.Write(f.data)
	}
}

func (x *index) simple() string { return x.URL + "/simple" }

func (x *index) times(path string) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.asked[path]
}

// fixture holds what a test installs with.
type fixture struct {
	t        testing.TB
	dir      string // of the environments
	python   *python.Interpreters
	dialect  *functions.Dialect
	launcher sandbox.Launcher
	e        *packages.Environments

	mu   sync.Mutex
	said []string
}

func fixed(t testing.TB, address string, change ...func(*packages.Options)) *fixture {
	t.Helper()
	i := pythontest.Any(t)
	l := pythontest.Launcher(t)
	t.Cleanup(l.Close)
	f := &fixture{t: t, dir: t.TempDir(), python: i, dialect: functions.New(i), launcher: l}
	o := packages.Options{Dir: f.dir, Python: i, Launcher: l, Index: address}
	for _, c := range change {
		c(&o)
	}
	// What the worker has its own modules for, dialects tell its Python.
	functions.New(o.Python)
	neko.New(o.Python)
	maibot.New(o.Python)
	f.e = packages.New(o)
	return f
}

// bare has packages looked for in a Python with none installed, whatever this
// machine has.
func bare(t testing.TB) func(*packages.Options) {
	t.Helper()
	py, err := pythontest.Any(t).Python(t.Context())
	must(t, err)
	dir := filepath.Join(t.TempDir(), "bare")
	if out, err := exec.CommandContext(t.Context(), py.Executable, "-I", "-m", "venv", "--without-pip",
		dir).CombinedOutput(); err != nil {
		t.Skipf("there is no module venv: %v: %s", err, out)
	}
	name := filepath.Join(dir, "bin", "python")
	if runtime.GOOS == "windows" {
		name = filepath.Join(dir, "Scripts", "python.exe")
	}
	return func(o *packages.Options) {
		o.Python = python.New(python.Options{Python: name, Runtime: programtest.Dir})
	}
}

// read reads a plugin as the host does.
func (f *fixture) read(path string) (plugin.Source, plugin.Manifest, plugin.Listing) {
	f.t.Helper()
	src := pythontest.Source(f.t, path)
	m, err := f.dialect.Recognize(f.t.Context(), src)
	if err != nil || m == nil {
		f.t.Fatalf("Recognize %s: %v, %v", path, m, err)
	}
	l, err := f.dialect.Inspect(f.t.Context(), src, *m)
	must(f.t, err)
	return src, *m, l
}

// packages tells what a plugin wants.
func (f *fixture) packages(path string) *plugin.Packages {
	f.t.Helper()
	src, m, l := f.read(path)
	p, err := f.e.Packages(f.t.Context(), src, m, l)
	must(f.t, err)
	return p
}

// install installs what a plugin wants.
func (f *fixture) install(path string, consent plugin.InstallOptions) error {
	f.t.Helper()
	src, m, l := f.read(path)
	return f.e.Install(f.t.Context(), src, m, l, consent, f.tell)
}

func (f *fixture) tell(line string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.said = append(f.said, line)
}

func (f *fixture) log() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.said, "\n")
}

// environments returns the names of the environment folders of a plugin.
func (f *fixture) environments(id string) []string {
	f.t.Helper()
	found, err := filepath.Glob(filepath.Join(f.dir, id, "env-*"))
	must(f.t, err)
	return found
}

func folder(t testing.TB, name string, tree map[string]string) string {
	t.Helper()
	in := map[string]string{}
	for path, text := range tree {
		in[name+"/"+path] = text
	}
	return filepath.Join(pythontest.Files(t, in), name)
}
