package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/council"

	"go.etcd.io/bbolt"
)

// Attachments are the media files that messages, calls and council members name.
type Attachments struct{ *file }

const mediaName = "media"

// MaxMedia bounds one media file, in bytes: more than any provider takes, and
// small enough to be held in memory while it travels.
const MaxMedia = 64 << 20

// mediaOrphan is the age at which a media file that nothing names is removed: that at which the
// trash deletes chats.
const mediaOrphan = trashKept

// PutMedia stores the bytes in m.Data by their content and fills m.ID and
// m.Size. The same bytes are stored once. The kind is Invalid when there are none
// or more than [MaxMedia], and Unavailable when the disk is full. What no message
// and no call record names is removed after 30 days.
func (s *Attachments) PutMedia(ctx context.Context, m *chat.Media) error {
	const op = "store.put_media"
	name := "The file"
	if m.Name != "" {
		name = fmt.Sprintf("The file %.80q", m.Name)
	}
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", op, context.Cause(ctx))
	case s.closed.Load():
		return closedFault(op)
	case len(m.Data) == 0:
		return fault.New(fault.Invalid, op, name+" is empty.", "Choose another one.")
	case len(m.Data) > MaxMedia:
		return fault.New(fault.Invalid, op, fmt.Sprintf("%s has %d MiB; Conclave keeps files of up to %d MiB.", name,
			len(m.Data)>>20, MaxMedia>>20),
			"Send a smaller one.")
	}
	sum := sha256.Sum256(m.Data)
	id := hex.EncodeToString(sum[:])
	if err := writeMedia(s.dir, id, m.Data, s.now()); err != nil {
		return explain(op, s.dir, err)
	}
	m.ID, m.Size = id, int64(len(m.Data))
	return nil
}

// writeMedia writes a media file of the data folder dir under another name and moves it
// into place.
func writeMedia(dir, id string, data []byte, now time.Time) (err error) {
	path, ok := mediaPath(dir, id)
	if !ok {
		return fmt.Errorf("%.80q is no id of a media file", id)
	}
	if have, err := os.ReadFile(path); err == nil && bytes.Equal(have, data) {
		return os.Chtimes(path, now, now) // it is wanted again, so no orphan yet
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "new-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// Media reads a media file. The kind is NotFound when there is none with that
// ID, and Damaged when its bytes are no longer those that were stored.
func (s *Attachments) Media(ctx context.Context, id string) ([]byte, error) {
	const op = "store.media"
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%s: %w", op, context.Cause(ctx))
	}
	path, err := s.mediaFile(id)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, explain(op, s.dir, err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != id {
		return nil, fault.New(fault.Damaged, op, "The file "+path+" is damaged: it is no longer what was stored.",
			"Attach it again.")
	}
	return data, nil
}

// mediaFile returns the path of a media file. The kind is NotFound when there is none with that ID.
func (s *file) mediaFile(id string) (string, error) {
	const op = "store.media_path"
	path, ok := mediaPath(s.dir, id)
	if !ok {
		return "", fault.New(fault.NotFound, op, fmt.Sprintf("%.80q is no file of Conclave's.", id), "")
	}
	if _, err := os.Stat(path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return "", fault.New(fault.NotFound, op, "The file "+id+" is not there any more.",
				"It may have been deleted with its chat.")
		}
		return "", explain(op, s.dir, err)
	}
	return path, nil
}

// mediaPath returns where a media file of the data folder dir lies; ok is false for what is
// no id of one.
func mediaPath(dir, id string) (path string, ok bool) {
	if raw, err := hex.DecodeString(id); err != nil || len(raw) != sha256.Size || id != hex.EncodeToString(raw) {
		return "", false
	}
	return filepath.Join(dir, mediaName, id[:2], id), true
}

// refer notes that a conversation names the media in parts.
func refer(tx *bbolt.Tx, id chat.ConversationID, parts []chat.Part) error {
	var all []chat.Media
	for _, p := range parts {
		if p.Media != nil {
			all = append(all, *p.Media)
		}
		if p.Result != nil {
			for _, q := range p.Result.Content {
				if q.Media != nil {
					all = append(all, *q.Media)
				}
			}
		}
	}
	return referMedia(tx, id, all)
}

func referMedia(tx *bbolt.Tx, id chat.ConversationID, media []chat.Media) error {
	for _, m := range media {
		if m.ID == "" || len(m.ID) > maxID {
			continue
		}
		if err := bucket(tx, bucketMediaRefs).Put(append(prefix(m.ID), id...), nil); err != nil {
			return err
		}
	}
	return nil
}

// unrefer takes back what refer noted for a conversation, and returns the media
// that nothing names any more. There are few media, so it looks at all.
func unrefer(tx *bbolt.Tx, id chat.ConversationID) ([]string, error) {
	b := bucket(tx, bucketMediaRefs)
	var mine [][]byte
	others := map[string]int{}
	err := b.ForEach(func(k, _ []byte) error {
		media, by, _ := bytes.Cut(k, []byte{0})
		if string(by) == string(id) {
			mine = append(mine, bytes.Clone(k))
		} else {
			others[string(media)]++
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var orphans []string
	for _, k := range mine {
		media, _, _ := bytes.Cut(k, []byte{0})
		if others[string(media)] == 0 {
			orphans = append(orphans, string(media))
		}
	}
	return orphans, bucketMediaRefs.delete(tx, mine...)
}

// removeMedia deletes files. One that is not there does not matter.
func (s *file) removeMedia(ctx context.Context, ids []string) error {
	for _, id := range ids {
		if ctx.Err() != nil {
			return nil // the next sweep finds them
		}
		path, err := s.mediaFile(id)
		if err != nil {
			continue
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return explain("store.remove_media", s.dir, err)
		}
	}
	return nil
}

// avatars adds the pictures of members: of the councils that are set, and of all runs.
func avatars(tx *bbolt.Tx, named map[string]bool) error {
	add := func(c council.Council) {
		for _, m := range c.Members {
			named[m.Persona.Avatar] = true
		}
	}
	if err := bucketCouncils.each(tx, nil, func(_, v []byte) error {
		var c council.Council
		err := decode(v, &c)
		add(c)
		return err
	}); err != nil {
		return err
	}
	steps := tx.Bucket(bucketCouncilSteps)
	if steps == nil {
		return nil
	}
	cursor := steps.Cursor()
	for k, v := cursor.First(); k != nil; {
		var first council.Step
		if err := decode(v, &first); err != nil {
			return err
		}
		if first.Begin != nil {
			add(first.Begin.Council)
		}
		run, _, _ := bytes.Cut(k, []byte{0})
		k, v = cursor.Seek(append(bytes.Clone(run), 1)) // the next run's first step
	}
	return nil
}

// sweepMedia removes files that nothing names and that have been there for 30
// days: attachments never sent, and what a crash left half-written.
func (s *file) sweepMedia(ctx context.Context) error {
	var named map[string][]string
	err := s.view(ctx, "store.sweep", func(tx *bbolt.Tx) (err error) {
		named, err = namedMedia(tx)
		return err
	})
	if err != nil {
		return err
	}
	before := s.now().Add(-mediaOrphan)
	return filepath.WalkDir(filepath.Join(s.dir, mediaName), func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		if _, ok := named[d.Name()]; ok {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		info, err := d.Info()
		if err != nil || info.ModTime().After(before) {
			return nil //nolint:nilerr // a file that vanished is no orphan
		}
		return os.Remove(path)
	})
}
