package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/record/activity"
	"conclave/store"
	"conclave/store/storetest"
)

// whole reads all that a store holds, and returns an error where something is not as it was
// written: the texts of a chat, and the record of activity.
func whole(t *testing.T, s *store.Store, id chat.ConversationID, words, calls int) error {
	t.Helper()
	path, err := s.Chats.Path(t.Context(), id)
	if err != nil {
		return err
	}
	if len(path) != words {
		return fmt.Errorf("of %d messages %d are there", words, len(path))
	}
	report, err := s.Activity.VerifyActivity(t.Context())
	if err != nil {
		return err
	}
	if !report.OK || report.Entries != calls {
		return fmt.Errorf("of %d entries %d are there: %s", calls, report.Entries, report.Sentence())
	}
	if rows, err := s.Activity.Activity(t.Context(), activity.Filter{Limit: calls}); err != nil || len(rows) != calls {
		return fmt.Errorf("of %d entries %d are read: %w", calls, len(rows), err)
	}
	return nil
}

// Whoever cuts off the end of the store's file, so as to hide what a plugin did last, is
// noticed with a sentence, or has cut off nothing.
func TestAttackTheEndOfTheStoreIsCutOff(t *testing.T) {
	for name, large := range map[string]bool{"a small store": false, "a store that is not read whole at its start": true} {
		t.Run(name, func(t *testing.T) {
			now := newClock()
			dir := t.TempDir()
			s := storetest.OpenWith(t, store.Options{Dir: dir, Now: now.now})
			c := newChat(t, s, "a chat")
			words, calls := 40, 60
			text := strings.Repeat("words ", 100)
			if large {
				words, text = 5, strings.Repeat("x", store.InspectLimit/4)
			}
			for i := range words {
				say(t, s, c.ID, chat.MessageSeq(i), chat.RoleUser, text)
			}
			for i := range calls {
				r := ended(i, c.ID)
				putCall(t, s, r)
			}
			must(t, whole(t, s, c.ID, words, calls))
			must(t, s.Close())
			path := filepath.Join(dir, file)
			good, err := os.ReadFile(path)
			must(t, err)
			cuts := []int{1, 2, 3, 4, 8, 16, 32}
			used := len(good)/4096 - usedPages(good)
			for n := range 24 { // and from the last pages that hold something
				cuts = append(cuts, used+n+1)
			}
			noticed, nothing := 0, 0
			said := ""
			for _, pages := range cuts {
				cut := t.TempDir()
				must(t, os.WriteFile(filepath.Join(cut, file), good[:len(good)-4096*pages], 0o600))
				s, err := store.Open(t.Context(), store.Options{Dir: cut, Now: now.now})
				if err == nil {
					err = whole(t, s, c.ID, words, calls)
					if closed := s.Close(); err == nil && closed != nil {
						t.Errorf("%d pages less: it is whole, and closing says %v", pages, closed)
					}
				}
				if err == nil {
					nothing++
					continue
				}
				noticed++
				f := kind(t, err, fault.Damaged)
				if said = f.Message; !strings.Contains(said, "damaged") {
					t.Errorf("%d pages less: %s %s", pages, f.Message, f.Hint)
				}
				_, err = store.Open(t.Context(), store.Options{Dir: cut, Now: now.now})
				if left, _ := filepath.Glob(filepath.Join(cut, file+".damaged-*")); err != nil && len(left) != 1 {
					t.Errorf("%d pages less: the next start says %v, and what was there is not kept: %v", pages, err, left)
				}
			}
			t.Logf("stopped by: %d of %d cuts were noticed (%s); the others cut off nothing that was in use",
				noticed, len(cuts), said)
			if noticed < 24 {
				t.Errorf("only %d of %d cuts were noticed, and %d left all there", noticed, len(cuts), nothing)
			}
		})
	}
}
