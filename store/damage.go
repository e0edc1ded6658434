package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"conclave/app/base/fault"
)

// Two small files next to the store remember damage between runs.
const (
	// markName says that a damaged store was set aside and nobody has chosen yet
	// what to go on with. While it is there, and no conclave.db, Open refuses.
	markName = "conclave.db.recover"
	// suspectName says that a run met damage, so the next Open looks at every
	// page.
	suspectName = "conclave.db.suspect"
)

// What restoring a copy leaves next to the store.
const (
	// restoringName is the copy before it becomes the store.
	restoringName = "conclave.db.restoring"
	// replacedName begins the name of a store that a copy replaced.
	replacedName = "conclave.db.replaced-"
)

// leftover refuses a folder that has no store, but what a restore left that did
// not end: an empty store there would hide the person's chats.
func leftover(dir string) error {
	const op = "store.open"
	entries, err := os.ReadDir(dir) // sorted, so replaced ones by the time in their names
	if err != nil {
		return err
	}
	none := fault.New(fault.Damaged, op, "There is no store in "+dir+".", "")
	for _, e := range slices.Backward(entries) {
		if !strings.HasPrefix(e.Name(), replacedName) || strings.HasSuffix(e.Name(), ".new") {
			continue
		}
		path := filepath.Join(dir, e.Name())
		c := checkCopy(path)
		if c.Problem == "" {
			none.Message += fmt.Sprintf(" One with %s was set aside when a copy was restored: %s.",
				count(c.Conversations, "chat"), e.Name())
			none.Hint = "To go back to it: conclave restore " + path
			return none
		}
		if none.Hint == "" {
			none.Message += " " + e.Name() + " was set aside when a copy was restored, and cannot be used: " + c.Problem + "."
			none.Hint = "Restore a copy with conclave restore, or move that file away to begin with an empty store."
		}
	}
	restoring := filepath.Join(dir, restoringName)
	if _, err := os.Lstat(restoring); err == nil && none.Hint == "" {
		none.Message += " Restoring a copy was cut off before it was done."
		none.Hint = "Restore the copy again with conclave restore, or remove " + restoring + " to begin with an empty store."
	}
	if none.Hint == "" {
		return nil
	}
	return none
}

// mark is the content of the file markName.
type mark struct {
	SetAside string    `json:"set_aside"` // the damaged file's name now
	Why      string    `json:"why"`
	At       time.Time `json:"at"`
}

// stamp is the time as it stands in file names.
func stamp(t time.Time) string { return t.UTC().Format("20060102T150405Z") }

// setAside renames the damaged store so that nothing writes over it, and returns
// the Damaged error for a person. Where there is a good copy the choice is
// theirs, and Open refuses until it is made; where there is none, the next Open
// begins with an empty store.
func setAside(ctx context.Context, dir string, now time.Time, cause error, log *slog.Logger) error {
	name := freeName(dir, fileName+".damaged-"+stamp(now))
	m := mark{SetAside: name, Why: strings.TrimPrefix(cause.Error(), errDamaged.Error()+": "), At: now}
	// The mark comes first: a program that ends in between leaves no folder that
	// looks like a new one.
	err := writeMark(dir, m)
	if err == nil {
		err = os.Rename(filepath.Join(dir, fileName), filepath.Join(dir, name))
	}
	if err != nil {
		return fault.Wrap(fault.Damaged, "store.open",
			"The store in "+dir+" is damaged, and could not be set aside.",
			"Nothing was changed. Check that you may write in the folder, and start again.", errors.Join(cause, err))
	}
	if err := syncFolder(dir); err != nil {
		log.Warn("The folder of the store could not be synced.", "err", err)
	}
	log.Error("A damaged store was set aside.", "file", name, "err", cause)
	f := damagedFault(ctx, dir, m)
	f.Err = cause
	return f
}

// freeName returns base, or base with a number, so that no file of dir has the
// name.
func freeName(dir, base string) string {
	name := base
	for n := 2; ; n++ {
		if _, err := os.Lstat(filepath.Join(dir, name)); errors.Is(err, fs.ErrNotExist) {
			return name
		}
		name = fmt.Sprintf("%s-%d", base, n)
	}
}

func damagedFault(ctx context.Context, dir string, m mark) *fault.Error {
	f := fault.New(fault.Damaged, "store.open",
		fmt.Sprintf("The store in %s is damaged (%s). It was set aside as %s; nothing was deleted.", dir, m.Why, m.SetAside),
		"")
	copies, err := Recover(ctx, dir)
	for _, c := range copies {
		if c.Whole() {
			f.Hint = fmt.Sprintf("The newest good copy is from %s and holds %s: conclave restore %s",
				c.Made.Local().Format("2 January 2006, 15:04"), count(c.Conversations, "chat"), c.Path)
			return f
		}
	}
	f.Err = err
	f.Hint = "There is no good copy to go back to. Start Conclave again to begin with an empty store."
	if err := clearMarks(dir); err != nil {
		f.Hint = "There is no good copy to go back to. To begin with an empty store, remove " +
			filepath.Join(dir, markName) + " and start again."
	}
	return f
}

// writeMark remembers that a choice is open.
func writeMark(dir string, m mark) error {
	raw, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, markName), raw, 0o600)
}

// readMark returns the open choice, if there is one.
func readMark(dir string) (mark, bool) {
	raw, err := os.ReadFile(filepath.Join(dir, markName))
	if err != nil {
		return mark{}, false
	}
	var m mark
	if json.Unmarshal(raw, &m) != nil || m.SetAside == "" {
		m = mark{SetAside: fileName + ".damaged-…", Why: "its details were lost"}
	}
	return m, true
}

// suspect remembers that damage was met.
func suspect(dir string) error { return os.WriteFile(filepath.Join(dir, suspectName), nil, 0o600) }

func suspected(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, suspectName))
	return err == nil
}

// clearMarks forgets damage: a good store is in place, or there is none to go
// back to.
func clearMarks(dir string) error {
	var all error
	for _, name := range []string{markName, suspectName} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			all = errors.Join(all, err)
		}
	}
	return all
}
