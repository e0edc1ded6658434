package confine

import (
	"debug/elf"
	"io"
	"strings"
)

// loaderOf returns the ELF loader that a program names, or "" when it is static
// or no ELF file.
func loaderOf(program string) string {
	f, err := elf.Open(program)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	for _, segment := range f.Progs {
		if segment.Type != elf.PT_INTERP {
			continue
		}
		name, err := io.ReadAll(io.LimitReader(segment.Open(), 4096))
		if err != nil {
			return ""
		}
		return strings.TrimRight(string(name), "\x00")
	}
	return ""
}
