package store

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// fullDisk are the system's words for "no room".
var fullDisk = []syscall.Errno{
	windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, windows.ERROR_DISK_QUOTA_EXCEEDED,
}

// fileLimit are its words for a file that may not grow further, on a disk that has room.
var fileLimit = []syscall.Errno{windows.ERROR_FILE_TOO_LARGE}
