package core

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/base/settings"
	"conclave/app/core/restore"
	"conclave/app/gate"
	"conclave/app/model"
)

// modelServer is a model server that notes what it is sent.
type modelServer struct {
	*httptest.Server
	mu   sync.Mutex
	keys []string // of each request
}

func listening(t *testing.T) *modelServer {
	t.Helper()
	l := &modelServer{}
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.mu.Lock()
		l.keys = append(l.keys, r.Header.Get("Authorization"))
		l.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"object":"list","data":[{"id":"m"}]}`))
	}))
	t.Cleanup(l.Close)
	return l
}

func (l *modelServer) heard() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.keys)
}

func openedIn(t *testing.T, dir string) *Core {
	t.Helper()
	c, err := Open(t.Context(), Options{
		Data: dir, Plugins: t.TempDir(), Worker: "/nonexistent/conclave-worker", Name: "a test",
	})
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// connected makes a data folder with the connection "work" to a server.
func connected(t *testing.T, url, key string, change func(c *Core)) (dir string) {
	t.Helper()
	dir = t.TempDir()
	c := openedIn(t, dir)
	must(t, c.Models.Add(t.Context(), model.Connection{Name: "work", Kind: "openai", URL: url + "/v1"}, key))
	if change != nil {
		change(c)
	}
	must(t, c.Close())
	return dir
}

func TestAttackACopyOfAStrangerTakesTheKeyAndBringsItsRights(t *testing.T) {
	t.Setenv("CONCLAVE_PASSPHRASE", "correct horse")
	mine, theirs := listening(t), listening(t)
	const secret = "sk-victim-SECRET-KEY-0123456789"
	dir := connected(t, mine.URL, secret, nil)
	gift := filepath.Join(t.TempDir(), "gift.db")
	connected(t, theirs.URL, "", func(c *Core) {
		ctx := t.Context()
		must(t, c.Store.Permissions.PutRule(ctx, gate.Rule{ID: "r", Effect: gate.Allow, Plugin: "helper", Tool: "*"}))
		must(t, c.Store.Permissions.PutApproval(ctx, gate.Approval{Plugin: "helper", Code: "0123456789abcdef"}))
		_, err := c.Settings.ChangeSettings(ctx, func(s *settings.Settings) { s.Editor = "/usr/bin/touch owned" })
		must(t, err)
		_, err = c.backup(ctx, gift)
		must(t, err)
	})
	asked := func(yes bool, err error) (func(context.Context, []string) (bool, error), *string) {
		var listed string
		return func(_ context.Context, differs []string) (bool, error) {
			listed = strings.Join(differs, "\n")
			return yes, err
		}, &listed
	}

	// Nobody says yes: nothing is restored, and what would come was listed.
	refused := fault.New(fault.NotAllowed, "test", "no", "")
	bring, listed := asked(false, refused)
	if _, err := restore.Restore(t.Context(), dir, gift, bring); fault.KindOf(err) != fault.NotAllowed {
		t.Errorf("restored: %v", err)
	}
	for _, want := range []string{
		"The connection work asks " + theirs.URL + "/v1 (here: " + mine.URL + "/v1)",
		"helper may", "The plugin helper is approved",
		"/usr/bin/touch owned",
	} {
		if !strings.Contains(*listed, want) {
			t.Errorf("%q is not listed among:\n%s", want, *listed)
		}
	}

	// No: the chats come, and all that was listed stays as it was.
	bring, _ = asked(false, nil)
	done, err := restore.Restore(t.Context(), dir, gift, bring)
	if err != nil || !done.LeftOut {
		t.Fatalf("%+v, %v", done, err)
	}
	c := openedIn(t, dir)
	set, err := c.Settings.Settings(t.Context())
	must(t, err)
	if len(c.Gate.Approvals.List()) != 0 || set.Editor != "" || set.Connections[0].URL != mine.URL+"/v1" {
		t.Errorf("it came: %v, %+v", c.Gate.Approvals.List(), set)
	}
	must(t, c.Close())

	// Yes: the connection is theirs now, and the key is still for the address it was given for.
	bring, _ = asked(true, nil)
	if _, err := restore.Restore(t.Context(), dir, gift, bring); err != nil {
		t.Fatal(err)
	}
	c = openedIn(t, dir)
	must(t, c.Models.Update(t.Context(), model.Connection{Name: "work", Kind: "openai", URL: theirs.URL + "/v1"}, ""))
	if _, _, err := c.Models.Test(t.Context(), "work"); err != nil {
		t.Errorf("a server that wants no key: %v", err)
	}
	if keys := theirs.heard(); len(keys) == 0 || strings.Contains(strings.Join(keys, "\n"), secret) {
		t.Errorf("their server was sent %q", keys)
	}
	address := model.Connection{URL: mine.URL}.Address()
	if key, err := c.Keys.GetFor(t.Context(), "work", address); err != nil || key != secret {
		t.Errorf("the key itself: %q, %v", key, err)
	}
}

func TestAKeyThatConclaveHadBeforeGoesOnBeingUsedWhereItWas(t *testing.T) {
	t.Setenv("CONCLAVE_PASSPHRASE", "correct horse")
	for name, restored := range map[string]bool{"opened": false, "restored before it is opened": true} {
		t.Run(name, func(t *testing.T) {
			mine, theirs := listening(t), listening(t)
			dir := connected(t, mine.URL, "", func(c *Core) { // as a Conclave of before left it
				must(t, c.Keys.Set(t.Context(), "work", "sk-old"))
				_, err := c.Settings.ChangeSettings(t.Context(), func(s *settings.Settings) { s.Connections[0].HasKey = true })
				must(t, err)
			})
			forgetAddresses(t, dir)
			if restored {
				gift := filepath.Join(t.TempDir(), "gift.db")
				connected(t, theirs.URL, "k", func(c *Core) {
					_, err := c.backup(t.Context(), gift)
					must(t, err)
				})
				yes := func(context.Context, []string) (bool, error) { return true, nil }
				if _, err := restore.Restore(t.Context(), dir, gift, yes); err != nil {
					t.Fatal(err)
				}
			}
			c := openedIn(t, dir)
			_, _, err := c.Models.Test(t.Context(), "work")
			if restored {
				if err == nil || len(theirs.heard()) != 0 || !strings.Contains(err.Error(), "There is no key of work for ") {
					t.Errorf("their server was sent %q, %v", theirs.heard(), err)
				}
				return
			}
			if keys := mine.heard(); err != nil || !slices.Contains(keys, "Bearer sk-old") {
				t.Errorf("it was sent %q, %v", keys, err)
			}
		})
	}
}

func TestABackupOfOnesOwnIsRestoredWithoutAQuestion(t *testing.T) {
	t.Setenv("CONCLAVE_PASSPHRASE", "correct horse")
	mine := listening(t)
	backup := filepath.Join(t.TempDir(), "backup.db")
	dir := connected(t, mine.URL, "sk-mine", func(c *Core) {
		_, err := c.backup(t.Context(), backup)
		must(t, err)
	})
	c := openedIn(t, dir)
	moved := model.Connection{Name: "work", Kind: "openai", URL: "http://127.0.0.1:9/v1"}
	must(t, c.Models.Update(t.Context(), moved, "sk-other"))
	must(t, c.Close())
	done, err := restore.Restore(t.Context(), dir, backup, func(context.Context, []string) (bool, error) {
		t.Error("it was asked about")
		return false, nil
	})
	if differs := strings.Join(done.Differs, "\n"); err != nil || done.LeftOut ||
		!strings.Contains(differs, "The connection work asks "+mine.URL) {
		t.Errorf("%+v, %v", done, err)
	}
}

// forgetAddresses removes what is known of the addresses of old keys.
func forgetAddresses(t *testing.T, dir string) {
	t.Helper()
	must(t, os.Remove(filepath.Join(dir, "keys.addresses")))
}
