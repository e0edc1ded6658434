package store

import (
	"context"

	"conclave/app/model/cost"

	"go.etcd.io/bbolt"
)

// bucketSpending holds what plugins had models cost: plugin → cost.Day. It is made when
// the first is written, so that a store without any is as it was.
var bucketSpending = []byte("plugin_spending")

// Spent returns what a plugin had models cost on the last day that it did.
func (s *Plugins) Spent(ctx context.Context, plugin string) (d cost.Day, err error) {
	err = s.view(ctx, "store.spent", func(tx *bbolt.Tx) error {
		b := tx.Bucket(bucketSpending)
		if b == nil {
			return nil
		}
		if raw := b.Get([]byte(plugin)); raw != nil {
			return decode(raw, &d)
		}
		return nil
	})
	return d, err
}

// PutSpent replaces what a plugin had models cost.
func (s *Plugins) PutSpent(ctx context.Context, plugin string, d cost.Day) error {
	const op = "store.put_spent"
	if err := checkID(op, "plugin", plugin); err != nil {
		return err
	}
	return s.write(ctx, op, func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists(bucketSpending)
		if err != nil {
			return err
		}
		return putJSON(b, []byte(plugin), d)
	})
}
