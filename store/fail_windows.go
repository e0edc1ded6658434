package store

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// fullDisk are the system's words for "no room".
var fullDisk = []syscall.Errno{
	windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, windows.ERROR_DISK_QUOTA_EXCEEDED,
	windows.ERROR_FILE_TOO_LARGE,
}
