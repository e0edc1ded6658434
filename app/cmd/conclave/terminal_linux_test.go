package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// atTerminal gives the program a terminal of its own (a pty) for input and
// errors; its results stay apart.
func (j *job) atTerminal() error {
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	fd := int(ours.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return err
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return err
	}
	theirs, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	j.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0} // /dev/tty is this one
	shown := j.err
	j.in, j.cmd.Stdin, j.cmd.Stderr = ours, theirs, theirs
	j.close = append(j.close, theirs, ours)
	go func() { _, _ = io.Copy(shown, ours) }() // ends when jobs.end closes the terminal
	return nil
}

// untilHidden waits until the terminal shows no more what is typed.
func (j *job) untilHidden() error {
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	late := time.After(patience)
	for {
		t, err := unix.IoctlGetTermios(int(j.in.(*os.File).Fd()), unix.TCGETS)
		if err != nil || t.Lflag&unix.ECHO == 0 {
			return err
		}
		select {
		case <-look.C:
		case <-late:
			return errors.New("the terminal still shows what is typed")
		}
	}
}

// mountSmall mounts a file system of that size ("4m") at dir, which only root
// may.
func mountSmall(dir, size string) (undo func(), err error) {
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=700,size="+size); err != nil {
		return nil, err
	}
	return func() { _ = unix.Unmount(dir, unix.MNT_DETACH) }, nil
}

func lock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }

const stopSignal = syscall.SIGSTOP
