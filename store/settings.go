package store

import (
	"context"
	"encoding/json"
	"fmt"

	"conclave/app/base/fault"

	"go.etcd.io/bbolt"
)

// Settings is the record of the person's settings. It implements settings.Store.
type Settings struct{ *file }

// settingsKey is the one key of bucketSettings.
var settingsKey = []byte("settings")

type settingsRecord struct {
	Revision uint64          `json:"revision"`
	Value    json.RawMessage `json:"value"`
}

// Settings returns the settings as they were put, and their revision. Nothing
// and 0 mean that none were ever put.
func (s *Settings) Settings(ctx context.Context) (value json.RawMessage, revision uint64, err error) {
	r, err := read(ctx, s.file, "store.settings", getSettings)
	return r.Value, r.Revision, err
}

// PutSettings writes the settings and returns their new revision. revision is
// the one that value was made from; when it is no longer the newest, somebody
// else has changed the settings meanwhile and the kind is Conflict. Value must be
// JSON (kind Invalid).
func (s *Settings) PutSettings(ctx context.Context, value json.RawMessage, revision uint64) (uint64, error) {
	const op = "store.put_settings"
	if !json.Valid(value) {
		return 0, fault.New(fault.Invalid, op, "The settings are not JSON, so they were not saved.", "")
	}
	err := s.write(ctx, op, func(tx *bbolt.Tx) error {
		old, err := getSettings(tx)
		if err != nil {
			return err
		}
		if old.Revision != revision {
			return fault.New(fault.Conflict, op, fmt.Sprintf("The settings were changed meanwhile (revision %d, not %d).",
				old.Revision, revision),
				"Read them again and repeat the change.")
		}
		revision++
		return bucketSettings.putJSON(tx, settingsKey, settingsRecord{revision, value})
	})
	if err != nil {
		return 0, err
	}
	return revision, nil
}

func getSettings(tx *bbolt.Tx) (r settingsRecord, err error) {
	_, err = getJSON(tx, bucketSettings, settingsKey, &r)
	return r, err
}
