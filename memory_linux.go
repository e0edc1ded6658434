package main

import (
	"bufio"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"syscall"
)

// forgetStart takes the parts of this program's file out of its memory. Its start reads
// most of the file, of which little is used again, and the kernel keeps what was read mapped.
// What is used again is mapped again, from the page cache.
func forgetStart(log *slog.Logger) {
	if err := forgetFile(); err != nil {
		log.Debug("the program's start stays in memory", "err", err)
	}
}

func forgetFile() error {
	own, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return err
	}
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return err
	}
	defer maps.Close() //nolint:errcheck // read only
	lines := bufio.NewScanner(maps)
	for lines.Scan() {
		var from, to uintptr
		var rights string
		line := lines.Text()
		if _, err := fmt.Sscanf(line, "%x-%x %s", &from, &to, &rights); err != nil {
			return err
		}
		if !strings.HasSuffix(line, " "+own) || strings.Contains(rights, "w") {
			continue
		}
		if _, _, err := syscall.Syscall(syscall.SYS_MADVISE, from, to-from, syscall.MADV_DONTNEED); err != 0 {
			return err
		}
	}
	return lines.Err()
}
