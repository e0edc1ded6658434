package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"conclave/app/base/fault"
)

// lockName is the file whose lock is the right to the store. It is never
// removed, since another process may be waiting on it; while it is locked it
// says who has it.
const lockName = "conclave.lock"

// lockPoll is the interval in which a waiting Open looks again; leastWait is the time that even
// one waits that should not wait: a command that is just ending, or somebody
// asking for the owner, holds the lock for some milliseconds.
const (
	lockPoll  = 5 * time.Millisecond
	leastWait = 50 * time.Millisecond
)

// Owner describes which process has a store open.
type Owner struct {
	PID     int       `json:"pid"`
	Program string    `json:"program"`
	Since   time.Time `json:"since"`
}

func newOwner(program string, now time.Time) Owner {
	if program == "" {
		program = filepath.Base(os.Args[0])
	}
	return Owner{PID: os.Getpid(), Program: program, Since: now}
}

// OwnerOf returns the process that has the store in dir open, and whether any
// has and has said who it is.
func OwnerOf(dir string) (Owner, bool) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR, 0)
	if err != nil {
		return Owner{}, false
	}
	defer f.Close() //nolint:errcheck // nothing is written; closing gives the lock back
	if free, err := tryLock(f); free || err != nil {
		return Owner{}, false
	}
	return readOwner(f)
}

func readOwner(f *os.File) (Owner, bool) {
	var o Owner
	// An owner is some 100 bytes; a longer file is none of ours.
	raw, err := io.ReadAll(io.NewSectionReader(f, 0, 4096))
	if err != nil || json.Unmarshal(raw, &o) != nil {
		return Owner{}, false
	}
	return o, o.PID != 0
}

// lockFile is the held lock.
type lockFile struct{ f *os.File }

// acquire takes the lock of the store in dir, waiting up to wait for another
// process. The kind is Locked when that was not enough.
func acquire(ctx context.Context, dir string, wait time.Duration, me Owner) (*lockFile, error) {
	const op = "store.lock"
	path := filepath.Join(dir, lockName)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		if _, there := os.Lstat(path); there == nil && !isFull(err) && !errors.Is(err, syscall.EROFS) {
			return nil, fault.Wrap(fault.Unavailable, op,
				"The file "+path+", which keeps two Conclaves out of one store, cannot be opened: "+plainCause(err)+".",
				"Check its owner and permissions; while no Conclave runs, it can be moved away.", err)
		}
		return nil, explain(op, dir, err)
	}
	deadline := time.NewTimer(max(wait, leastWait))
	defer deadline.Stop()
	poll := time.NewTicker(lockPoll)
	defer poll.Stop()
	for {
		got, err := tryLock(f)
		if err != nil {
			_ = f.Close()
			return nil, fault.Wrap(fault.Unavailable, op, "The data folder "+dir+" is on a file system that cannot lock files.",
				"Name a folder on a local disk with --data.", err)
		}
		if got {
			break
		}
		select {
		case <-poll.C:
		case <-deadline.C:
			return nil, locked(op, dir, f)
		case <-ctx.Done():
			_ = f.Close()
			return nil, fmt.Errorf("wait for the store in %s: %w", dir, context.Cause(ctx))
		}
	}
	l := &lockFile{f}
	if err := l.sign(me); err != nil {
		l.release()
		return nil, explain(op, dir, err)
	}
	return l, nil
}

// sign writes the owner into the lock file. A full disk does not matter here:
// the lock holds without a name.
func (l *lockFile) sign(me Owner) error {
	raw, err := json.Marshal(me)
	if err != nil {
		return err
	}
	if err := l.f.Truncate(0); err != nil {
		return err
	}
	if _, err := l.f.WriteAt(raw, 0); err != nil && !isFull(err) {
		return err
	}
	return nil
}

// release gives the lock back.
func (l *lockFile) release() {
	_ = l.f.Truncate(0) // the name only; the lock goes with the file
	_ = l.f.Close()
}

// heldBy returns the error of a store file that another program has open: the Conclave that owns
// its folder, as far as the lock file names it.
func heldBy(op, path string) error {
	f, err := os.Open(filepath.Join(filepath.Dir(path), lockName))
	if err != nil {
		return fault.New(fault.Locked, op, "Another program has "+path+" open.", "Close it and try again.")
	}
	return locked(op, filepath.Dir(path), f)
}

// locked says who has the store, and closes f.
func locked(op, dir string, f *os.File) error {
	defer f.Close() //nolint:errcheck // nothing is written
	who := "Another Conclave"
	if o, ok := readOwner(f); ok {
		who = fmt.Sprintf("Another Conclave (%s, process %d, since %s)", o.Program, o.PID, o.Since.Local().Format("15:04"))
		if o.PID == os.Getpid() {
			who = "This Conclave"
		}
	}
	return fault.New(fault.Locked, op, who+" has the data folder "+dir+" open.",
		"Close it and try again, or name another folder with --data.")
}
