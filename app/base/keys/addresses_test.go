package keys

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/app/base/fault"

	"github.com/zalando/go-keyring"
)

const (
	here  = "https://api.example.com:443"
	there = "https://evil.example:443"
)

func TestAKeyIsReadForTheAddressAloneThatItWasGivenFor(t *testing.T) {
	keyring.MockInit()
	for _, kind := range []string{"keychain", "file"} {
		t.Run(kind, func(t *testing.T) {
			if kind == "file" {
				withoutKeychain(t)
			}
			ctx := t.Context()
			s := New(t.TempDir())
			if kind == "file" {
				must(t, s.Unlock("correct horse"))
			}
			must(t, s.SetFor(ctx, "work", here, "sk-here"))
			if key, err := s.GetFor(ctx, "work", here); err != nil || key != "sk-here" {
				t.Errorf("got %q, %v", key, err)
			}
			for _, other := range []string{there, "http://api.example.com:80", "https://api.example.com:8443", "openai:", ""} {
				key, err := s.GetFor(ctx, "work", other)
				if key != "" || fault.KindOf(err) != fault.NotFound || !strings.Contains(err.Error(), "work for "+other) {
					t.Errorf("for %s: got %q, %v", other, key, err)
				}
			}
			if key, err := s.GetFor(ctx, "play", here); key != "" || fault.KindOf(err) != fault.NotFound {
				t.Errorf("another connection got %q, %v", key, err)
			}
			must(t, s.SetFor(ctx, "work", there, "sk-there"))
			must(t, s.DeleteFor(ctx, "work", here))
			if _, err := s.GetFor(ctx, "work", here); fault.KindOf(err) != fault.NotFound {
				t.Errorf("deleted: %v", err)
			}
			if key, err := s.GetFor(ctx, "work", there); err != nil || key != "sk-there" {
				t.Errorf("the other one: %q, %v", key, err)
			}
		})
	}
}

func TestAnOldKeyIsForTheAddressThatItsConnectionHadFirst(t *testing.T) {
	keyring.MockInit()
	ctx := t.Context()
	dir := t.TempDir()
	s := New(dir)
	must(t, s.Set(ctx, "work", "sk-old")) // as a Conclave of before keeps it
	if key, err := s.GetFor(ctx, "work", here); key != "" || fault.KindOf(err) != fault.NotFound {
		t.Errorf("before anything is known of it: %q, %v", key, err)
	}
	must(t, s.BindOld(map[string]string{"work": here}))
	must(t, s.BindOld(map[string]string{"work": there})) // as a store says that came later
	again := New(dir)
	if key, err := again.GetFor(ctx, "work", here); err != nil || key != "sk-old" {
		t.Errorf("for its address: %q, %v", key, err)
	}
	if key, err := again.GetFor(ctx, "work", there); key != "" || fault.KindOf(err) != fault.NotFound {
		t.Errorf("for another: %q, %v", key, err)
	}
	must(t, again.SetFor(ctx, "work", there, "sk-there"))
	if key, err := again.GetFor(ctx, "work", here); err != nil || key != "sk-old" {
		t.Errorf("after another address got one of its own: %q, %v", key, err)
	}
	must(t, again.SetFor(ctx, "work", here, "sk-new"))
	if _, err := again.Get(ctx, "work"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("the old key is there still: %v", err)
	}
	if key, err := again.GetFor(ctx, "work", here); err != nil || key != "sk-new" {
		t.Errorf("the new key: %q, %v", key, err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, addressesName))
	if err != nil || strings.Contains(string(raw), "sk-") {
		t.Errorf("the file of addresses: %s, %v", raw, err)
	}
}

func TestAFileOfKeysOnADiskThatIsAwayIsNotReplaced(t *testing.T) {
	withoutKeychain(t)
	dir, disk := t.TempDir(), filepath.Join(t.TempDir(), "keys.age")
	s := New(dir)
	must(t, s.Unlock("correct horse"))
	must(t, s.Set(t.Context(), "work", "sk-1"))
	path := filepath.Join(dir, "keys.age")
	must(t, os.Rename(path, disk))
	if err := os.Symlink(disk, path); err != nil {
		t.Skip(err)
	}
	must(t, s.Set(t.Context(), "work", "sk-2"))
	must(t, os.Rename(disk, disk+".away"))
	if s.Fresh() || s.Unlock("another one") == nil {
		t.Error("a file that cannot be reached is taken for none")
	}
	if err := s.Set(t.Context(), "work", "sk-3"); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("it was written: %v", err)
	}
	must(t, os.Rename(disk+".away", disk))
	if key, err := s.Get(t.Context(), "work"); err != nil || key != "sk-2" {
		t.Errorf("got %q, %v", key, err)
	}
}
