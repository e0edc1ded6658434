package store

import (
	"bytes"
	"compress/flate"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/council"

	"go.etcd.io/bbolt"
)

// The buckets of councils. Each is made when the first is written, so that a store
// without councils is as it was.
var (
	bucketCouncils     = []byte("councils")      // scope → Council
	bucketCouncilRuns  = []byte("council_runs")  // conversation 0 run → Header
	bucketCouncilSteps = []byte("council_steps") // run 0 number → Step
	bucketCouncilTexts = []byte("council_texts") // run 0 hash → DEFLATE of the text
)

// maxScope bounds the scope of a council, which may name a folder.
const maxScope = 4096

// Council implements council.Settings.
func (s *Councils) Council(ctx context.Context, scope council.Scope) (c council.Council, there bool, err error) {
	err = s.view(ctx, "store.council", func(tx *bbolt.Tx) error {
		if b := tx.Bucket(bucketCouncils); b != nil {
			there, err = getJSON(b, []byte(scope), &c)
			return err
		}
		return nil
	})
	return c, there, err
}

// PutCouncil implements council.Settings.
func (s *Councils) PutCouncil(ctx context.Context, scope council.Scope, c *council.Council) error {
	const op = "store.put_council"
	if scope == "" || len(scope) > maxScope || strings.ContainsRune(string(scope), 0) {
		return fault.New(fault.Invalid, op, "A council cannot be set for that chat, folder or name.", "")
	}
	return s.write(ctx, op, func(tx *bbolt.Tx) error {
		if c == nil {
			if b := tx.Bucket(bucketCouncils); b != nil {
				return b.Delete([]byte(scope))
			}
			return nil
		}
		if id, ok := strings.CutPrefix(string(scope), string(council.OfChat(""))); ok {
			if _, err := getConversation(tx, op, chat.ConversationID(id)); err != nil {
				return err
			}
		}
		b, err := tx.CreateBucketIfNotExists(bucketCouncils)
		if err != nil {
			return err
		}
		return putJSON(b, []byte(scope), c)
	})
}

// Presets implements council.Settings. One that cannot be read is left out.
func (s *Councils) Presets(ctx context.Context) (map[string]council.Council, error) {
	all := map[string]council.Council{}
	err := s.view(ctx, "store.council_presets", func(tx *bbolt.Tx) error {
		b := tx.Bucket(bucketCouncils)
		if b == nil {
			return nil
		}
		start := []byte(council.OfPreset(""))
		cursor := b.Cursor()
		for k, v := cursor.Seek(start); bytes.HasPrefix(k, start); k, v = cursor.Next() {
			var c council.Council
			if err := decode(v, &c); err != nil {
				s.log.Warn("A council cannot be read and is left out of the presets.", "preset", string(k[len(start):]), "err", err)
				continue
			}
			all[string(k[len(start):])] = c
		}
		return nil
	})
	return all, err
}

// AppendSteps implements council.Log, and adds what the run used since to what its chat
// used. The kind is Invalid when the steps do not follow
// those which are kept, and NotFound when there is no such chat.
func (s *Councils) AppendSteps(ctx context.Context, h council.Header, steps []council.Step,
	texts map[council.Hash][]byte,
) error {
	const op = "store.append_steps"
	if err := checkID(op, "run", string(h.Run)); err != nil {
		return err
	}
	packed := make(map[council.Hash][]byte, len(texts))
	for hash, text := range texts {
		if err := checkID(op, "text", string(hash)); err != nil {
			return err
		}
		raw, err := deflate(text)
		if err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
		packed[hash] = raw
	}
	return s.write(ctx, op, func(tx *bbolt.Tx) error {
		c, err := getConversation(tx, op, h.Conversation)
		trashed := err != nil && inTrash(tx, h.Conversation)
		if err != nil && !trashed {
			return err
		}
		var made [3]*bbolt.Bucket
		for i, name := range [][]byte{bucketCouncilRuns, bucketCouncilSteps, bucketCouncilTexts} {
			b, err := tx.CreateBucketIfNotExists(name)
			if err != nil {
				return err
			}
			made[i] = b
		}
		if err := council.CheckFollow(op, h.Run, lastStep(made[1], h.Run), steps); err != nil {
			return err
		}
		for _, step := range steps {
			if err := putJSON(made[1], below(string(h.Run), uint64(step.Number)), step); err != nil {
				return err
			}
		}
		for hash, raw := range packed {
			if err := made[2].Put(textKey(h.Run, hash), raw); err != nil {
				return err
			}
		}
		key := append(prefix(string(h.Conversation)), h.Run...)
		more, err := usedSince(made[0].Get(key), h.Usage)
		switch {
		case err != nil:
			return err
		case more.Input+more.Output == 0 && more.Cost == 0:
		case trashed:
			err = spendTrashed(tx, h.Conversation, more)
		default:
			old := c
			c.Revision++
			c.Spend(more)
			err = putConversation(tx, &old, c)
		}
		if err != nil {
			return err
		}
		return putJSON(made[0], key, h)
	})
}

// usedSince returns what a run used since its header was written.
func usedSince(header []byte, now chat.Usage) (chat.Usage, error) {
	var before council.Header
	if header != nil {
		if err := decode(header, &before); err != nil {
			return chat.Usage{}, err
		}
	}
	return now.Less(before.Usage), nil
}

// lastStep returns the number of the newest step of a run, or 0.
func lastStep(b *bbolt.Bucket, id council.RunID) int {
	cursor := b.Cursor()
	k, _ := cursor.Seek(below(string(id), ^uint64(0)))
	if k == nil {
		k, _ = cursor.Last()
	} else {
		k, _ = cursor.Prev()
	}
	if !bytes.HasPrefix(k, prefix(string(id))) {
		return 0
	}
	return int(lastNumber(k))
}

// Runs implements council.Log. One that cannot be read is left out.
func (s *Councils) Runs(ctx context.Context, id chat.ConversationID) ([]council.Header, error) {
	headers := []council.Header{}
	err := s.view(ctx, "store.council_runs", func(tx *bbolt.Tx) error {
		b := tx.Bucket(bucketCouncilRuns)
		if b == nil {
			return nil
		}
		var start []byte // of all chats
		if id != "" {
			start = prefix(string(id))
		}
		cursor := b.Cursor()
		for k, v := cursor.Seek(start); k != nil && bytes.HasPrefix(k, start); k, v = cursor.Next() {
			var h council.Header
			if err := decode(v, &h); err != nil {
				s.log.Warn("A run of a council cannot be read and is left out.", "run", string(k[len(start):]), "err", err)
				continue
			}
			headers = append(headers, h)
		}
		return nil
	})
	return headers, err
}

// Steps implements council.Log.
func (s *Councils) Steps(ctx context.Context, id council.RunID) ([]council.Step, error) {
	const op = "store.council_steps"
	var steps []council.Step
	err := s.view(ctx, op, func(tx *bbolt.Tx) error {
		b := tx.Bucket(bucketCouncilSteps)
		if b == nil {
			return council.NoRun(op, id)
		}
		start := prefix(string(id))
		cursor := b.Cursor()
		for k, v := cursor.Seek(start); bytes.HasPrefix(k, start); k, v = cursor.Next() {
			var step council.Step
			if err := decode(v, &step); err != nil {
				return err
			}
			steps = append(steps, step)
		}
		if len(steps) == 0 {
			return council.NoRun(op, id)
		}
		return nil
	})
	return steps, err
}

// Text implements council.Log.
func (s *Councils) Text(ctx context.Context, id council.RunID, h council.Hash) ([]byte, error) {
	const op = "store.council_text"
	var raw []byte
	err := s.view(ctx, op, func(tx *bbolt.Tx) error {
		if b := tx.Bucket(bucketCouncilTexts); b != nil {
			raw = slices.Clone(b.Get(textKey(id, h)))
		}
		if raw == nil {
			return council.NoText(op, h)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(flate.NewReader(bytes.NewReader(raw)))
	if err != nil {
		return nil, s.asFault(op, fmt.Errorf("%w: %w", errRecord, err))
	}
	return text, nil
}

func textKey(id council.RunID, h council.Hash) []byte { return append(prefix(string(id)), h...) }

func deflate(text []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.DefaultCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// purgeCouncils removes the runs of a chat, and the council that is set for it.
func purgeCouncils(tx *bbolt.Tx, id chat.ConversationID) error {
	if b := tx.Bucket(bucketCouncils); b != nil {
		if err := b.Delete([]byte(council.OfChat(id))); err != nil {
			return err
		}
	}
	runs := tx.Bucket(bucketCouncilRuns)
	if runs == nil {
		return nil
	}
	start := prefix(string(id))
	mine := keysWith(runs, start)
	for _, key := range mine {
		run := prefix(string(key[len(start):]))
		for _, name := range [][]byte{bucketCouncilSteps, bucketCouncilTexts} {
			if b := tx.Bucket(name); b != nil {
				if err := deleteAll(b, keysWith(b, run)); err != nil {
					return err
				}
			}
		}
	}
	return deleteAll(runs, mine)
}

// keysWith returns copies of the keys that begin with start.
func keysWith(b *bbolt.Bucket, start []byte) [][]byte {
	var keys [][]byte
	cursor := b.Cursor()
	for k, _ := cursor.Seek(start); bytes.HasPrefix(k, start); k, _ = cursor.Next() {
		keys = append(keys, slices.Clone(k))
	}
	return keys
}
