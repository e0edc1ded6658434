package store

import (
	"context"
	"encoding/json"

	"go.etcd.io/bbolt"
)

// bucketRegistrations holds the tools that programs registered over HTTP: id → JSON of
// app/plugin/dialect/httptools. It is made when the first is written.
var bucketRegistrations = []byte("registrations")

// Registrations returns what programs registered, by id.
func (s *Plugins) Registrations(ctx context.Context) (map[string]json.RawMessage, error) {
	all := map[string]json.RawMessage{}
	err := s.view(ctx, "store.registrations", func(tx *bbolt.Tx) error {
		b := tx.Bucket(bucketRegistrations)
		if b == nil {
			return nil
		}
		return b.ForEach(func(id, raw []byte) error {
			all[string(id)] = append(json.RawMessage(nil), raw...)
			return nil
		})
	})
	return all, err
}

// ChangeRegistrations writes and deletes (nil) what programs registered, by id, in one
// step.
func (s *Plugins) ChangeRegistrations(ctx context.Context, change map[string]json.RawMessage) error {
	const op = "store.change_registrations"
	for id := range change {
		if err := checkID(op, "registration", id); err != nil {
			return err
		}
	}
	return s.write(ctx, op, func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists(bucketRegistrations)
		if err != nil {
			return err
		}
		for id, raw := range change {
			if raw == nil {
				err = b.Delete([]byte(id))
			} else {
				err = b.Put([]byte(id), raw)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// CouncilMembers returns the names of the members of all councils, those of chats in the
// trash included.
func (s *Councils) CouncilMembers(ctx context.Context) ([]string, error) {
	var names []string
	err := s.view(ctx, "store.council_members", func(tx *bbolt.Tx) error {
		b := tx.Bucket(bucketCouncils)
		if b == nil {
			return nil
		}
		return b.ForEach(func(_, raw []byte) error {
			var c struct {
				Members []struct {
					Name string `json:"name"`
				} `json:"members"`
			}
			if json.Unmarshal(raw, &c) != nil {
				return nil // it is left out of what the window lists, too
			}
			for _, m := range c.Members {
				names = append(names, m.Name)
			}
			return nil
		})
	})
	return names, err
}
