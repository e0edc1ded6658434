package confine

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"

	"conclave/app/base/version"
	"conclave/app/plugin/sandbox"
)

// Defaults of a spec's limits.
const (
	// fileBytes is the largest file a plugin with a folder to write may make.
	fileBytes = 64 << 20
	// openFiles is enough for a program's libraries, streams and a few of its
	// own.
	openFiles = 256
)

// maxSpec bounds the spec that ReadSpec takes; a plugin's source may travel in
// its Input.
const maxSpec = 64 << 20

// order holds what a process is started with: the version of the Conclave that
// started it, the process of that, and its spec.
type order struct {
	Version string
	Host    int
	Spec    sandbox.Spec
}

// host is the process that this one was started by, as ReadSpec read it; 0 before.
var host int

// WriteSpec writes spec for the ReadSpec of a program of this version.
func WriteSpec(w io.Writer, spec sandbox.Spec) error {
	return json.NewEncoder(w).Encode(order{version.Version, os.Getpid(), spec})
}

// ReadSpec reads the spec that this process was started with, and closes the
// descriptor it came on. It blocks until the host has written it all, and is
// called once, first of all. A spec of another version's is refused: the sandbox that
// it describes may be others.
func ReadSpec() (sandbox.Spec, error) {
	f, err := specFile()
	if err != nil {
		return sandbox.Spec{}, fmt.Errorf("find the spec: this program is started by Conclave, not by hand: %w", err)
	}
	defer func() { _ = f.Close() }()
	var o order
	if err := json.NewDecoder(io.LimitReader(f, maxSpec)).Decode(&o); err != nil {
		return sandbox.Spec{}, fmt.Errorf("read the spec: this program is started by Conclave, not by hand: %w", err)
	}
	if o.Version != version.Version {
		return sandbox.Spec{}, fmt.Errorf("%s is of version %s, and the Conclave that started it of %s: "+
			"install Conclave again, so that its programs fit each other",
			version.Worker, version.Version, o.Version)
	}
	host = o.Host
	return o.Spec, nil
}

// Preface returns what a command is sent first on its standard input: the length
// of its Input on a line, and its Input.
func Preface(spec sandbox.Spec) []byte {
	return append(fmt.Appendf(nil, "%d\n", len(spec.Input)), spec.Input...)
}

// limits are the resource limits of a spec, with the defaults filled in.
type limits struct {
	memory    uint64 // bytes of data
	fileBytes uint64 // bytes of one written file
	files     uint64 // open files
}

// MemoryOf returns how many bytes of data a process of spec may have.
func MemoryOf(spec sandbox.Spec) int64 { return int64(min(limitsOf(spec).memory, math.MaxInt64/8)) }

// LargestFile returns how many bytes a file may have that a process of spec writes.
func LargestFile(spec sandbox.Spec) int64 {
	return int64(min(limitsOf(spec).fileBytes, math.MaxInt64/8))
}

func limitsOf(spec sandbox.Spec) limits {
	l := limits{memory: uint64(max(0, spec.Memory)), fileBytes: uint64(max(0, spec.FileBytes)), files: spec.Files}
	if l.memory == 0 {
		l.memory = sandbox.PythonMemory
		if spec.Kind == "js" {
			l.memory = sandbox.ScriptMemory
		}
	}
	if l.fileBytes == 0 && len(spec.Write) > 0 {
		l.fileBytes = fileBytes
	}
	if l.files == 0 {
		l.files = openFiles
	}
	return l
}
