package store

import (
	"cmp"
	"context"
	"slices"

	"conclave/app/gate"

	"go.etcd.io/bbolt"
)

// Rules returns the rules, oldest first.
func (s *Permissions) Rules(ctx context.Context) ([]gate.Rule, error) {
	rules, err := readAll[gate.Rule](ctx, s.file, bucketGrants)
	slices.SortStableFunc(rules, func(a, b gate.Rule) int { return a.Made.Compare(b.Made) })
	return rules, err
}

// PutRule writes a rule, over the one with the same ID.
func (s *Permissions) PutRule(ctx context.Context, r gate.Rule) error {
	return putRecord(ctx, s.file, bucketGrants, "grant", r.ID, r)
}

// DeleteRule deletes a rule, if there is one with this id.
func (s *Permissions) DeleteRule(ctx context.Context, id string) error {
	return s.deleteOpaque(ctx, bucketGrants, id)
}

// Approvals returns the approvals, by plugin.
func (s *Permissions) Approvals(ctx context.Context) ([]gate.Approval, error) {
	approvals, err := readAll[gate.Approval](ctx, s.file, bucketApprovals)
	slices.SortFunc(approvals, func(a, b gate.Approval) int { return cmp.Compare(a.Plugin, b.Plugin) })
	return approvals, err
}

// PutApproval writes an approval, over the one of the same plugin.
func (s *Permissions) PutApproval(ctx context.Context, a gate.Approval) error {
	return putRecord(ctx, s.file, bucketApprovals, "plugin", a.Plugin, a)
}

// DeleteApproval deletes the approval of the plugin, if there is one.
func (s *Permissions) DeleteApproval(ctx context.Context, plugin string) error {
	return s.deleteOpaque(ctx, bucketApprovals, plugin)
}

// bucketUses holds how often tools were released: tool id → gate.Use. It is made
// when the first is written, so that a store without uses is as it was.
var bucketUses = []byte("tool_uses")

// Uses returns how often the gate allowed calls of each tool, by tool id.
func (s *Permissions) Uses(ctx context.Context) (map[string]gate.Use, error) {
	all := map[string]gate.Use{}
	err := s.view(ctx, "store.read tool_uses", func(tx *bbolt.Tx) error {
		b := tx.Bucket(bucketUses)
		if b == nil {
			return nil
		}
		return b.ForEach(func(k, v []byte) error {
			var use gate.Use
			if err := decode(v, &use); err != nil {
				return err
			}
			all[string(k)] = use
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// PutUses writes the uses of some tools, over those of the same tools.
func (s *Permissions) PutUses(ctx context.Context, uses map[string]gate.Use) error {
	const op = "store.write tool_uses"
	for id := range uses {
		if err := checkID(op, "tool", id); err != nil {
			return err
		}
	}
	return s.write(ctx, op, func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists(bucketUses)
		if err != nil {
			return err
		}
		for id, use := range uses {
			if err := putJSON(b, []byte(id), use); err != nil {
				return err
			}
		}
		return nil
	})
}

// ForgetRequests deletes the permission requests that an older version kept for a restart.
func (s *Permissions) ForgetRequests(ctx context.Context) error {
	const op = "store.write pending"
	kept := 0
	err := s.view(ctx, op, func(tx *bbolt.Tx) error {
		kept = bucket(tx, bucketPending).Stats().KeyN
		return nil
	})
	if err != nil || kept == 0 {
		return err
	}
	return s.write(ctx, op, func(tx *bbolt.Tx) error {
		b := bucket(tx, bucketPending)
		for k, _ := b.Cursor().First(); k != nil; k, _ = b.Cursor().First() {
			if err := b.Delete(k); err != nil {
				return err
			}
		}
		return nil
	})
}

// readAll reads a bucket. A record that cannot be read fails it: a refusal that
// nobody can read must not become a yes.
func readAll[T any](ctx context.Context, f *file, name []byte) ([]T, error) {
	all := []T{}
	err := f.view(ctx, "store.read "+string(name), func(tx *bbolt.Tx) error {
		return bucket(tx, name).ForEach(func(_, v []byte) error {
			var value T
			if err := decode(v, &value); err != nil {
				return err
			}
			all = append(all, value)
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

func putRecord(ctx context.Context, f *file, name []byte, what, id string, value any) error {
	op := "store.write " + string(name)
	if err := checkID(op, what, id); err != nil {
		return err
	}
	return f.write(ctx, op, func(tx *bbolt.Tx) error {
		return putJSON(bucket(tx, name), []byte(id), value)
	})
}
