package undo

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// clone makes to a copy of from that shares its blocks, where the file system can.
func clone(to, from *os.File) error { return unix.IoctlFileClone(int(to.Fd()), int(from.Fd())) }

// syncAll writes everything of a file's file system to the disk.
func syncAll(file *os.File) error { return unix.Syncfs(int(file.Fd())) }

// inode returns the number of a file, and when it last changed, which no program can set.
func inode(info fs.FileInfo) (number uint64, changed int64) {
	at, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0
	}
	return at.Ino, at.Ctim.Nano()
}
