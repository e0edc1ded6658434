package store

import (
	"context"
	"encoding/json"
	"slices"

	"conclave/app/base/fault"
	"conclave/app/model/cost"

	"go.etcd.io/bbolt"
)

// Plugins holds what the host knows of plugins (host.Store), which tools programs registered over
// HTTP (httptools.Store), and what plugins spent.
type Plugins struct{ *file }

var (
	// bucketRegistrations holds id → JSON of app/plugin/dialect/httptools.
	bucketRegistrations = kind("registrations")
	// bucketSpending holds what plugins had models cost: plugin → cost.Day.
	bucketSpending = kind("plugin_spending")
)

// PluginCache returns what the plugin host stored about a plugin so that it need not
// be started to be listed: digest, manifest, tool definitions. It returns nothing and no
// error when there is none.
func (p *Plugins) PluginCache(ctx context.Context, id string) (json.RawMessage, error) {
	return p.rawRecord(ctx, bucketPluginCache, id)
}

// PutPluginCache writes what PluginCache returns.
func (p *Plugins) PutPluginCache(ctx context.Context, id string, record json.RawMessage) error {
	return p.putRawRecord(ctx, bucketPluginCache, id, record)
}

// DeletePluginCache deletes it. There may be none.
func (p *Plugins) DeletePluginCache(ctx context.Context, id string) error {
	return deleteRecord(ctx, p.file, bucketPluginCache, id)
}

// PluginState returns what a person set for a plugin: whether it is on, which of its
// tools models see. It returns nothing and no error when they set nothing.
func (p *Plugins) PluginState(ctx context.Context, id string) (json.RawMessage, error) {
	return p.rawRecord(ctx, bucketPluginState, id)
}

// PutPluginState writes what PluginState returns.
func (p *Plugins) PutPluginState(ctx context.Context, id string, state json.RawMessage) error {
	return p.putRawRecord(ctx, bucketPluginState, id, state)
}

// rawRecord reads a record that only its owner understands.
func (f *file) rawRecord(ctx context.Context, k kind, id string) (json.RawMessage, error) {
	return read(ctx, f, "store.read "+string(k), func(tx *bbolt.Tx) (json.RawMessage, error) {
		return slices.Clone(k.get(tx, []byte(id))), nil
	})
}

func (f *file) putRawRecord(ctx context.Context, k kind, id string, record json.RawMessage) error {
	op := "store.write " + string(k)
	if err := checkID(op, "plugin", id); err != nil {
		return err
	}
	if !json.Valid(record) {
		return fault.New(fault.Invalid, op, "What should be stored for "+id+" is not JSON.", "")
	}
	return f.write(ctx, op, func(tx *bbolt.Tx) error { return k.put(tx, []byte(id), record) })
}

// Registrations returns what programs registered, by id.
func (p *Plugins) Registrations(ctx context.Context) (map[string]json.RawMessage, error) {
	all := map[string]json.RawMessage{}
	return all, p.view(ctx, "store.registrations", func(tx *bbolt.Tx) error {
		return bucketRegistrations.each(tx, nil, func(id, raw []byte) error {
			all[string(id)] = slices.Clone(raw)
			return nil
		})
	})
}

// ChangeRegistrations writes and deletes (nil) what programs registered, by id, in one
// step.
func (p *Plugins) ChangeRegistrations(ctx context.Context, change map[string]json.RawMessage) error {
	const op = "store.change_registrations"
	for id := range change {
		if err := checkID(op, "registration", id); err != nil {
			return err
		}
	}
	return p.write(ctx, op, func(tx *bbolt.Tx) (err error) {
		for id, raw := range change {
			if raw == nil {
				err = bucketRegistrations.delete(tx, []byte(id))
			} else {
				err = bucketRegistrations.put(tx, []byte(id), raw)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Spent returns what a plugin had models cost on the last day that it did.
func (p *Plugins) Spent(ctx context.Context, plugin string) (cost.Day, error) {
	return read(ctx, p.file, "store.spent", func(tx *bbolt.Tx) (d cost.Day, err error) {
		_, err = getJSON(tx, bucketSpending, []byte(plugin), &d)
		return d, err
	})
}

// PutSpent replaces what a plugin had models cost.
func (p *Plugins) PutSpent(ctx context.Context, plugin string, d cost.Day) error {
	return putRecord(ctx, p.file, bucketSpending, "plugin", plugin, d)
}
