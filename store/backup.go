package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat"

	"go.etcd.io/bbolt"
)

// bucketMediaFiles is in backups alone: id → the bytes of a media file.
var bucketMediaFiles = kind("media_files")

// MediaReport counts the media files that a store names: pictures and other attachments.
type MediaReport struct {
	Files   int `json:"files"`   // that are there
	Missing int `json:"missing"` // that are not, or are damaged
	Chats   int `json:"chats"`   // how many chats those are of
}

// Sentence returns which files are missing, without a full stop; it is empty when none is.
func (r MediaReport) Sentence() string {
	if r.Missing == 0 {
		return ""
	}
	are := "are"
	if r.Missing == 1 {
		are = "is"
	}
	of := ""
	if r.Chats > 0 {
		of = " of " + count(r.Chats, "chat")
	}
	return fmt.Sprintf("%s%s %s missing", count(r.Missing, "attached file"), of, are)
}

// count is a number with a word for what is counted.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// namedMedia returns the media files that a store names, with the chats that do.
func namedMedia(tx *bbolt.Tx) (map[string][]string, error) {
	named := map[string][]string{}
	faces := map[string]bool{}
	if err := avatars(tx, faces); err != nil {
		return nil, err
	}
	for id := range faces {
		if id != "" {
			named[id] = nil
		}
	}
	return named, bucket(tx, bucketMediaRefs).ForEach(func(k, _ []byte) error {
		media, by, _ := bytes.Cut(k, []byte{0})
		named[string(media)] = append(named[string(media)], string(by))
		return nil
	})
}

// mediaReport gathers a MediaReport.
type mediaReport struct {
	MediaReport
	chats map[string]bool
}

func (r *mediaReport) add(there bool, chats []string) {
	if there {
		r.Files++
		return
	}
	r.Missing++
	if r.chats == nil {
		r.chats = map[string]bool{}
	}
	for _, id := range chats {
		r.chats[id] = true
	}
	r.Chats = len(r.chats)
}

// CheckMedia reports which of the media files that chats and councils name are there.
func (s *Attachments) CheckMedia(ctx context.Context) (MediaReport, error) {
	var r MediaReport
	err := s.view(ctx, "store.check_media", func(tx *bbolt.Tx) error {
		named, err := namedMedia(tx)
		r = present(s.dir, named)
		return err
	})
	return r, err
}

// present reports which of the files are in the media folder of dir.
func present(dir string, named map[string][]string) MediaReport {
	var r mediaReport
	for id, chats := range named {
		path, ok := mediaPath(dir, id)
		if ok {
			info, err := os.Stat(path)
			ok = err == nil && info.Mode().IsRegular()
		}
		r.add(ok, chats)
	}
	return r.MediaReport
}

// Backup writes a complete, consistent copy of the store to the file at path, with what is
// pending and with the media files that it names. The store stays usable meanwhile. The
// report says which of those files are not there, so that the copy has none of them either.
func (s *Store) Backup(ctx context.Context, path string) (MediaReport, error) {
	const op = "store.backup"
	none := MediaReport{}
	if err := s.sync(ctx); err != nil {
		return none, err
	}
	if f := s.damaged.Load(); f != nil {
		return none, f
	}
	if err := s.snapshot(ctx, path); err != nil {
		return none, err
	}
	r, err := s.packMedia(ctx, path)
	if err == nil {
		err = seal(s.dir, path, s.readOnly)
	}
	if err != nil {
		return none, err
	}
	if c := checkCopy(path); c.Problem != "" {
		return none, fault.New(fault.Damaged, op, "The copy does not hold: "+c.Problem+".",
			"Check the disk, then try again; conclave doctor says more.")
	}
	return r, nil
}

// packMedia puts the media files that the copy at path names into it.
func (s *Store) packMedia(ctx context.Context, path string) (MediaReport, error) {
	var r mediaReport
	db, _, err := openFile(path, false)
	if err != nil {
		return r.MediaReport, err
	}
	db.NoSync = true // until all are in
	err = guarded(func() error {
		var named map[string][]string
		if err := db.View(func(tx *bbolt.Tx) (err error) {
			named, err = namedMedia(tx)
			return err
		}); err != nil {
			return err
		}
		for _, id := range slices.Sorted(maps.Keys(named)) {
			data, err := s.Media.Media(ctx, id)
			if kind := fault.KindOf(err); err != nil && kind != fault.NotFound && kind != fault.Damaged {
				return err
			}
			r.add(err == nil, named[id])
			if err != nil {
				continue
			}
			if err := db.Update(func(tx *bbolt.Tx) error {
				b, err := tx.CreateBucketIfNotExists(bucketMediaFiles)
				if err != nil {
					return err
				}
				return b.Put([]byte(id), data)
			}); err != nil {
				return err
			}
		}
		return db.Sync()
	})
	return r.MediaReport, errors.Join(err, db.Close())
}

// unpackMedia moves the media files that are in the store at path into the folder of dir,
// and reports which of those that it names are there then.
func unpackMedia(ctx context.Context, dir, path string, now time.Time) (MediaReport, error) {
	var named map[string][]string
	packed := false
	err := readFile(path, func(tx *bbolt.Tx) error {
		packed = tx.Bucket(bucketMediaFiles) != nil
		if err := each(tx, bucketMediaFiles, func(k, v []byte) error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			sum := sha256.Sum256(v)
			if len(v) > MaxMedia || hex.EncodeToString(sum[:]) != string(k) {
				return nil // it is none of Conclave's; what names it is counted below
			}
			return writeMedia(dir, string(k), v, now)
		}); err != nil {
			return err
		}
		var err error
		named, err = namedMedia(tx)
		return err
	})
	if err != nil {
		return MediaReport{}, err
	}
	if !packed {
		return present(dir, named), nil
	}
	if err := changeFile(path, func(tx *bbolt.Tx) error { return tx.DeleteBucket(bucketMediaFiles) }); err != nil {
		return MediaReport{}, err
	}
	small := path + ".new" // without the room that they took
	if err := writeCompact(ctx, path, small); err != nil {
		return MediaReport{}, errors.Join(err, os.Remove(small))
	}
	return present(dir, named), os.Rename(small, path)
}

// HasMedia reports whether the file of an attachment is there.
func (s *Attachments) HasMedia(m chat.Media) bool {
	_, err := s.mediaFile(m.ID)
	return err == nil
}

// MissingMedia returns how many of the media files that a conversation names are not there.
func (s *Attachments) MissingMedia(ctx context.Context, id chat.ConversationID) (int, error) {
	n := 0
	err := s.view(ctx, "store.missing_media", func(tx *bbolt.Tx) error {
		return bucket(tx, bucketMediaRefs).ForEach(func(k, _ []byte) error {
			media, by, _ := bytes.Cut(k, []byte{0})
			if string(by) == string(id) {
				n += present(s.dir, map[string][]string{string(media): nil}).Missing
			}
			return nil
		})
	})
	return n, err
}
