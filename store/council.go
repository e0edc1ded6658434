package store

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/council"

	"go.etcd.io/bbolt"
)

// Councils are the councils that are set, and their runs. It implements council.Settings and
// council.Log.
type Councils struct{ *file }

var (
	bucketCouncils     = kind("councils")      // scope → Council
	bucketCouncilRuns  = kind("council_runs")  // conversation 0 run → Header
	bucketCouncilSteps = kind("council_steps") // run 0 number → Step
	bucketCouncilTexts = kind("council_texts") // run 0 hash → DEFLATE of the text
)

// maxScope bounds the scope of a council, which may name a folder.
const maxScope = 4096

// Council implements council.Settings.
func (c *Councils) Council(ctx context.Context, scope council.Scope) (set council.Council, there bool, err error) {
	err = c.view(ctx, "store.council", func(tx *bbolt.Tx) (err error) {
		there, err = getJSON(tx, bucketCouncils, []byte(scope), &set)
		return err
	})
	return set, there, err
}

// PutCouncil implements council.Settings.
func (c *Councils) PutCouncil(ctx context.Context, scope council.Scope, set *council.Council) error {
	const op = "store.put_council"
	if scope == "" || len(scope) > maxScope || strings.ContainsRune(string(scope), 0) {
		return fault.New(fault.Invalid, op, "A council cannot be set for that chat, folder or name.", "")
	}
	return c.write(ctx, op, func(tx *bbolt.Tx) error {
		if set == nil {
			return bucketCouncils.delete(tx, []byte(scope))
		}
		if id, ok := strings.CutPrefix(string(scope), string(council.OfChat(""))); ok {
			if _, err := getConversation(tx, op, chat.ConversationID(id)); err != nil {
				return err
			}
		}
		return bucketCouncils.putJSON(tx, []byte(scope), set)
	})
}

// Presets implements council.Settings. One that cannot be read is left out.
func (c *Councils) Presets(ctx context.Context) (map[string]council.Council, error) {
	all, start := map[string]council.Council{}, []byte(council.OfPreset(""))
	return all, c.view(ctx, "store.council_presets", func(tx *bbolt.Tx) error {
		return eachOf(tx, bucketCouncils, start, func(k []byte, set council.Council) error {
			all[string(k[len(start):])] = set
			return nil
		}, func(k []byte, err error) {
			c.log.Warn("A council cannot be read and is left out of the presets.", "preset", string(k[len(start):]), "err", err)
		})
	})
}

// Members returns the names of the members of all councils, those of chats in the trash included.
func (c *Councils) Members(ctx context.Context) (names []string, err error) {
	err = c.view(ctx, "store.council_members", func(tx *bbolt.Tx) error {
		return eachOf(tx, bucketCouncils, nil, func(_ []byte, set council.Council) error {
			for _, m := range set.Members {
				names = append(names, m.Name)
			}
			return nil
		}, nil)
	})
	return names, err
}

// AppendSteps implements council.Log, and adds what the run used since its last header to the
// usage of its chat. The kind is Invalid when the steps do not follow
// those that are stored, and NotFound when there is no such chat.
func (c *Councils) AppendSteps(ctx context.Context, h council.Header, steps []council.Step,
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
		raw, err := deflate(nil, text, flate.DefaultCompression)
		if err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
		packed[hash] = raw
	}
	return c.write(ctx, op, func(tx *bbolt.Tx) error {
		talk, err := getConversation(tx, op, h.Conversation)
		trashed := err != nil && inTrash(tx, h.Conversation)
		if err != nil && !trashed {
			return err
		}
		last := lastBelow(tx, bucketCouncilSteps, string(h.Run))
		if err := council.CheckFollow(op, h.Run, int(last), steps); err != nil {
			return err
		}
		for _, step := range steps {
			if err := bucketCouncilSteps.putJSON(tx, below(string(h.Run), uint64(step.Number)), step); err != nil {
				return err
			}
		}
		for hash, raw := range packed {
			if err := bucketCouncilTexts.put(tx, textKey(h.Run, hash), raw); err != nil {
				return err
			}
		}
		key := append(prefix(string(h.Conversation)), h.Run...)
		var before council.Header
		if _, err := getJSON(tx, bucketCouncilRuns, key, &before); err != nil {
			return err
		}
		if err := spendRun(tx, talk, h.Conversation, h.Usage.Less(before.Usage)); err != nil {
			return err
		}
		return bucketCouncilRuns.putJSON(tx, key, h)
	})
}

// spendRun adds what a run used to what its chat used. The chat is empty when it is in the trash.
func spendRun(tx *bbolt.Tx, talk chat.Conversation, id chat.ConversationID, used chat.Usage) error {
	switch {
	case used.Input+used.Output == 0 && used.Cost == 0:
		return nil
	case talk.ID == "":
		return spendTrashed(tx, id, used)
	}
	old := talk
	talk.Revision++
	talk.Spend(used)
	return putConversation(tx, &old, talk)
}

// Runs implements council.Log. One that cannot be read is left out.
func (c *Councils) Runs(ctx context.Context, id chat.ConversationID) ([]council.Header, error) {
	headers := []council.Header{}
	var start []byte // of all chats
	if id != "" {
		start = prefix(string(id))
	}
	err := c.view(ctx, "store.council_runs", func(tx *bbolt.Tx) error {
		return eachOf(tx, bucketCouncilRuns, start, func(_ []byte, h council.Header) error {
			headers = append(headers, h)
			return nil
		}, func(k []byte, err error) {
			c.log.Warn("A run of a council cannot be read and is left out.", "run", string(k[len(start):]), "err", err)
		})
	})
	return headers, err
}

// Steps implements council.Log.
func (c *Councils) Steps(ctx context.Context, id council.RunID) ([]council.Step, error) {
	const op = "store.council_steps"
	var steps []council.Step
	err := c.view(ctx, op, func(tx *bbolt.Tx) error {
		err := bucketCouncilSteps.each(tx, prefix(string(id)), func(_, v []byte) error {
			steps = append(steps, council.Step{})
			return decode(v, &steps[len(steps)-1])
		})
		if err == nil && len(steps) == 0 {
			err = council.NoRun(op, id)
		}
		return err
	})
	return steps, err
}

// Text implements council.Log.
func (c *Councils) Text(ctx context.Context, id council.RunID, h council.Hash) ([]byte, error) {
	const op = "store.council_text"
	raw, err := read(ctx, c.file, op, func(tx *bbolt.Tx) ([]byte, error) {
		if raw := bucketCouncilTexts.get(tx, textKey(id, h)); raw != nil {
			return slices.Clone(raw), nil
		}
		return nil, council.NoText(op, h)
	})
	if err != nil {
		return nil, err
	}
	return c.inflate(op, raw)
}

func textKey(id council.RunID, h council.Hash) []byte { return append(prefix(string(id)), h...) }

// deflate appends text to start, compressed.
func deflate(start, text []byte, level int) ([]byte, error) {
	out := bytes.NewBuffer(start)
	w, err := flate.NewWriter(out, level)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(text)
	err = errors.Join(err, w.Close())
	return out.Bytes(), err
}

// inflate is the reverse of deflate.
func (f *file) inflate(op string, packed []byte) ([]byte, error) {
	text, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err != nil {
		return nil, f.asFault(op, fmt.Errorf("%w: %w", errRecord, err))
	}
	return text, nil
}

// purgeCouncils removes the runs of a chat, and the council that is set for it.
func purgeCouncils(tx *bbolt.Tx, id chat.ConversationID) error {
	if err := bucketCouncils.delete(tx, []byte(council.OfChat(id))); err != nil {
		return err
	}
	start := prefix(string(id))
	runs := bucketCouncilRuns.keys(tx, start)
	for _, key := range runs {
		run := prefix(string(key[len(start):]))
		for _, k := range []kind{bucketCouncilSteps, bucketCouncilTexts} {
			if err := k.delete(tx, k.keys(tx, run)...); err != nil {
				return err
			}
		}
	}
	return bucketCouncilRuns.delete(tx, runs...)
}
