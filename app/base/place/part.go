package place

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// partEnding ends the name of a part.
const partEnding = ".conclave-part"

// process distinguishes this process from an earlier one with the same number.
var process = strconv.FormatInt(time.Now().UnixNano(), 36)

// parts numbers them: two writes of one file may overlap.
var parts atomic.Uint64

// longestPart limits how much of a file's name its part has, in bytes: a name may have 255.
const longestPart = 160

// Part returns a name for the part of a file: what is written in the folder of the file, and gets
// the file's name once it is whole. Each call returns another name. It is safe for concurrent use.
func Part(name string) string {
	dir, base := filepath.Split(name)
	base = strings.ToValidUTF8(base[:min(len(base), longestPart)], "")
	return fmt.Sprintf("%s%s.%d-%s-%d%s", dir, base, os.Getpid(), process, parts.Add(1), partEnding)
}

// IsPart reports whether a file has the name of a part.
func IsPart(name string) bool { return strings.HasSuffix(name, partEnding) }

// IsLeft reports whether a file has the name of a part whose process has ended: it will never be whole.
func IsLeft(name string) bool {
	name, ok := strings.CutSuffix(name, partEnding)
	if !ok {
		return false
	}
	fields := strings.Split(name[strings.LastIndex(name, ".")+1:], "-")
	pid, err := strconv.Atoi(fields[0])
	if err != nil || pid <= 0 {
		return false
	}
	if pid == os.Getpid() {
		return len(fields) == 3 && fields[1] != process
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return true // Windows: there is none
	}
	defer p.Release() //nolint:errcheck // nothing was started
	return errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// Sweep removes the parts in a folder that ended processes left there. What cannot be removed or
// read stays until the next time.
func Sweep(folder string) {
	dir, err := os.Open(folder)
	if err != nil {
		return
	}
	defer dir.Close() //nolint:errcheck // read only
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if IsLeft(name) {
			_ = os.Remove(filepath.Join(folder, name))
		}
	}
}
