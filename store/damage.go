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
	"strings"
	"time"

	"conclave/app/fault"
)

// Two small files beside the store remember damage between runs.
const (
	// markName says that a damaged store was set aside and nobody has chosen yet
	// what to go on with. While it is there, and no conclave.db, Open refuses.
	markName = "conclave.db.recover"
	// suspectName says that a run met damage, so the next Open looks at every
	// page.
	suspectName = "conclave.db.suspect"
)

// mark is what markName holds.
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
	name, err := moveAside(dir, "damaged", now)
	if err != nil {
		return fault.Wrap(fault.Damaged, "store.open",
			"The store in "+dir+" is damaged, and could not be set aside.",
			"Nothing was changed. Check that you may write in the folder, and start again.", errors.Join(cause, err))
	}
	log.Error("A damaged store was set aside.", "file", name, "err", cause)
	why := strings.TrimPrefix(cause.Error(), errDamaged.Error()+": ")
	m := mark{SetAside: name, Why: why, At: now}
	raw, err := json.Marshal(m)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, markName), raw, 0o600)
	}
	if err != nil {
		log.Warn("The choice of a copy could not be marked.", "err", err)
	}
	f := damagedFault(ctx, dir, m)
	f.Err = cause
	return f
}

// moveAside gives the store's file a name that says why and when, and returns
// the name.
func moveAside(dir, why string, now time.Time) (string, error) {
	base := fileName + "." + why + "-" + stamp(now)
	name := base
	for n := 2; ; n++ {
		if _, err := os.Lstat(filepath.Join(dir, name)); errors.Is(err, fs.ErrNotExist) {
			break
		}
		name = fmt.Sprintf("%s-%d", base, n)
	}
	if err := os.Rename(filepath.Join(dir, fileName), filepath.Join(dir, name)); err != nil {
		return "", err
	}
	return name, syncFolder(dir)
}

func damagedFault(ctx context.Context, dir string, m mark) *fault.Error {
	f := fault.New(fault.Damaged, "store.open",
		fmt.Sprintf("The store in %s is damaged (%s). It was set aside as %s; nothing was deleted.", dir, m.Why, m.SetAside), "")
	copies, err := Recover(ctx, dir)
	for _, c := range copies {
		if c.Problem == "" {
			f.Hint = fmt.Sprintf("The newest good copy is from %s and holds %d chats: conclave restore %s",
				c.Made.Local().Format("2 January 2006, 15:04"), c.Conversations, c.Path)
			return f
		}
	}
	f.Err = err
	f.Hint = "There is no good copy to go back to. Start Conclave again to begin with an empty store."
	if err := clearMarks(dir); err != nil {
		f.Hint = "There is no good copy to go back to. To begin with an empty store, remove " + filepath.Join(dir, markName) + " and start again."
	}
	return f
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
