package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"conclave/app/base/fault"

	"go.etcd.io/bbolt"
)

const (
	copiesName = "backups"
	// keptCopies is the number of copies of a kind: five days of use, so that
	// damage noticed late still has an older copy, and at most five times the
	// store's size on disk.
	keptCopies = 5
	// copyEvery is the age from which a new daily copy is due. It is a little less
	// than a day, so that who starts Conclave each morning gets one each morning.
	copyEvery = 20 * time.Hour
)

// Copy is one copy of the store that could be gone back to.
type Copy struct {
	Path          string    `json:"path"`
	Made          time.Time `json:"made"`
	Size          int64     `json:"size"` // bytes
	Version       uint64    `json:"version"`
	Conversations int       `json:"conversations"`
	Problem       string    `json:"problem,omitempty"` // why it cannot be used; empty when it is good

	// Unreadable counts the records that cannot be read. The others can be used.
	Unreadable int `json:"unreadable,omitempty"`
}

// Whole reports whether all of the copy can be used.
func (c Copy) Whole() bool { return c.Problem == "" && c.Unreadable == 0 }

// Recover lists the copies of the store in dir, newest first, each checked from
// end to end. It needs no open store.
func Recover(ctx context.Context, dir string) ([]Copy, error) {
	files, err := copyFiles(dir, "", time.Now())
	if err != nil {
		return nil, explain("store.recover", dir, err)
	}
	copies := make([]Copy, 0, len(files))
	for _, f := range slices.Backward(files) {
		if ctx.Err() != nil {
			return copies, fmt.Errorf("look at the copies in %s: %w", dir, context.Cause(ctx))
		}
		copies = append(copies, checkCopy(f.path))
	}
	return copies, nil
}

// newestWhole returns the newest copy in dir that is whole, other than the one at path.
func newestWhole(dir, path string) (Copy, bool) {
	files, err := copyFiles(dir, "", time.Now())
	if err != nil {
		return Copy{}, false
	}
	for _, f := range slices.Backward(files) {
		if c := checkCopy(f.path); f.path != path && c.Whole() {
			return c, true
		}
	}
	return Copy{}, false
}

// RestoreOptions say what is restored.
type RestoreOptions struct {
	// LeaveRights keeps the present store's Rights in place of the copy's; one that cannot be
	// read has none.
	LeaveRights bool
	// Seen are the copy's Rights, as they were looked at. One that has others by now is
	// refused (kind Conflict). nil when nobody looked.
	Seen *Rights
}

// Restored is the result of a restore.
type Restored struct {
	Replaced   string // the file that the store which was there is now; empty where there was none
	Media      MediaReport
	Unreadable int // records of the copy that cannot be read
}

// RestoreCopy makes the copy at path the store of dir, after checking it, with the
// media files that are in it. The present store, if there is one, is set aside and not
// deleted. path may be any whole store file, such as one that [Store.Backup] wrote. No
// process may have the store open (kind Locked); a copy that cannot be used, or that has
// unreadable records while another copy is whole, has the kind Damaged.
func RestoreCopy(ctx context.Context, dir, path string, now time.Time, o RestoreOptions) (Restored, error) {
	const op = "store.restore"
	none := Restored{}
	if err := MakeFolder(dir); err != nil {
		return none, err
	}
	lock, err := acquire(ctx, dir, 0, newOwner("restoring a copy", now))
	if err != nil {
		return none, err
	}
	defer lock.release()
	present, there, err := locate(dir)
	if err != nil {
		return none, err
	}
	c := checkCopy(path)
	if c.Problem != "" {
		return none, fault.New(fault.Damaged, op, fmt.Sprintf("The copy %s cannot be used: %s.", path, c.Problem),
			"Choose another copy. Nothing was changed.")
	}
	if c.Unreadable > 0 {
		if whole, ok := newestWhole(dir, path); ok {
			return none, fault.New(fault.Damaged, op,
				fmt.Sprintf("In the copy %s, %s cannot be read. Nothing was changed. The newest copy that is whole holds %s.", path,
					count(c.Unreadable, "record"), count(whole.Conversations, "chat")),
				"Restore that one: conclave restore "+whole.Path)
		}
	}
	temp := filepath.Join(filepath.Dir(present), restoringName)
	done := Restored{Unreadable: c.Unreadable}
	err = copyFile(ctx, path, temp)
	if err == nil && o.Seen != nil {
		var now Rights
		if now, err = ReadRights(ctx, temp); err == nil && !reflect.DeepEqual(now, *o.Seen) {
			err = fault.New(fault.Conflict, op, "The copy "+path+" was changed while it was looked at.",
				"Restore it again. Nothing was changed.")
		}
	}
	if err == nil && o.LeaveRights {
		from := ""
		if there && checkCopy(present).Problem == "" {
			from = present
		}
		err = leaveRights(temp, from)
	}
	if err == nil {
		err = changeFile(temp, newLineage) // its history is a new one
	}
	if err == nil {
		done.Media, err = unpackMedia(ctx, dir, temp, now)
	}
	if err != nil {
		_ = os.Remove(temp)
		return none, explain(op, dir, err)
	}
	if c := checkCopy(temp); c.Problem != "" {
		_ = os.Remove(temp)
		return none, fault.New(fault.Damaged, op, "The copy changed while it was read: "+c.Problem+".",
			"Check the disk. Nothing was changed.")
	}
	if there {
		if checkCopy(present).Problem == "" {
			err = takeIn(present, func() time.Time { return now })
		}
		if err == nil {
			done.Replaced, err = keepReplaced(dir, present, now)
		}
	}
	if err == nil {
		err = install(dir, temp, present)
	}
	if err != nil {
		_ = os.Remove(temp)
		return none, explain(op, dir, err)
	}
	return done, nil
}

// install makes temp the store of dir, in one step. While it is under way there is always
// a store.
func install(dir, temp, path string) error {
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	return errors.Join(clearMarks(dir), syncFolder(filepath.Dir(path)))
}

// keepReplaced gives the store's file a second name in dir, or copies it where the file
// system knows one name a file only. It returns that name.
func keepReplaced(dir, path string, now time.Time) (string, error) {
	second := filepath.Join(dir, freeName(dir, replacedName+stamp(now)))
	if err := os.Link(path, second); err != nil {
		if err := copyFile(context.Background(), path, second+".new"); err != nil { // not ended half-way
			return "", err
		}
		if err := os.Rename(second+".new", second); err != nil {
			return "", errors.Join(err, os.Remove(second+".new"))
		}
	}
	return second, syncFolder(dir)
}

// checkCopy checks one copy: its pages, and its records.
func checkCopy(path string) Copy {
	c := Copy{Path: path}
	info, err := os.Stat(path)
	if err != nil {
		c.Problem = plainCause(err)
		return c
	}
	c.Size, c.Made = info.Size(), info.ModTime()
	if at, ok := madeAt(path); ok {
		c.Made = at
	}
	var l layout
	db, _, err := openFile(path, true)
	if err == nil {
		err = checkPages(db)
		if err == nil {
			err = guarded(func() error {
				return db.View(func(tx *bbolt.Tx) error {
					var ok bool
					if l, ok = layoutOf(tx); !ok {
						return fmt.Errorf("%w: it does not say its version", errDamaged)
					}
					c.Version = l.written
					c.Conversations = bucket(tx, bucketConversations).Stats().KeyN
					c.Unreadable = unreadableRecords(tx)
					return nil
				})
			})
		}
		err = errors.Join(err, db.Close())
	}
	switch {
	case err != nil:
		c.Problem = strings.TrimPrefix(plainCause(err), errDamaged.Error()+": ")
	case l.newer(false):
		c.Problem = fmt.Sprintf("a newer Conclave made it (layout %d, this one knows %d)", c.Version, Layout)
	}
	return c
}

// plainCause is a file error without the operation and the path.
func plainCause(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}

// jsonRecords are the buckets whose values are JSON, one record each.
var jsonRecords = []kind{
	bucketConversations, bucketMessages, bucketCalls, bucketSettings, bucketPluginCache, bucketPluginState, bucketGrants,
	bucketApprovals, bucketPending, bucketTrash, bucketUses, bucketRegistrations, bucketSpending, bucketActivity,
	bucketActivityDetails, bucketCouncils, bucketCouncilRuns, bucketCouncilSteps, bucketVariableAuthors,
	bucketPrompts,
}

// unreadableRecords counts the records that are no JSON any more.
func unreadableRecords(tx *bbolt.Tx) (n int) {
	for _, name := range jsonRecords {
		_ = each(tx, name, func(_, v []byte) error {
			if !json.Valid(v) {
				n++
			}
			return nil
		})
	}
	return n
}

// copyOf is one file in the folder of copies.
type copyOf struct {
	path   string
	number int // of copies, in the order in which they were made; 0 where an earlier Conclave made it
	at     time.Time
}

// Names of copies are conclave-[vN-]NNNNNN-STAMP.db. The number says which is newer: a
// clock can be wrong, and be set back. Copies of an earlier Conclave have none, and are
// older than those that have; among them the time says it, unless it is still to come.
const copyNumber = "%06d"

// mostCopies bounds the number of a copy.
const mostCopies = 999_999_999

// copyOfName reads a copy's name.
func copyOfName(path string) (c copyOf, ok bool) {
	name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "conclave-"), ".db")
	parts := strings.Split(name, "-")
	c.path = path
	if c.at, ok = madeAt(path); !ok || len(parts) < 2 {
		return c, ok
	}
	if n, err := strconv.Atoi(parts[len(parts)-2]); err == nil && n > 0 && n <= mostCopies {
		c.number = n
	}
	return c, true
}

// madeAt reads the time out of a copy's name.
func madeAt(path string) (time.Time, bool) {
	name := strings.TrimSuffix(filepath.Base(path), ".db")
	at, err := time.Parse("20060102T150405Z", name[strings.LastIndexByte(name, '-')+1:])
	return at, err == nil
}

// copyFiles lists the copies of a kind, oldest first: "v" for those made before the store
// was brought forward, daily for the daily ones, and "" for all.
func copyFiles(dir, kind string, now time.Time) ([]copyOf, error) {
	entries, err := os.ReadDir(filepath.Join(dir, copiesName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var files []copyOf
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), "conclave-")
		if !ok || !strings.HasSuffix(rest, ".db") || kind != "" && strings.HasPrefix(rest, "v") != (kind == "v") {
			continue
		}
		if c, ok := copyOfName(filepath.Join(dir, copiesName, e.Name())); ok {
			files = append(files, c)
		}
	}
	toCome := func(c copyOf) int { // sorts first
		if c.number == 0 && c.at.After(now.Add(copyEvery)) {
			return 0
		}
		return 1
	}
	slices.SortFunc(files, func(a, b copyOf) int {
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(toCome(a), toCome(b)), a.at.Compare(b.at),
			strings.Compare(a.path, b.path))
	})
	return files, nil
}

// daily is the kind of the daily copies.
const daily = "daily"

// keepCopy makes a checked copy in the backups folder, as the newest of its kind, and
// drops the oldest ones of that kind. before is the layout that the store has before it is
// brought forward, or 0 for a daily copy. errRecord says that the copy was made, and has
// records that cannot be read.
func (s *file) keepCopy(ctx context.Context, before uint64) (string, error) {
	dir := filepath.Join(s.dir, copiesName)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	all, err := copyFiles(s.dir, "", s.now())
	if err != nil {
		return "", err
	}
	next := 1
	if len(all) > 0 {
		next = all[len(all)-1].number + 1
	}
	kind, prefix := daily, ""
	if before > 0 {
		kind, prefix = "v", fmt.Sprintf("v%d-", before)
	}
	path := filepath.Join(dir, "conclave-"+prefix+fmt.Sprintf(copyNumber, next)+"-"+stamp(s.now())+".db")
	temp := path + ".new"
	defer os.Remove(temp) //nolint:errcheck // it is gone after the rename
	if err := s.snapshot(ctx, temp); err != nil {
		return "", err
	}
	if err := seal(s.dir, temp, false); err != nil {
		return "", err
	}
	c := checkCopy(temp)
	if c.Problem != "" {
		return "", fmt.Errorf("%w: its copy does not hold: %s", errDamaged, c.Problem)
	}
	if err := os.Rename(temp, path); err != nil {
		return "", err
	}
	if err := syncFolder(dir); err != nil {
		return "", err
	}
	s.dropCopies(kind, c.Whole())
	if !c.Whole() {
		return path, fmt.Errorf("%w: %d of them", errRecord, c.Unreadable)
	}
	return path, nil
}

// snapshot writes the store as it is now to a new file, without the temporary chats.
func (s *file) snapshot(ctx context.Context, path string) error {
	if s.ahead.holds.Load() {
		if err := s.commit(ctx); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	err = guarded(func() error {
		return s.db.View(func(tx *bbolt.Tx) error {
			_, err := tx.WriteTo(&contextWriter{ctx, f})
			return err
		})
	})
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return s.withoutTemporary(ctx, path)
}

// dropCopies removes the oldest copies of a kind, and never the newest ones. Where the
// newest is not whole, the newest that is stays, too.
func (s *file) dropCopies(kind string, whole bool) {
	files, err := copyFiles(s.dir, kind, s.now())
	stays := ""
	if !whole {
		c, _ := newestWhole(s.dir, "")
		stays = c.Path
	}
	for many := len(files); err == nil && many > keptCopies; many-- {
		if files[0].path == stays {
			files = files[1:]
		}
		err = os.Remove(files[0].path)
		files = files[1:]
	}
	if err != nil {
		s.log.Warn("An old copy of the store could not be removed.", "err", err)
	}
}

// contextWriter ends a long copy with its context.
type contextWriter struct {
	ctx context.Context //nolint:containedctx // lives for one copy
	w   io.Writer
}

func (w *contextWriter) Write(p []byte) (int, error) {
	if w.ctx.Err() != nil {
		return 0, context.Cause(w.ctx)
	}
	return w.w.Write(p)
}

// copyFile copies a file durably; what it leaves under to on an error is
// removed.
func copyFile(ctx context.Context, from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // read only
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(to)
		}
	}()
	_, err = io.Copy(&contextWriter{ctx, out}, in)
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}
