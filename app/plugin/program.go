package plugin

import (
	"bufio"
	"debug/elf"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"conclave/app/base/place"
	"conclave/app/gate"
)

// maxInterpreters bounds how many interpreters name one another: as many as Linux follows.
const maxInterpreters = 4

// maxFirstLine limits how much of a script's first line Linux reads, in bytes (BINPRM_BUF_SIZE).
const maxFirstLine = 256

// ProgramFiles returns the files that starting the program at path executes, links resolved:
// itself, the loader that it names, and of a script what its first line names. What the program
// starts by itself is not among them, nor is a file that nobody may execute: whoever can write a
// script could have it name a person's key, and read that.
func ProgramFiles(path string) []string {
	var files []string
	for range maxInterpreters + 1 {
		real, err := filepath.EvalSymlinks(path)
		if err != nil || slices.Contains(files, real) || len(files) > 0 && !executable(real) {
			break
		}
		files = append(files, real)
		interpreter, named := interpretersOf(real)
		for _, more := range named {
			if real, err := filepath.EvalSymlinks(more); err == nil && !slices.Contains(files, real) && executable(real) {
				files = append(files, real)
			}
		}
		if interpreter == "" {
			break
		}
		path = interpreter
	}
	return files
}

// executable reports whether a path is of a file that may be executed.
func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && gate.Executable(info)
}

// interpretersOf returns what the system starts in place of a file (next; empty where it starts
// the file itself) and what else that needs.
func interpretersOf(path string) (next string, more []string) {
	file, err := os.Open(path) //nolint:gosec // a program that the person has or granted
	if err != nil {
		return "", nil
	}
	defer func() { _ = file.Close() }()
	line, _ := bufio.NewReader(io.LimitReader(file, maxFirstLine)).ReadString('\n')
	line, script := strings.CutPrefix(line, "#!")
	if !script {
		if loader := loaderOf(file); loader != "" {
			more = []string{loader}
		}
		return "", more
	}
	words := strings.Fields(line)
	if len(words) == 0 || !filepath.IsAbs(words[0]) {
		return "", nil
	}
	if filepath.Base(words[0]) != "env" {
		return words[0], nil
	}
	// env starts the first word that is no option and no variable.
	for _, word := range words[1:] {
		if strings.HasPrefix(word, "-") || strings.Contains(word, "=") {
			continue
		}
		if found, ok := gate.ProgramFile(word, "/"); ok {
			return found, append(ProgramFiles(words[0]), words[0])
		}
		break
	}
	return words[0], nil
}

// Loader returns the loader that the ELF program at path names; "" where it names none, or is no
// such program.
func Loader(path string) string {
	file, err := os.Open(path) //nolint:gosec // a program that the person has or granted
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }()
	return loaderOf(file)
}

func loaderOf(file *os.File) string {
	program, err := elf.NewFile(file)
	if err != nil {
		return ""
	}
	for _, segment := range program.Progs {
		if segment.Type == elf.PT_INTERP {
			name, err := io.ReadAll(io.LimitReader(segment.Open(), 4096))
			if err != nil {
				return ""
			}
			return strings.TrimRight(string(name), "\x00")
		}
	}
	return ""
}

// pathPrograms returns what a process with all programs of the PATH may start: its folders, and
// the files outside of them to which links in them lead (alternatives, a vendor's folder). Of a script
// that is found so, the programs in its folder are among them, since such a one starts those (pyenv).
// Links in a folder that the plugin may write are not followed: it could have made them.
func pathPrograms(path string, writes []string) (folders, files []string) {
	folders = foldersOf(path)
	var within []string // the folders, links resolved
	for _, dir := range folders {
		within = append(within, place.Real(dir))
	}
	inPath := func(path string) bool {
		return slices.ContainsFunc(within, func(dir string) bool { return place.Inside(dir, path) })
	}
	written := func(path string) bool {
		return slices.ContainsFunc(writes, func(folder string) bool { return place.Inside(folder, path) })
	}
	add := func(path string) {
		for _, file := range ProgramFiles(path) {
			if !inPath(file) && !slices.Contains(files, file) {
				files = append(files, file)
			}
		}
	}
	var vendors []string // folders of scripts that were found by a link
	for _, dir := range within {
		if written(dir) {
			continue
		}
		for _, real := range linksOf(dir) {
			if inPath(real) || slices.Contains(files, real) || !executable(real) {
				continue
			}
			add(real)
			vendor := filepath.Dir(real)
			if startsWith(real, scriptMagic) && !written(vendor) && !slices.Contains(vendors, vendor) {
				vendors = append(vendors, vendor)
			}
		}
	}
	for _, vendor := range vendors {
		for _, program := range programsIn(vendor) {
			add(program)
		}
	}
	return folders, files
}

// foldersOf returns the folders of a PATH that are there.
func foldersOf(path string) (folders []string) {
	for _, dir := range filepath.SplitList(path) {
		if filepath.IsAbs(dir) && isThere(dir) && !slices.Contains(folders, dir) {
			folders = append(folders, dir)
		}
	}
	return folders
}

// linksOf returns where the links in a folder lead.
func linksOf(dir string) (targets []string) {
	entries, _ := os.ReadDir(dir) // one that cannot be listed leads nowhere
	for _, entry := range entries {
		if entry.Type()&os.ModeSymlink == 0 {
			continue
		}
		if real, err := filepath.EvalSymlinks(filepath.Join(dir, entry.Name())); err == nil {
			targets = append(targets, real)
		}
	}
	return targets
}

// maxVendor bounds how many entries of a vendor's folder are looked at.
const maxVendor = 512

// What scripts and programs of Unix begin with. On some disks every file may be executed, and most of
// them are neither.
const scriptMagic, programMagic = "#!", elf.ELFMAG

// programsIn returns the programs that lie in a folder. Links in it are not followed.
func programsIn(dir string) (programs []string) {
	entries, _ := os.ReadDir(dir) // one that cannot be listed has none that could be named
	for _, entry := range entries[:min(len(entries), maxVendor)] {
		path := filepath.Join(dir, entry.Name())
		if entry.Type().IsRegular() && executable(path) && (startsWith(path, scriptMagic) || startsWith(path, programMagic)) {
			programs = append(programs, path)
		}
	}
	return programs
}

// startsWith reports whether a file begins so.
func startsWith(path, magic string) bool {
	file, err := os.Open(path) //nolint:gosec // a program that the person has
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	begins := make([]byte, len(magic))
	_, err = io.ReadFull(file, begins)
	return err == nil && string(begins) == magic
}
