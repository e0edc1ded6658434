//go:build !windows

package store

import "syscall"

// fullDisk are the system's words for "no room".
var fullDisk = []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT}

// fileLimit are its words for a file that may not grow further, on a disk that has room.
var fileLimit = []syscall.Errno{syscall.EFBIG}
