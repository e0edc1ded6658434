package python

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"conclave/app/base/fault"
	"conclave/app/plugin"
	"conclave/app/plugin/sandbox"
)

// Python is the interpreter that runs the plugins, as doctor shows it.
type Python struct {
	Command    []string `json:"command"`    // what was found, before resolving: /usr/bin/python3
	Executable string   `json:"executable"` // the real program behind it
	Version    string   `json:"version"`    // 3.11.7
	Why        string   `json:"why"`        // how it was chosen, in words

	Prefix     string   `json:"prefix"`
	Stdlib     string   `json:"stdlib"`
	Platstdlib string   `json:"platstdlib"`
	Site       []string `json:"site"`      // folders of installed packages
	Libraries  []string `json:"libraries"` // folders of shared libraries that are not the system's

	Stamp string `json:"stamp"` // what the answer depends on; another one asks again
}

// Options describes where to find things. Runtime must be set.
type Options struct {
	Python  string // the person's setting: a path or a command; empty looks for one
	Runtime string // folder for the unpacked worker and what is known of interpreters
	Log     *slog.Logger
	// Launcher starts what reads sources in a sandbox; nil, in tests alone, reads
	// them without.
	Launcher sandbox.Launcher
	// InspectTime bounds reading a plugin's sources; zero stands for 10 s.
	InspectTime time.Duration
	// ProbeTime bounds one question to an interpreter; zero stands for a minute.
	ProbeTime time.Duration
}

// Interpreters finds the Python of this machine, reads sources with it and
// describes workers. One serves every dialect; its methods are safe for
// concurrent use.
type Interpreters struct {
	options Options

	asking sync.Mutex        // held while an interpreter is asked: one asks, the others wait
	known  map[string]Python // by shim folder and command, as long as the stamp holds; asking guards it

	readers readers

	mu         sync.Mutex // guards the fields below
	ecosystems []Ecosystem
	digest     string // of the worker's files; empty until it is asked for
}

// New returns the interpreters. It starts nothing and touches no file.
func New(options Options) *Interpreters {
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	options.ProbeTime = cmp.Or(options.ProbeTime, probeTimeout)
	options.InspectTime = cmp.Or(options.InspectTime, inspectTimeout)
	return &Interpreters{options: options, known: map[string]Python{}}
}

// minimum is the oldest Python the worker runs on.
var minimum = [2]int{3, 9}

// probeTimeout bounds one question to an interpreter: it compiles the worker,
// which takes about half a second on a slow machine, and a minute on one that is very busy.
const probeTimeout = time.Minute

// errSlow is the error of an interpreter that is there and did not answer.
var errSlow = fmt.Errorf("it did not answer within %s", fault.Seconds(probeTimeout))

// candidate is a command that may be a Python.
type candidate struct {
	command []string
	why     string
	chosen  bool // by the person: when it is no good, that is said, and nothing else tried
}

// Python returns the interpreter to use: the setting, else CONCLAVE_PYTHON, else
// python3, python (py -3 on Windows), of 3.9 or newer. The answer is kept in the
// runtime folder, so that a second start of Conclave asks no interpreter. The
// error is a *plugin.Problem: of kind unavailable, or busy where one did not answer.
func (d *Interpreters) Python(ctx context.Context) (Python, error) {
	python, _, err := d.Resolve(ctx, d.options.Runtime)
	return python, err
}

// Resolve returns the interpreter and the folder of the worker compiled for it.
func (d *Interpreters) Resolve(ctx context.Context, runtimeDir string) (Python, string, error) {
	shimDir, err := d.unpack(runtimeDir)
	if err != nil {
		return Python{}, "", err
	}
	d.asking.Lock()
	defer d.asking.Unlock()
	var rejected []string
	for _, c := range d.candidates() {
		python, err := d.ask(ctx, shimDir, c)
		if err == nil {
			return python, shimDir, nil
		}
		if ctx.Err() != nil {
			return Python{}, "", context.Cause(ctx)
		}
		if errors.Is(err, errSlow) { // it is there, so another one is not used in its place
			return Python{}, "", &plugin.Problem{
				Kind:    "busy",
				Message: fmt.Sprintf("The Python %s is slow: %v.", strings.Join(c.command, " "), err),
				Hint:    "It is tried again. Is the computer busy? Else run it by hand, or name another one in the settings.",
			}
		}
		if c.chosen {
			return Python{}, "", &plugin.Problem{
				Kind:    "unavailable",
				Message: fmt.Sprintf("The Python that %s names cannot be used: %v.", c.why, err),
				Hint:    "Name another one, or remove the setting to let Conclave look for one.",
			}
		}
		if !errors.Is(err, exec.ErrNotFound) {
			rejected = append(rejected, fmt.Sprintf("%s: %v", strings.Join(c.command, " "), err))
		}
	}
	message := "There is no Python on this machine."
	if len(rejected) > 0 {
		message = "There is no Python of 3.9 or newer (" + strings.Join(rejected, "; ") + ")."
	}
	return Python{}, "", &plugin.Problem{
		Kind: "unavailable", Message: message,
		Hint: "Install Python 3 and try again, or name one in the settings.",
	}
}

func (d *Interpreters) candidates() []candidate {
	if d.options.Python != "" {
		return []candidate{{[]string{d.options.Python}, "the setting", true}}
	}
	if env := os.Getenv("CONCLAVE_PYTHON"); env != "" {
		return []candidate{{[]string{env}, "CONCLAVE_PYTHON", true}}
	}
	found := []candidate{
		{[]string{"python3"}, "python3 is the first on the PATH", false},
		{[]string{"python"}, "there is no usable python3; python is one", false},
	}
	if runtime.GOOS == "windows" {
		found = append([]candidate{{[]string{"py", "-3"}, "the Python launcher chose it", false}}, found...)
	}
	return found
}

// ask returns what is known of one command, asking it when that is nothing yet
// or something it depends on has changed. d.asking is held.
func (d *Interpreters) ask(ctx context.Context, shimDir string, c candidate) (Python, error) {
	path, err := exec.LookPath(c.command[0])
	if err != nil {
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
			return Python{}, fmt.Errorf("%s is %w", c.command[0], exec.ErrNotFound)
		}
		return Python{}, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return Python{}, err
	}
	if wouldAskToInstall(path) {
		return Python{}, fmt.Errorf("%s is %w", path, exec.ErrNotFound)
	}
	command := append([]string{path}, c.command[1:]...)
	key := shimDir + "\x00" + strings.Join(command, "\x00")
	if python, ok := d.known[key]; ok && python.Stamp == stamp(command, python.Executable) {
		python.Why = c.why
		return python, nil
	}
	sum := sha256.Sum256([]byte(key + "\x00" + os.Getenv("PYENV_VERSION")))
	record := filepath.Join(shimDir, "interpreter-"+hex.EncodeToString(sum[:8])+".json")
	python, ok := readRecord(record)
	if !ok || python.Stamp != stamp(command, python.Executable) {
		if python, err = d.question(ctx, command, shimDir); err != nil {
			return Python{}, err
		}
		python.Command = command
		python.Stamp = stamp(command, python.Executable)
		if err := writeRecord(record, python); err != nil {
			// The next start will ask again; nothing else is lost.
			d.options.Log.Warn("What is known of an interpreter could not be kept", "err", err)
		}
	}
	python.Why = c.why
	d.known[key] = python
	return python, nil
}

// question runs the probe.
func (d *Interpreters) question(ctx context.Context, command []string, shimDir string) (Python, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, d.options.ProbeTime, errSlow)
	defer cancel()
	args := append(command[1:len(command):len(command)], "-I", "-B", "-X", "utf8", "-c", probe, shimDir)
	cmd := exec.CommandContext(ctx, command[0], args...)
	cmd.Dir = shimDir // not where somebody's .python-version chooses another
	cmd.WaitDelay = time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		if ctx.Err() != nil {
			return Python{}, context.Cause(ctx)
		}
		last := strings.TrimSpace(stderr.String())
		last = last[strings.LastIndexByte(last, '\n')+1:]
		return Python{}, fmt.Errorf("%s", cmp.Or(last, err.Error()))
	}
	var python Python
	if err := json.Unmarshal(out, &python); err != nil {
		return Python{}, errors.New("it does not answer like a Python")
	}
	if !recent(python.Version) {
		return Python{}, fmt.Errorf("it is Python %s, and 3.9 or newer is needed", python.Version)
	}
	if python.Stdlib == "" {
		return Python{}, errors.New("it is not CPython")
	}
	return python, nil
}

func recent(version string) bool {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 {
		return false
	}
	major, err1 := strconv.Atoi(parts[0])
	minor, err2 := strconv.Atoi(parts[1])
	return err1 == nil && err2 == nil && (major > minimum[0] || major == minimum[0] && minor >= minimum[1])
}

// stamp names the state of everything that the answer of a command depends on:
// the command itself, the program behind it, and for pyenv's shims, which never
// change, the file that says which version they stand for.
func stamp(command []string, executable string) string {
	dir := filepath.Dir(command[0])
	files := []string{command[0], executable}
	if filepath.Base(dir) == "shims" {
		files = append(files, filepath.Join(filepath.Dir(dir), "version"))
	}
	// A virtual environment's packages are where its configuration is.
	files = append(files, filepath.Join(filepath.Dir(dir), "pyvenv.cfg"))
	var b strings.Builder
	for _, file := range files {
		if info, err := os.Stat(file); err == nil {
			fmt.Fprintf(&b, "%s %d %d\n", file, info.ModTime().UnixNano(), info.Size())
		}
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:12])
}

func readRecord(path string) (Python, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Python{}, false
	}
	var python Python
	return python, json.Unmarshal(text, &python) == nil
}

// writeRecord writes a record whole or not at all.
func writeRecord(path string, python Python) error {
	text, err := json.MarshalIndent(python, "", "  ")
	if err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), "interpreter-new-")
	if err != nil {
		return err
	}
	_, err = temp.Write(text)
	err = errors.Join(err, temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}

// wouldAskToInstall reports whether running path opens a window that offers to
// install developer tools: macOS ships such a python3 until they are there.
func wouldAskToInstall(path string) bool {
	if runtime.GOOS != "darwin" || path != "/usr/bin/python3" {
		return false
	}
	for _, tools := range []string{"/Library/Developer/CommandLineTools", "/Applications/Xcode.app"} {
		if _, err := os.Stat(tools); err == nil {
			return false
		}
	}
	return true
}
