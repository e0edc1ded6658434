package desktop

import (
	"bufio"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"strings"
	"syscall"
)

// forgetStart returns the memory that the start took: heap that is free, and the parts of this
// program's file. The start reads most of the file and needs little of it again; the
// kernel keeps what was read mapped. What is used again is mapped again, from the page cache.
func forgetStart(log *slog.Logger) {
	if err := forgetFile(); err != nil {
		log.Debug("the program's start stays in memory", "err", err)
	}
}

// mapping is a part of the memory that shows a file.
type mapping struct {
	from, to uintptr
	ours     bool // it shows this program's file as it is, and nobody may write to it
}

// forgetFile forgets the mappings that are as the file is, last of all: a garbage collection reads
// megabytes of the file.
func forgetFile() error {
	own, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return err
	}
	forgotten, err := asFile(own)
	if err != nil {
		return err
	}
	debug.FreeOSMemory()
	for _, m := range forgotten {
		if _, _, err := syscall.Syscall(syscall.SYS_MADVISE, m.from, m.to-m.from, syscall.MADV_DONTNEED); err != 0 {
			return err
		}
	}
	return nil
}

// asFile returns the mappings that are as the file at the path is. One that the linker wrote
// addresses into when the program began, as that of the table of C functions, is not: the
// kernel counts such pages as anonymous, or as swapped out.
func asFile(path string) ([]mapping, error) {
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return nil, err
	}
	defer maps.Close() //nolint:errcheck // read only
	var found []mapping
	var m mapping
	lines := bufio.NewScanner(maps)
	for lines.Scan() {
		line := lines.Text()
		name, value, _ := strings.Cut(line, ":")
		if name == "Anonymous" || name == "Swap" { // in this order
			m.ours = m.ours && strings.TrimSpace(value) == "0 kB"
			if name == "Swap" && m.ours {
				found = append(found, m)
			}
			continue
		}
		var from, to uintptr
		var rights string
		if _, err := fmt.Sscanf(line, "%x-%x %4s ", &from, &to, &rights); err == nil {
			m = mapping{from, to, strings.HasSuffix(line, " "+path) && !strings.Contains(rights, "w")}
		}
	}
	return found, lines.Err()
}
