package engine

import (
	"embed"
	"fmt"
	"os"
	"strings"
	"time"

	_ "time/tzdata" // a confined worker cannot read the system's zones

	"modernc.org/quickjs"
	"modernc.org/quickjs/intl"
)

// vm is a JavaScript engine. Strings go in and strings come out; no Go value is
// ever shown to a script. Every method but Interrupt belongs to the goroutine
// that owns the engine.
type vm interface {
	// SetHost sets the one function through which a script reaches out. It is
	// called by Call and Drain, on their goroutine.
	SetHost(host func(op, text string) string)
	// Load evaluates the prelude and keeps author for every import after it.
	Load(author *loader) error
	// Call hands text to what the prelude listens for under op. An error is an
	// interrupt, or a fault of the prelude.
	Call(op, text string) (string, error)
	// Drain runs promise jobs until none is left, or too many have run, in
	// which case more is true.
	Drain() (more bool, err error)
	// Interrupt stops the script that is running, if one is. Any goroutine may
	// call it at any time.
	Interrupt()
	// Close frees the engine. It must not be running.
	Close()
}

//go:embed prelude/*.js prelude/lazy/*.js prelude/library/*.js prelude/spindle/*.js
var preludeFiles embed.FS

// preludeScheme begins the names of the prelude's modules. A plugin's modules
// are named by their path, which never holds a colon.
const preludeScheme = "conclave:"

const bootModule = preludeScheme + "boot.js"

// quick is QuickJS behind vm.
type quick struct {
	vm      *quickjs.VM
	host    func(op, text string) string
	receive quickjs.Value
	loaded  bool
	zone    string // the name of the local time zone
}

// newQuick makes an engine whose scripts may hold at most heap bytes. It must be
// called before the process is confined: it reads the local time zone once.
func newQuick(heap int64) (*quick, error) {
	vm, err := quickjs.NewVM()
	if err != nil {
		return nil, fmt.Errorf("create the engine: %w", err)
	}
	q := &quick{vm: vm, zone: localZone()}
	vm.SetMemoryLimit(uintptr(heap))
	vm.SetCanBlock(false) // Atomics.wait would hold the whole worker
	if _, err := vm.Eval("new Date().getTimezoneOffset()", quickjs.EvalGlobal); err != nil {
		_ = vm.Close()
		return nil, fmt.Errorf("read the time zone: %w", err)
	}
	return q, nil
}

// localZone returns the name of the local time zone, UTC if it has none. It must
// be asked before the process is confined.
func localZone() string {
	names := []string{strings.TrimPrefix(os.Getenv("TZ"), ":")}
	if link, err := os.Readlink("/etc/localtime"); err == nil {
		_, name, _ := strings.Cut(link, "zoneinfo/")
		names = append(names, strings.TrimPrefix(name, "posix/"))
	}
	if text, err := os.ReadFile("/etc/timezone"); err == nil {
		names = append(names, strings.TrimSpace(string(text)))
	}
	for _, name := range names {
		if name == "" || name == "Local" {
			continue
		}
		if _, err := time.LoadLocation(name); err == nil {
			return name
		}
	}
	return "UTC"
}

func (q *quick) SetHost(host func(op, text string) string) { q.host = host }

func (q *quick) Load(author *loader) error {
	q.vm.SetModuleLoader(
		func(_ *quickjs.VM, name string) (string, error) {
			if path, ok := strings.CutPrefix(name, preludeScheme); ok {
				if q.loaded {
					return "", fmt.Errorf("no module %q", name)
				}
				text, err := preludeFiles.ReadFile("prelude/" + path)
				return string(text), err
			}
			return author.Source(name)
		},
		func(_ *quickjs.VM, base, specifier string) (string, error) {
			if !q.loaded {
				return preludeName(base, specifier), nil
			}
			return author.Resolve(base, specifier)
		},
	)
	err := q.vm.RegisterHostFunc("__host", func(args []any) (any, error) {
		if len(args) != 2 {
			return "", nil
		}
		op, _ := args[0].(string)
		text, _ := args[1].(string)
		switch op {
		case "part": // lazy.js
			part, err := preludeFiles.ReadFile("prelude/lazy/" + text + ".js")
			return string(part), err
		case "library": // the same
			library, err := preludeFiles.ReadFile("prelude/library/" + text + ".js")
			return string(library), err
		case "intl": // lazy/locale.js
			return "", intl.Register(q.vm, intl.TimeZone(q.zone))
		}
		return q.host(op, text), nil
	})
	if err != nil {
		return fmt.Errorf("register the host function: %w", err)
	}
	module, err := q.vm.EvalValue(fmt.Sprintf("import %q", bootModule), quickjs.EvalModule)
	if err != nil {
		return fmt.Errorf("evaluate the prelude: %w", err)
	}
	module.Free()
	if _, err := q.vm.ExecutePendingJobs(); err != nil {
		return fmt.Errorf("evaluate the prelude: %w", err)
	}
	return q.takeReceiver()
}

// takeReceiver takes the way in from the global object, so that no script can
// see or replace it.
func (q *quick) takeReceiver() error {
	name, err := q.vm.NewAtom("__receive")
	if err != nil {
		return fmt.Errorf("name the receiver: %w", err)
	}
	global := q.vm.GlobalObject()
	defer global.Free()
	if q.receive, err = q.vm.GetPropertyValue(global, name); err != nil {
		return fmt.Errorf("take the receiver: %w", err)
	}
	if _, err := q.vm.Eval("delete globalThis.__receive", quickjs.EvalGlobal); err != nil {
		return fmt.Errorf("hide the receiver: %w", err)
	}
	q.loaded = true
	return nil
}

// preludeName resolves an import of one prelude module by another.
func preludeName(base, specifier string) string {
	if strings.HasPrefix(specifier, preludeScheme) {
		return specifier
	}
	folder := ""
	if path, ok := strings.CutPrefix(base, preludeScheme+"spindle/"); ok && path != "" {
		folder = "spindle/"
	}
	switch {
	case strings.HasPrefix(specifier, "../"):
		return preludeScheme + specifier[3:]
	default:
		return preludeScheme + folder + strings.TrimPrefix(specifier, "./")
	}
}

func (q *quick) Call(op, text string) (string, error) {
	back, err := q.receive.Call(quickjs.UndefinedValue, op, text)
	if err != nil {
		return "", err
	}
	answer, _ := back.(string)
	return answer, nil
}

func (q *quick) Drain() (bool, error) {
	_, err := q.vm.ExecutePendingJobs()
	if err != nil && strings.Contains(err.Error(), "aborted draining") {
		return true, nil // a bound of the binding's own: the rest stays queued
	}
	return false, err
}

func (q *quick) Interrupt() { q.vm.Interrupt() }

func (q *quick) Close() {
	q.receive.Free()
	_ = q.vm.Close()
}
