//go:build !windows

package store

import "syscall"

// fullDisk are the system's words for "no room".
var fullDisk = []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}
