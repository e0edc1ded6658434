// Package store keeps everything of Conclave's that must be there tomorrow:
// conversations and their messages, the record of tool calls, settings, what is
// known of plugins, rules and approvals, and the media files. It is
// one bbolt file, conclave.db, in the data folder, and belongs to one process at
// a time.
//
// What does not belong here: API keys (they live in the system keychain), the
// files of plugins, and any decision. The store satisfies interfaces that others
// declare: Turns is a turn.Log, Permissions a gate.Store, Plugins a host.Store.
//
// # Layout
//
// One bucket holds one kind of record, one key one record, as JSON. Messages are
// keyed by conversation and sequence number, so that a conversation of 10,000
// messages is never rewritten to add one. In addition, there are indexes that
// can be made again from them at any time (deriveIndexes): the outline of each
// conversation, the list by last change, calls by conversation, tool and day,
// and the change log that the full-text index (package search) follows.
//
// # What a crash or a full disk costs
//
// Append, UpdateMessages and all other plain writes are on the disk when they return: in the store's file, or,
// for rounds of a turn, in one next to it that the next Open takes in.
// Journal and PutCall return at once and are on the disk within 250 ms; while
// the disk is full they wait in memory and are written when there is room. The
// next Open shows a message that was streaming as interrupted, and a call that
// was running as died.
//
// Read [Store], [Options], [Outline] and [Copy] first. Errors are *fault.Error:
// Locked (another process has the store), Damaged (a file is not what it should
// be; it has been set aside), Unavailable (disk full, read-only, no folder, made
// by a newer Conclave), NotFound, Invalid and Conflict.
package store

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"conclave/app/base/fault"

	bolterrors "go.etcd.io/bbolt/errors"
)

// fileName is the store's file inside the data folder.
const fileName = "conclave.db"

// Options say how to open a store.
type Options struct {
	// Dir is the data folder. It is created, readable by its owner alone, when it
	// does not exist.
	Dir string
	// Log receives problems that the store could work around. nil discards them.
	Log *slog.Logger
	// Now tells the time for the stamps the store sets. nil means time.Now.
	Now func() time.Time
	// Wait is the time that Open waits for another process to close the store.
	// Zero waits 50 ms, since a process that is just ending still has it.
	Wait time.Duration
	// Reads says that the caller only reads. A folder in which nothing may be written will
	// do then: the store is opened as it is, and every write is refused.
	Reads bool
	// Mask takes secrets out of a text that the record of activity keeps. nil leaves texts
	// as they are.
	Mask func(string) string
	// Program names this program in the Locked error of another one: "the
	// window", "conclave prompt". Empty means the executable's name.
	Program string
	// OnTrouble is called when writes in the background begin to fail, once, with
	// a *fault.Error (nothing is lost while the program runs; they are tried
	// again each second), and with nil when they work again. It is called on the
	// store's own goroutines with no lock held, and may be nil.
	OnTrouble func(error)
	// OnRecord is called when entries were added to the record of activity, on whatever
	// goroutine wrote them. It must not block and may not write. It may be nil.
	OnRecord func()
}

// Store is an open store. Its fields have one subject each. All methods are safe for
// concurrent use. Close it.
type Store struct {
	*file

	Chats       *Chats
	Calls       *CallLog
	Media       *Attachments
	Activity    *ActivityLog
	Councils    *Councils
	Permissions *Permissions
	Plugins     *Plugins
	PluginData  *PluginData
	Settings    *Settings
	Outside     *Outside
	Prompts     *Prompts
	Search      *SearchSource
	// Turns is where turns write: it implements turn.Log.
	Turns Turns
}

// newStore returns a store over an open file.
func newStore(f *file) *Store {
	s := &Store{
		file: f, Chats: &Chats{f}, Calls: &CallLog{f}, Media: &Attachments{f}, Activity: &ActivityLog{f},
		Councils: &Councils{f}, Permissions: &Permissions{f}, Plugins: &Plugins{f}, PluginData: &PluginData{f},
		Settings: &Settings{f}, Outside: &Outside{f}, Prompts: &Prompts{f},
	}
	s.Search = &SearchSource{f, s.Chats}
	s.Turns = Turns{s.Chats, s.Calls, s.Media}
	return s
}

// The buckets. Those of the first group are records, the others are made from
// them.
var (
	bucketMeta          = kind("meta")
	bucketConversations = kind("conversations") // id → chat.Conversation
	bucketMessages      = kind("messages")      // id 0 seq → chat.Message
	bucketCalls         = kind("tool_calls")    // id → storedCall; its sequence is the highest id
	bucketSettings      = kind("settings")      // name → settingsRecord
	bucketPluginCache   = kind("plugin_cache")  // plugin → JSON of the plugin host
	bucketPluginState   = kind("plugin_state")  // plugin → JSON of the plugin host
	bucketGrants        = kind("grants")        // id → gate.Rule
	bucketApprovals     = kind("approvals")     // plugin → gate.Approval
	bucketPending       = kind("pending")       // empty; older versions stored requests of the gate here
	bucketTrash         = kind("trash")         // token → trashRecord
	bucketJournal       = kind("journal")       // id 0 seq → time, while it streams; id 0 seq n → time and piece

	bucketByUpdated = kind("conversations_by_updated") // time id → flags and folded title
	bucketOutline   = kind("outline")                  // id 0 seq → outlineRow
	bucketByChat    = kind("calls_by_conversation")    // id 0 call → turn
	bucketByTool    = kind("calls_by_tool")            // wire name or tool id 0 call → nothing
	bucketByDay     = kind("calls_by_day")             // yyyymmdd call → nothing
	bucketFailed    = kind("calls_failed")             // call → nothing
	bucketOpen      = kind("calls_open")               // call → nothing; asked or running
	bucketChanges   = kind("changes")                  // counter → id 0 seq; its sequence is the counter
	bucketChanged   = kind("changed")                  // id 0 seq → counter
	bucketMediaRefs = kind("media_refs")               // media 0 conversation → nothing
)

var records = []kind{
	bucketMeta, bucketConversations, bucketMessages, bucketCalls, bucketSettings, bucketPluginCache,
	bucketPluginState, bucketGrants, bucketApprovals, bucketPending, bucketTrash, bucketJournal,
}

var indexes = []kind{
	bucketByUpdated, bucketOutline, bucketByChat, bucketByTool, bucketByDay, bucketFailed, bucketOpen,
	bucketChanges, bucketChanged, bucketMediaRefs,
}

// The keys of bucketMeta.
var (
	keyVersion = []byte("version") // the layout it is written in, 8 bytes, big-endian
	keyWriter  = []byte("writer")  // the oldest layout whose programs may write it, likewise
	keyReader  = []byte("reader")  // the oldest layout whose programs may read it, likewise
	keyAlive   = []byte("alive")   // Unix nanoseconds of the last write, 8 bytes
	keyLineage = []byte("lineage") // what Lineage returns
)

// Open opens the store in o.Dir. It makes it when there is none, migrates an older one
// (after a copy), and ends the turns that a killed program left open. It fails with
// the kinds Locked, Damaged and Unavailable. The context bounds the opening and gives
// its values to the background work, which Close ends.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Mask == nil {
		o.Mask = func(text string) string { return text }
	}
	if err := MakeFolder(o.Dir); err != nil {
		return nil, err
	}
	lock, err := acquire(ctx, o.Dir, o.Wait, newOwner(o.Program, o.Now()))
	readOnly := o.Reads && err != nil && isReadOnly(err)
	if err != nil && !readOnly {
		return nil, err
	}
	// As a time comes back from JSON, so that what was written equals what is read.
	now := func() time.Time { return o.Now().UTC().Round(0) }
	s := newStore(&file{
		dir: o.Dir, readOnly: readOnly, log: o.Log, mask: o.Mask, onTrouble: o.OnTrouble, onRecord: o.OnRecord, lock: lock,
		now: now, writer: make(chan struct{}, 1), waiting: newQueue(o.Log, now),
		stop: make(chan struct{}),
	})
	if err := s.start(ctx); err != nil {
		s.abandon()
		return nil, err
	}
	return s, nil
}

// start opens the file and begins the background work; the lock is held.
func (s *Store) start(ctx context.Context) error {
	if s.readOnly {
		return s.startReading(ctx)
	}
	path, err := ready(ctx, s.dir, s.now)
	if err != nil {
		return err
	}
	db, raw, err := openFile(path, false)
	if err == nil {
		s.db, s.raw = db, raw
		err = s.inspect()
	}
	if errors.Is(err, errDamaged) {
		s.abandonFile()
		return setAside(ctx, s.dir, s.now(), err, s.log)
	}
	if err != nil {
		return explain("store.open", s.dir, err)
	}
	if err := s.takeIn(path); err != nil {
		return explain("store.open", s.dir, err)
	}
	if err := s.migrate(ctx); err != nil {
		return err
	}
	if err := s.checkActivityEnd(ctx); err != nil {
		return err
	}
	if err := s.endWhatWasOpen(ctx); err != nil {
		return err
	}
	if err := s.purgeTemporary(ctx); err != nil {
		return err
	}
	if err := clearMarks(s.dir); err != nil {
		s.log.Warn("A mark of damage next to the store could not be removed.", "err", err)
	}
	if err := sweep(s.dir); err != nil {
		s.log.Warn("Half-made files next to the store could not be removed.", "err", err)
	}

	background, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	s.cancel = cancel
	s.wg.Go(func() { s.writeBehind(background) }) // ended by Close
	s.wg.Go(func() { s.doDaily(background) })     // ended by Close
	return nil
}

// startReading is start where nothing may be written. What a killed program left open is
// shown as it lies there.
func (s *Store) startReading(ctx context.Context) error {
	const op = "store.open"
	path, there, err := locate(s.dir)
	if err != nil {
		return err
	}
	if !there {
		return fault.New(fault.Unavailable, op, "There is no store in "+s.dir+", and Conclave may not write there.",
			"Make the folder writable, or name another one with --data.")
	}
	s.cancel = func(error) {} // there is no background work
	db, raw, err := openFile(path, true)
	if err == nil {
		s.db, s.raw = db, raw
		err = s.inspect()
	}
	switch {
	case errors.Is(err, errDamaged):
		s.abandonFile()
		return fault.Wrap(fault.Damaged, op, "The store in "+s.dir+" is damaged, and Conclave may not write there.",
			"Copy the folder to where you may write, and name the copy with --data: "+
				"Conclave then offers its newest good copy.", err)
	case errors.Is(err, bolterrors.ErrTimeout):
		return fault.New(fault.Locked, op, "Another program has the store in "+s.dir+" open.", "Close it and try again.")
	case err != nil:
		return explain(op, s.dir, err)
	}
	return s.migrate(ctx)
}

// ReadOnly reports whether nothing may be written in the data folder, so that every write is
// refused.
func (s *Store) ReadOnly() bool { return s.readOnly }

// closePatience is the time that Close waits for a daily copy under way: long enough
// for a store of some hundred megabytes, short enough for a person at a prompt,
// and spent at most once a day. Tests wait longer, on machines that are busy.
var closePatience = 5 * time.Second

// Close writes what is pending and closes the store. It may be called twice. Its error
// says that something could not be written.
func (s *Store) Close() error {
	s.once.Do(func() {
		s.waiting.mu.Lock()
		s.waiting.closing = true
		s.waiting.mu.Unlock()
		close(s.stop)
		hurry := time.AfterFunc(closePatience, func() { s.cancel(errClosing) })
		s.wg.Wait()
		hurry.Stop()
		s.cancel(errClosing)

		s.writer <- struct{}{} // once the write under way, if any, is done
		s.closed.Store(true)
		s.yield()
		s.abandon()
	})
	return s.final
}

// errClosing is why background work ends.
var errClosing = errors.New("the store is closing")

// abandon lets go of the file and the lock, whatever state they are in.
func (s *file) abandon() {
	s.abandonFile()
	if s.lock != nil {
		s.lock.release()
	}
}

func (s *file) abandonFile() {
	switch {
	case s.db != nil && s.damaged.Load() == nil:
		s.ahead.close()
		if err := s.db.Close(); err != nil {
			s.log.Warn("The store's file did not close cleanly.", "err", err)
		}
	case s.raw != nil:
		// A transaction on a damaged file may have left bbolt's own locks held, so
		// its Close could wait for ever. Nothing is buffered.
		letGo(s.raw)
	}
	s.db, s.raw = nil, nil
}

// Dir returns the data folder.
func (s *Store) Dir() string { return s.dir }

// Closed reports whether Close has finished.
func (s *Store) Closed() bool { return s.closed.Load() }
