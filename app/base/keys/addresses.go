package keys

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"conclave/app/base/fault"
)

// A key of a connection belongs to the address that it was given for: its scheme, host
// and port. The name of a connection is in the store, which may be a copy that somebody
// else made, so the name alone does not lead to a key.

// addressesName is the file next to the encrypted one that has the addresses of keys from
// before keys had any: name → address. No secret is in it.
const addressesName = "keys.addresses"

// at is the name under which the key of a connection is kept for an address. Names of
// connections hold no @.
func at(name, address string) string { return name + "@" + address }

// BindOld notes the addresses, by the names of connections, for which the keys may be used
// that were kept by name alone. It does so once for each data folder: what a store that came
// later says about a name does not count. A folder that cannot be written is left as it is,
// and its old keys are asked for again.
func (s *Store) BindOld(addresses map[string]string) error {
	path := s.addresses()
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	raw, err := json.Marshal(addresses)
	if err != nil {
		return err
	}
	// What a program that was ended leaves of it binds nothing.
	temp := path + ".part"
	if err := os.WriteFile(temp, raw, 0o600); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

func (s *Store) addresses() string { return filepath.Join(filepath.Dir(s.path), addressesName) }

// wasFor reports whether a key that is kept by name alone was given for this address.
func (s *Store) wasFor(name, address string) bool {
	raw, err := os.ReadFile(s.addresses())
	if err != nil {
		return false
	}
	var all map[string]string
	return json.Unmarshal(raw, &all) == nil && address != "" && all[name] == address
}

// GetFor reads the key of a connection for the address that it is sent to. The kinds are
// those of Get; not_found is also that of a key which was given for another address. A key
// of the environment is the person's word about this run, and belongs to every address.
func (s *Store) GetFor(ctx context.Context, name, address string) (string, error) {
	key := FromEnvironment(name)
	var err error
	if key == "" {
		key, err = s.kept(ctx, at(name, address))
		if fault.KindOf(err) == fault.NotFound && s.wasFor(name, address) {
			key, err = s.kept(ctx, name)
		}
	}
	switch {
	case fault.KindOf(err) == fault.NotFound:
		return "", fault.New(fault.NotFound, "keys.get", "There is no key of "+name+" for "+address+".",
			"A key is used for the address alone that it was given for. Add it in Settings > Models.")
	case err != nil:
		return "", err
	}
	s.note(at(name, address), key)
	return key, nil
}

// SetFor stores the key of a connection for an address, replacing an older one.
func (s *Store) SetFor(ctx context.Context, name, address, key string) error {
	if err := s.Set(ctx, at(name, address), key); err != nil {
		return err
	}
	return s.deleteOld(ctx, name, address)
}

// DeleteFor deletes the key of a connection for an address. A missing one is no error.
func (s *Store) DeleteFor(ctx context.Context, name, address string) error {
	if err := s.Delete(ctx, at(name, address)); err != nil {
		return err
	}
	return s.deleteOld(ctx, name, address)
}

// deleteOld deletes the key that is kept by name alone, if it was given for this address.
func (s *Store) deleteOld(ctx context.Context, name, address string) error {
	if !s.wasFor(name, address) {
		return nil
	}
	return s.Delete(ctx, name)
}
