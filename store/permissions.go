package store

import (
	"cmp"
	"context"
	"slices"

	"conclave/app/gate"

	"go.etcd.io/bbolt"
)

// Permissions are rules, approvals and the use of tools. It implements gate.Store. A record that
// cannot be read fails what reads it: a refusal that nobody can read must not become a yes.
type Permissions struct{ *file }

// bucketUses holds how often tools were released: tool id → gate.Use.
var bucketUses = kind("tool_uses")

// Rules returns the rules, oldest first.
func (p *Permissions) Rules(ctx context.Context) ([]gate.Rule, error) {
	rules, _, err := all[gate.Rule](ctx, p.file, bucketGrants)
	slices.SortStableFunc(rules, func(a, b gate.Rule) int { return a.Made.Compare(b.Made) })
	return rules, err
}

// PutRule writes a rule, over the one with the same ID.
func (p *Permissions) PutRule(ctx context.Context, r gate.Rule) error {
	return putRecord(ctx, p.file, bucketGrants, "grant", r.ID, r)
}

// DeleteRule deletes a rule, if there is one with this id.
func (p *Permissions) DeleteRule(ctx context.Context, id string) error {
	return deleteRecord(ctx, p.file, bucketGrants, id)
}

// Approvals returns the approvals, by plugin.
func (p *Permissions) Approvals(ctx context.Context) ([]gate.Approval, error) {
	approvals, _, err := all[gate.Approval](ctx, p.file, bucketApprovals)
	slices.SortFunc(approvals, func(a, b gate.Approval) int { return cmp.Compare(a.Plugin, b.Plugin) })
	return approvals, err
}

// PutApproval writes an approval, over the one of the same plugin.
func (p *Permissions) PutApproval(ctx context.Context, a gate.Approval) error {
	return putRecord(ctx, p.file, bucketApprovals, "plugin", a.Plugin, a)
}

// DeleteApproval deletes the approval of the plugin, if there is one.
func (p *Permissions) DeleteApproval(ctx context.Context, plugin string) error {
	return deleteRecord(ctx, p.file, bucketApprovals, plugin)
}

// Uses returns how often the gate allowed calls of each tool, by tool id.
func (p *Permissions) Uses(ctx context.Context) (map[string]gate.Use, error) {
	uses, ids, err := all[gate.Use](ctx, p.file, bucketUses)
	if err != nil {
		return nil, err
	}
	byID := make(map[string]gate.Use, len(ids))
	for i, id := range ids {
		byID[id] = uses[i]
	}
	return byID, nil
}

// PutUses writes the uses of some tools, over those of the same tools.
func (p *Permissions) PutUses(ctx context.Context, uses map[string]gate.Use) error {
	const op = "store.write tool_uses"
	for id := range uses {
		if err := checkID(op, "tool", id); err != nil {
			return err
		}
	}
	return p.write(ctx, op, func(tx *bbolt.Tx) error {
		for id, use := range uses {
			if err := bucketUses.putJSON(tx, []byte(id), use); err != nil {
				return err
			}
		}
		return nil
	})
}

// ForgetRequests deletes the permission requests that an older version stored for a restart.
func (p *Permissions) ForgetRequests(ctx context.Context) error {
	const op = "store.write pending"
	none, err := read(ctx, p.file, op, func(tx *bbolt.Tx) (bool, error) { return bucketPending.empty(tx), nil })
	if err != nil || none {
		return err
	}
	return p.write(ctx, op, func(tx *bbolt.Tx) error {
		return bucketPending.delete(tx, bucketPending.keys(tx, nil)...)
	})
}
