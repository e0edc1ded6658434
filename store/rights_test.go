package store_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/store"
	"conclave/store/storetest"

	"go.etcd.io/bbolt"
)

// withRights makes a store with a chat, settings, a rule and an approval, and a backup of it.
func withRights(t *testing.T, name string) (dir, backup string) {
	t.Helper()
	dir = t.TempDir()
	s := storetest.OpenWith(t, store.Options{Dir: dir})
	newChat(t, s, name)
	_, err := s.Settings.PutSettings(t.Context(), json.RawMessage(`{"editor":"`+name+`"}`), 0)
	must(t, err)
	must(t, s.Permissions.PutRule(t.Context(), gate.Rule{ID: name, Effect: gate.Allow, Plugin: name, Tool: "*"}))
	must(t, s.Permissions.PutApproval(t.Context(), gate.Approval{Plugin: name, Code: "digest"}))
	must(t, s.Plugins.PutPluginState(t.Context(), name, json.RawMessage(`{"options":{}}`)))
	backup = filepath.Join(t.TempDir(), "backup.db")
	_, err = s.Backup(t.Context(), backup)
	must(t, errors.Join(err, s.Close()))
	return dir, backup
}

func TestACopyOfAnotherFolderIsNotItsOwn(t *testing.T) {
	mine, myBackup := withRights(t, "mine")
	_, theirs := withRights(t, "theirs")
	daily, err := store.Recover(t.Context(), mine)
	if err != nil || len(daily) != 1 {
		t.Fatalf("%v, %v", daily, err)
	}
	moved := filepath.Join(t.TempDir(), "moved.db")
	raw, err := os.ReadFile(daily[0].Path)
	must(t, errors.Join(err, os.WriteFile(moved, raw, 0o600)))
	changed := filepath.Join(t.TempDir(), "changed.db")
	raw, err = os.ReadFile(myBackup)
	must(t, errors.Join(err, os.WriteFile(changed, raw, 0o600)))
	db, err := bbolt.Open(changed, 0o600, nil)
	must(t, err)
	must(t, errors.Join(db.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte("grants")).Put([]byte("x"), []byte(`{"id":"x","effect":"allow","plugin":"p","tool":"*"}`))
	}), db.Close()))
	link := filepath.Join(mine, "backups", "conclave-000009-20260101T000000Z.db")
	if err := os.Symlink(theirs, link); err != nil {
		t.Log(err) // Windows may not let us
	}
	for name, c := range map[string]struct {
		path string
		own  bool
	}{
		"a backup":                       {myBackup, true},
		"a daily copy":                   {daily[0].Path, true},
		"a daily copy that was moved":    {moved, true},
		"a backup of another":            {theirs, false},
		"a backup whose rules changed":   {changed, false},
		"a link in its folder elsewhere": {link, false},
		"what is not there":              {filepath.Join(mine, "nothing.db"), false},
	} {
		if got := store.OwnCopy(mine, c.path); got != c.own {
			t.Errorf("%s: own is %v", name, got)
		}
	}
	if store.OwnCopy(filepath.Join(t.TempDir(), "new"), myBackup) {
		t.Error("a folder that is not there yet has copies of its own")
	}
}

func TestRightsOfACopyCanBeLeftOut(t *testing.T) {
	for name, empty := range map[string]bool{"of a store": false, "of none": true} {
		t.Run(name, func(t *testing.T) {
			mine, _ := withRights(t, "mine")
			_, theirs := withRights(t, "theirs")
			if empty {
				mine = t.TempDir()
			}
			before, err := store.ReadRights(t.Context(), mine)
			must(t, err)
			done, err := store.RestoreCopy(t.Context(), mine, theirs, time.Now(), store.RestoreOptions{LeaveRights: true})
			must(t, err)
			equal(t, "what was there was kept", done.Replaced != "", !empty)
			after, err := store.ReadRights(t.Context(), mine)
			must(t, err)
			equal(t, "rights", after, before)
			s := storetest.OpenWith(t, store.Options{Dir: mine})
			page, err := s.Chats.List(t.Context(), chat.ListOptions{})
			if err != nil || page.Total != 1 || page.Conversations[0].Title != "theirs" {
				t.Errorf("chats: %+v, %v", page, err)
			}
		})
	}
}

func TestACopyThatChangesWhileItIsLookedAtIsRefused(t *testing.T) {
	mine, _ := withRights(t, "mine")
	_, theirs := withRights(t, "theirs")
	_, other := withRights(t, "other")
	seen, err := store.ReadRights(t.Context(), theirs)
	must(t, err)
	raw, err := os.ReadFile(other)
	must(t, errors.Join(err, os.WriteFile(theirs, raw, 0o600)))
	_, err = store.RestoreCopy(t.Context(), mine, theirs, time.Now(), store.RestoreOptions{Seen: &seen})
	kind(t, err, fault.Conflict)
	s := storetest.OpenWith(t, store.Options{Dir: mine})
	page, err := s.Chats.List(t.Context(), chat.ListOptions{})
	if err != nil || page.Conversations[0].Title != "mine" {
		t.Errorf("chats: %+v, %v", page, err)
	}
}
