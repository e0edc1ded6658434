package store

import (
	"context"
	"encoding/json"
	"slices"

	"conclave/app/base/fault"

	"go.etcd.io/bbolt"
)

// PluginCache returns what the plugin host keeps of a plugin so that it need not
// be started to be listed: digest, manifest, tool definitions. Nothing and no
// error when there is none.
func (s *Plugins) PluginCache(ctx context.Context, id string) (json.RawMessage, error) {
	return s.opaque(ctx, bucketPluginCache, id)
}

// PutPluginCache writes what PluginCache returns.
func (s *Plugins) PutPluginCache(ctx context.Context, id string, record json.RawMessage) error {
	return s.putOpaque(ctx, bucketPluginCache, "plugin", id, record)
}

// DeletePluginCache forgets it. There may be none.
func (s *Plugins) DeletePluginCache(ctx context.Context, id string) error {
	return s.deleteOpaque(ctx, bucketPluginCache, id)
}

// PluginState returns what a person set for a plugin: whether it is on, which of its
// tools models see. It returns nothing and no error when they set nothing.
func (s *Plugins) PluginState(ctx context.Context, id string) (json.RawMessage, error) {
	return s.opaque(ctx, bucketPluginState, id)
}

// PutPluginState writes what PluginState returns.
func (s *Plugins) PutPluginState(ctx context.Context, id string, state json.RawMessage) error {
	return s.putOpaque(ctx, bucketPluginState, "plugin", id, state)
}

// opaque reads a record that only its owner understands.
func (s *file) opaque(ctx context.Context, name []byte, id string) (json.RawMessage, error) {
	var raw json.RawMessage
	err := s.view(ctx, "store.read "+string(name), func(tx *bbolt.Tx) error {
		raw = slices.Clone(bucket(tx, name).Get([]byte(id)))
		return nil
	})
	return raw, err
}

func (s *file) putOpaque(ctx context.Context, name []byte, what, id string, record json.RawMessage) error {
	op := "store.write " + string(name)
	if err := checkID(op, what, id); err != nil {
		return err
	}
	if !json.Valid(record) {
		return fault.New(fault.Invalid, op, "What should be kept for "+id+" is not JSON.", "")
	}
	return s.write(ctx, op, func(tx *bbolt.Tx) error {
		return bucket(tx, name).Put([]byte(id), record)
	})
}

func (s *file) deleteOpaque(ctx context.Context, name []byte, id string) error {
	return s.write(ctx, "store.delete "+string(name), func(tx *bbolt.Tx) error {
		return bucket(tx, name).Delete([]byte(id))
	})
}
