package store

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/gate"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// Rights holds what a store lets others do on this computer: where keys and texts are sent,
// what plugins may do, which programs are started. A copy that somebody else made has
// theirs.
type Rights struct {
	Settings      json.RawMessage // nil when none were ever put
	Rules         []gate.Rule
	Approvals     []gate.Approval
	Plugins       map[string]json.RawMessage // what is set for each plugin
	Registrations map[string]json.RawMessage // of programs
	Outside       json.RawMessage            // what programs may call; nil when nothing was ever put
}

// rights are the buckets of Rights, and of what follows from it: what waits to be
// decided, what counts towards rules, and what was listed of plugins.
var rights = []kind{
	bucketSettings, bucketGrants, bucketApprovals, bucketPluginState, bucketPluginCache, bucketPending, bucketUses,
	bucketRegistrations, bucketSpending, bucketOutside,
}

// ReadRights reads the rights that the store file at path has; the store of a data folder
// is read by its folder. A folder without a store has none. The kind is Damaged for what
// is no whole store.
func ReadRights(ctx context.Context, path string) (Rights, error) {
	const op = "store.rights"
	r := Rights{Plugins: map[string]json.RawMessage{}, Registrations: map[string]json.RawMessage{}}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		file, there, err := locate(path)
		if err != nil || !there {
			return r, err
		}
		path = file
	}
	err := readFile(path, func(tx *bbolt.Tx) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := each(tx, bucketSettings, func(_, v []byte) error {
			var set settingsRecord
			err := decode(v, &set)
			r.Settings = set.Value
			return err
		}); err != nil {
			return err
		}
		if b := tx.Bucket(bucketOutside); b != nil {
			r.Outside = slices.Clone(b.Get([]byte(outsideKey)))
		}
		err := errors.Join(decodeEach(tx, bucketGrants, &r.Rules), decodeEach(tx, bucketApprovals, &r.Approvals))
		if err != nil {
			return err
		}
		for name, into := range map[string]map[string]json.RawMessage{
			string(bucketPluginState): r.Plugins, string(bucketRegistrations): r.Registrations,
		} {
			if err := each(tx, kind(name), func(k, v []byte) error {
				into[string(k)] = slices.Clone(v)
				return nil
			}); err != nil {
				return err
			}
		}
		return nil
	})
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return Rights{}, heldBy(op, path)
	case errors.Is(err, errDamaged), errors.Is(err, errRecord):
		return Rights{}, fault.Wrap(fault.Damaged, op, fmt.Sprintf("The copy %s cannot be used: %s.", path,
			strings.TrimPrefix(plainCause(err), errDamaged.Error()+": ")), "Choose another copy. Nothing was changed.", err)
	case err != nil:
		return Rights{}, explain(op, filepath.Dir(path), err)
	}
	slices.SortStableFunc(r.Rules, func(a, b gate.Rule) int { return a.Made.Compare(b.Made) })
	slices.SortFunc(r.Approvals, func(a, b gate.Approval) int { return cmp.Compare(a.Plugin, b.Plugin) })
	return r, nil
}

// decodeEach adds the records of a kind to all.
func decodeEach[T any](tx *bbolt.Tx, k kind, all *[]T) error {
	return each(tx, k, func(_, v []byte) error {
		var value T
		err := decode(v, &value)
		*all = append(*all, value)
		return err
	})
}

// each is kind.each for a file that may lack any kind.
func each(tx *bbolt.Tx, name kind, fn func(k, v []byte) error) error {
	if b := tx.Bucket(name); b != nil {
		return b.ForEach(fn)
	}
	return nil
}

// readFile runs fn over the store file at path, which is opened for reading alone.
func readFile(path string, fn func(*bbolt.Tx) error) error {
	db, _, err := openFile(path, true)
	if err != nil {
		return err
	}
	return errors.Join(guarded(func() error { return db.View(fn) }), db.Close())
}

// changeFile is readFile for a file that nobody else has, and which fn may change.
func changeFile(path string, fn func(*bbolt.Tx) error) error {
	db, _, err := openFile(path, false)
	if err != nil {
		return err
	}
	return errors.Join(guarded(func() error { return db.Update(fn) }), db.Close())
}

// leaveRights puts the rights of the store at from (none where that is empty) in the place
// of those of the store at path.
func leaveRights(path, from string) error {
	type row struct {
		of         kind
		key, value []byte
	}
	var rows []row
	if from != "" {
		err := readFile(from, func(tx *bbolt.Tx) error {
			for _, name := range rights {
				if err := each(tx, name, func(k, v []byte) error {
					rows = append(rows, row{name, slices.Clone(k), slices.Clone(v)})
					return nil
				}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return changeFile(path, func(tx *bbolt.Tx) error {
		for _, name := range rights {
			if tx.Bucket(name) == nil {
				continue
			}
			if err := tx.DeleteBucket(name); err != nil {
				return err
			}
		}
		if err := makeBuckets(tx); err != nil {
			return err
		}
		for _, r := range rows {
			if err := r.of.put(tx, r.key, r.value); err != nil {
				return err
			}
		}
		return nil
	})
}

// A copy is sealed: it has a digest of its rights that is keyed with a secret of the data
// folder it was made in. Its rights are then known to be this computer's own, wherever the
// file was meanwhile.
const (
	sealName = "copies.key"
	sealSize = 32
)

var keySeal = []byte("seal") // of bucketMeta

// sealKey returns the secret of the data folder, which is made when create is set and there
// is none. It is nil where there is none.
func sealKey(dir string, create bool) ([]byte, error) {
	path := filepath.Join(dir, sealName)
	key, err := os.ReadFile(path)
	switch {
	case err == nil && len(key) == sealSize:
		return key, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case !create:
		return nil, nil
	}
	key = make([]byte, sealSize)
	if _, err := rand.Read(key); err != nil {
		return nil, err
	}
	temp := path + ".new"
	if err := os.WriteFile(temp, key, 0o600); err != nil {
		return nil, err
	}
	return key, errors.Join(os.Rename(temp, path), syncFolder(dir))
}

// sealOf returns the seal of what a transaction sees.
func sealOf(tx *bbolt.Tx, key []byte) ([]byte, error) {
	sum := hmac.New(sha256.New, key)
	put := func(part []byte) {
		_ = binary.Write(sum, binary.BigEndian, uint64(len(part))) // a hash takes everything
		_, _ = sum.Write(part)
	}
	for _, name := range rights {
		if err := each(tx, name, func(k, v []byte) error {
			put(name)
			put(k)
			put(v)
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return sum.Sum(nil), nil
}

// seal seals the copy at path. One of a folder that cannot be written, and has no secret yet,
// stays as it is.
func seal(dir, path string, readOnly bool) error {
	key, err := sealKey(dir, !readOnly)
	if err != nil || key == nil {
		return err
	}
	return changeFile(path, func(tx *bbolt.Tx) error {
		sum, err := sealOf(tx, key)
		if err != nil {
			return err
		}
		return bucket(tx, bucketMeta).Put(keySeal, sum)
	})
}

// OwnCopy reports whether the rights in the copy at path are those of the data folder dir
// at some time: the copy lies in that folder, or was made by its Conclave and has kept its
// rights since. A copy that cannot be judged is not its own.
func OwnCopy(dir, path string) bool {
	home, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		if inside, err := filepath.Rel(home, real); err == nil && filepath.IsLocal(inside) &&
			(filepath.Dir(inside) == copiesName || strings.HasPrefix(inside, fileName)) {
			return true
		}
	}
	key, err := sealKey(dir, false)
	if err != nil || key == nil {
		return false
	}
	own := false
	err = readFile(path, func(tx *bbolt.Tx) error {
		sum, err := sealOf(tx, key)
		own = err == nil && hmac.Equal(sum, bucket(tx, bucketMeta).Get(keySeal))
		return err
	})
	return err == nil && own
}
