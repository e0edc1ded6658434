package core

import "golang.org/x/sys/unix"

// flushInput throws away what was typed at the terminal fd and not read yet, an
// unfinished line among it.
func flushInput(fd int) { _ = unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }
