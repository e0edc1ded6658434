// Package place says where paths lie: in which folder, and where the links in them lead. It names the
// files that are not yet whole, and removes those that will never be. What may be done there is
// decided elsewhere.
package place

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Inside reports whether path is in folder, or is it; links are not followed.
func Inside(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// Holds reports whether path is in folder, or is it, by any of its names: files with several,
// folders that are mounted twice, and letters that a disk takes for the same. Links are followed.
func Holds(folder, path string) bool {
	if Inside(folder, path) {
		return true
	}
	whole, err := os.Stat(folder)
	if err != nil {
		return false
	}
	for {
		if info, err := os.Stat(path); err == nil && os.SameFile(whole, info) {
			return true
		}
		above := filepath.Dir(path)
		if above == path {
			return false
		}
		path = above
	}
}

// Real follows the links of the longest part of an absolute path that exists, in
// the system's order: what ".." leaves is where a link led, not where it lies.
func Real(path string) string {
	volume := filepath.VolumeName(path)
	return RealIn(volume+string(filepath.Separator), path[len(volume):])
}

// RealIn is Real for a path in a folder in which no links are left to follow.
func RealIn(real, path string) string {
	gone := 0 // how long real was when it could not be read: nor can what is below
	for part := range strings.FieldsFuncSeq(path, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) }) {
		switch part {
		case ".":
		case "..":
			if real = filepath.Dir(real); len(real) < gone {
				gone = 0
			}
		default:
			real = filepath.Join(real, part)
			if gone > 0 {
				continue
			}
			if at, err := step(real); err == nil {
				real = at
			} else {
				gone = len(real)
			}
		}
	}
	return real
}

// step follows the link that a path may be, whose folder is real. Windows has further names of one file,
// which EvalSymlinks resolves.
func step(path string) (string, error) {
	if runtime.GOOS == "windows" {
		return filepath.EvalSymlinks(path)
	}
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return path, err
	}
	return filepath.EvalSymlinks(path)
}
