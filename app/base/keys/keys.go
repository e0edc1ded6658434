// Package keys keeps the secrets that models need: in the system's keychain, or
// where there is none in one file encrypted under a passphrase. Secrets are read
// at the moment of use and are nowhere else on a disk or a screen: not in the store, a
// log, an error or the window. Those that were used are kept in memory, to be masked.
//
// Read Store first. A key given in the environment as CONCLAVE_KEY_<NAME>
// (upper case, dashes as underscores) is used before both, for machines without
// a person.
package keys

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"conclave/app/base/fault"

	"filippo.io/age"
	"github.com/zalando/go-keyring"
)

// service is the name under which the keychain shows our entries.
const service = "Conclave"

// Store keeps secrets by name. Use New. It is safe for concurrent use.
type Store struct {
	path string // of the encrypted file

	// Ask obtains the passphrase of the encrypted file from a person. It is
	// called at most once per unlock; nil, or an empty answer, means that nobody
	// can be asked. again says that the passphrase given before was wrong; fresh
	// that the file does not exist yet and the answer becomes its passphrase.
	Ask func(ctx context.Context, fresh, again bool) (string, error)

	changing sync.Mutex // held from the reading of the file to its writing, so that no change is lost

	// Answered is called where Sentence could not say yet whether there is a keychain, once it
	// can. Nil is nobody.
	Answered func()

	probe    sync.Once
	asked    time.Time     // when the keychain was asked whether it works
	answered chan struct{} // closed once it is known
	chain    bool          // it works; read only once that is known
	late     sync.Once
	asking   chan struct{} // holds something while the keychain is asked, by one at a time

	mu         sync.Mutex        // guards the fields below
	passphrase string            // of the file, once given
	known      map[string]string // by name
}

// Known returns the keys that were read or set since the program was started.
func (s *Store) Known() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.known))
}

func (s *Store) note(name, key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[string]string{}
	}
	s.known[name] = key
}

// New returns a store whose encrypted file, if it is needed, is in the folder dir.
func New(dir string) *Store {
	return &Store{
		path: filepath.Join(dir, "keys.age"), answered: make(chan struct{}), asking: make(chan struct{}, 1),
	}
}

// Sentence returns where keys are kept, for the settings page. It does not wait for a keychain that
// does not answer; see Answered for when to ask again.
func (s *Store) Sentence() string {
	chain, known := s.soon()
	if !known {
		return "The system keychain has not answered yet. If it asks for its password, give it there."
	}
	if chain {
		return "Keys are kept in the system keychain."
	}
	return "This computer has no keychain. Keys are kept in an encrypted file protected by a passphrase."
}

// NeedsPassphrase reports whether the encrypted file is used and its passphrase
// has not been given yet. It is false where it is not known yet whether there is a keychain.
func (s *Store) NeedsPassphrase() bool {
	if chain, known := s.soon(); chain || !known {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.passphrase == "" && os.Getenv(passphraseVariable) == ""
}

// Fresh reports whether the encrypted file does not exist yet.
func (s *Store) Fresh() bool {
	_, err := os.Lstat(s.path) // a link that leads nowhere now is a file that cannot be reached
	return errors.Is(err, fs.ErrNotExist)
}

// passphraseVariable gives the passphrase where nobody can be asked.
const passphraseVariable = "CONCLAVE_PASSPHRASE"

// unlocking is the time that a key is waited for: a locked keychain asks the person for its password first.
// Tests replace it.
var unlocking = 30 * time.Second

// keychain asks the system's keychain for what do does; used is false where there is none. A keychain
// that does not answer in time is left with one question, however often it is asked.
func (s *Store) keychain(ctx context.Context, do func() (string, error)) (value string, used bool, err error) {
	s.ask()
	wait, cancel := context.WithTimeout(ctx, unlocking)
	defer cancel()
	select {
	case <-s.answered:
		if !s.chain {
			return "", false, nil
		}
	case <-wait.Done():
		return "", true, silent(ctx)
	}
	select {
	case s.asking <- struct{}{}:
	case <-wait.Done():
		return "", true, silent(ctx)
	}
	type answer struct {
		value string
		err   error
	}
	answers := make(chan answer, 1)
	go func() { // ends with the keychain's answer
		defer func() { <-s.asking }()
		value, err := do()
		answers <- answer{value, err}
	}()
	select {
	case a := <-answers:
		return a.value, true, a.err
	case <-wait.Done():
		return "", true, silent(ctx)
	}
}

// silent returns why whoever waited for a keychain no longer waits.
func silent(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fault.New(fault.Unavailable, "keys.wait", "The system keychain does not answer.",
		"If it asks for its password, give it there and try again. Where it asks for nothing, log in to the desktop again.")
}

// patience is the time that whoever shows where keys are kept waits for the keychain. Tests replace it.
var patience = time.Second

// soon reports whether the system's keychain works, where that is known in time.
func (s *Store) soon() (chain, known bool) {
	s.ask()
	wait, cancel := context.WithDeadline(context.Background(), s.asked.Add(patience))
	defer cancel()
	select {
	case <-s.answered:
	case <-wait.Done():
	}
	select {
	case <-s.answered:
		return s.chain, true
	default:
	}
	s.late.Do(func() {
		go func() { // ends with the keychain's answer
			<-s.answered
			if s.Answered != nil {
				s.Answered()
			}
		}()
	})
	return false, false
}

// ask asks the keychain once whether it works.
func (s *Store) ask() {
	s.probe.Do(func() {
		s.asked = time.Now()
		go func() { // ends with the keychain's answer
			defer close(s.answered)
			s.chain = reachable() && works()
		}()
	})
}

// works asks the keychain for an entry, which there need not be. Tests replace it.
var works = func() bool {
	_, err := keyring.Get(service, "probe")
	return err == nil || errors.Is(err, keyring.ErrNotFound)
}

// FromEnvironment returns the key of name that the environment gives, or "".
func FromEnvironment(name string) string { return os.Getenv(variable(name)) }

// variable is the environment variable that overrides the key of name.
func variable(name string) string {
	return "CONCLAVE_KEY_" + strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(name))
}

// Has reports whether Get would find a key of that name without asking the person;
// also true for one that may be in the locked file.
func (s *Store) Has(ctx context.Context, name string) bool {
	key, err := s.Get(ctx, name)
	return err == nil && key != ""
}

// Get reads a key. Kind not_found when there is none; unavailable when the
// encrypted file is locked and nobody gave its passphrase.
func (s *Store) Get(ctx context.Context, name string) (string, error) {
	key, err := s.get(ctx, name)
	if err == nil {
		s.note(name, key)
	}
	return key, err
}

func (s *Store) get(ctx context.Context, name string) (string, error) {
	if key := FromEnvironment(name); key != "" {
		return key, nil
	}
	return s.kept(ctx, name)
}

// kept is get without the environment.
func (s *Store) kept(ctx context.Context, name string) (string, error) {
	key, used, err := s.keychain(ctx, func() (string, error) {
		key, err := keyring.Get(service, name)
		switch {
		case errors.Is(err, keyring.ErrNotFound):
			return "", missing(name)
		case err != nil:
			return "", fault.Wrap(fault.Unavailable, "keys.get", "The system keychain did not give the key of "+name+".",
				"Unlock the keychain and try again.", err)
		}
		return key, nil
	})
	if used {
		return key, err
	}
	if s.Fresh() {
		return "", missing(name) // and nobody need be asked for a passphrase
	}
	all, err := s.read(ctx)
	if err != nil {
		return "", err
	}
	key, ok := all[name]
	if !ok {
		return "", missing(name)
	}
	return key, nil
}

func missing(name string) error {
	return fault.New(fault.NotFound, "keys.get", "There is no key for "+name+".", "Add it in Settings > Models.")
}

// Set stores a key, replacing an older one of that name.
func (s *Store) Set(ctx context.Context, name, key string) error {
	s.note(name, key)
	_, used, err := s.keychain(ctx, func() (string, error) {
		if err := keyring.Set(service, name, key); err != nil {
			return "", fault.Wrap(fault.Unavailable, "keys.set", "The system keychain did not take the key of "+name+".",
				"Unlock the keychain and try again.", err)
		}
		return "", nil
	})
	if used {
		return err
	}
	return s.change(ctx, func(all map[string]string) { all[name] = key })
}

// Delete deletes a key. A missing one is no error.
func (s *Store) Delete(ctx context.Context, name string) error {
	_, used, err := s.keychain(ctx, func() (string, error) {
		if err := keyring.Delete(service, name); err != nil && !errors.Is(err, keyring.ErrNotFound) {
			return "", fault.Wrap(fault.Unavailable, "keys.delete", "The system keychain did not remove the key of "+name+".",
				"Remove it with the system's own keychain program.", err)
		}
		return "", nil
	})
	if used {
		return err
	}
	if s.Fresh() {
		return nil
	}
	return s.change(ctx, func(all map[string]string) { delete(all, name) })
}

// shortest is the fewest characters of a passphrase: with the file's slow
// function to derive a key, fewer could be tried out by anyone who has the file.
const shortest = 8

// Unlock gives the passphrase of the encrypted file; for a file that does not
// exist yet it becomes its passphrase. Kind not_allowed when it is wrong.
func (s *Store) Unlock(passphrase string) error {
	_, err := s.unlock(passphrase)
	return err
}

// unlock is Unlock, and returns what is in the file.
func (s *Store) unlock(passphrase string) (map[string]string, error) {
	if s.Fresh() && utf8.RuneCountInString(passphrase) < shortest {
		return nil, fault.New(fault.Invalid, "keys.unlock", "The passphrase is shorter than 8 characters.",
			"Choose a longer one; a few words are good.")
	}
	all, err := decrypt(s.path, passphrase)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.passphrase = passphrase
	s.mu.Unlock()
	return all, nil
}

func (s *Store) change(ctx context.Context, do func(map[string]string)) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	all, err := s.read(ctx)
	if err != nil {
		return err
	}
	do(all)
	s.mu.Lock()
	defer s.mu.Unlock()
	return encrypt(s.path, s.passphrase, all)
}

// read decrypts the file, asking for its passphrase when it was not given yet.
func (s *Store) read(ctx context.Context) (map[string]string, error) {
	s.mu.Lock()
	passphrase := s.passphrase
	s.mu.Unlock()
	if passphrase == "" {
		passphrase = os.Getenv(passphraseVariable)
	}
	fresh := s.Fresh()
	for again := false; ; again = true {
		if passphrase == "" && s.Ask != nil {
			var err error
			if passphrase, err = s.Ask(ctx, fresh, again); err != nil {
				return nil, err
			}
		}
		if passphrase == "" && fresh {
			return nil, fault.New(fault.Unavailable, "keys.read",
				"No keychain answers here, and no passphrase was chosen for a file with keys.",
				"Choose one in Settings > Models, or give one in the environment as "+passphraseVariable+".")
		}
		if passphrase == "" {
			return nil, fault.New(fault.Unavailable, "keys.read", "The file with your keys is locked.",
				"Give its passphrase in Settings > Models, or in the environment as "+passphraseVariable+".")
		}
		all, err := s.unlock(passphrase)
		if err == nil {
			return all, nil
		}
		if fault.KindOf(err) != fault.NotAllowed || s.Ask == nil || again {
			return nil, err
		}
		passphrase = ""
	}
}

// decrypt reads the file: an age file encrypted to one passphrase, holding a
// JSON object of names and keys. A missing file is empty.
func decrypt(path, passphrase string) (map[string]string, error) {
	all := map[string]string{}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, "keys.read", "The file with your keys, "+path+", cannot be read.",
			"Check its owner and permissions, and whether the disk is there that it lies on.", err)
	}
	identity, err := age.NewScryptIdentity(passphrase)
	if err != nil {
		return nil, err
	}
	plain, err := age.Decrypt(bytes.NewReader(data), identity)
	if err != nil {
		if _, wrong := errors.AsType[*age.NoIdentityMatchError](err); wrong {
			return nil, fault.New(fault.NotAllowed, "keys.read", "That is not the passphrase of the file with your keys.",
				"Try again.")
		}
		return nil, fault.Wrap(fault.Damaged, "keys.read", "The file with your keys, "+path+", is damaged.",
			"Move it away and add your keys again.", err)
	}
	text, err := io.ReadAll(plain)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		return nil, fault.Wrap(fault.Damaged, "keys.read", "The file with your keys, "+path+", is damaged.",
			"Move it away and add your keys again.", err)
	}
	return all, nil
}

// scryptWork is the work factor of new files (2^15: about 0.1 s and 32 MB, so
// that a command line use stays quick and a guess stays dear).
const scryptWork = 15

func encrypt(path, passphrase string, all map[string]string) error {
	recipient, err := age.NewScryptRecipient(passphrase)
	if err != nil {
		return err
	}
	recipient.SetWorkFactor(scryptWork)
	var out bytes.Buffer
	w, err := age.Encrypt(&out, recipient)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(w).Encode(all); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // of a link, which stays one
	}
	temp := path + ".part"
	if err := os.WriteFile(temp, out.Bytes(), 0o600); err != nil {
		return fault.Wrap(fault.Unavailable, "keys.write", "The file with your keys, "+path+", cannot be written.",
			"Check the disk's space and the folder's permissions.", err)
	}
	return os.Rename(temp, path)
}
