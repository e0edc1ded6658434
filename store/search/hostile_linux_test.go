package search_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/store"
	"conclave/store/search"
	"conclave/store/storetest"
)

// frame is a frame of the file that is whole, with one entry of the message 1 of the chat a.
func frame(text string) []byte {
	entry := []byte{2}                                              // of a user
	entry = binary.LittleEndian.AppendUint64(entry, 0)              // created
	entry = binary.LittleEndian.AppendUint64(entry, 1)              // seq
	entry = binary.LittleEndian.AppendUint32(entry, 1)              // words
	entry = append(binary.LittleEndian.AppendUint16(entry, 1), 'a') // id
	entry = append(entry, text...)
	checked := binary.LittleEndian.AppendUint64(nil, 1<<40) // the change up to which it knows all
	checked = append(binary.LittleEndian.AppendUint32(checked, uint32(len(entry))), entry...)
	head := binary.LittleEndian.AppendUint32(nil, uint32(len(checked)-8))
	sum := crc32.Checksum(checked, crc32.MakeTable(crc32.Castagnoli))
	return append(binary.LittleEndian.AppendUint32(head, sum), checked...)
}

func TestWhateverStandsInPlaceOfTheFileIsNotUsed(t *testing.T) {
	for name, place := range map[string]func(path, header string) error{
		"a link to a file": func(path, header string) error {
			mine := filepath.Join(path, "../../mine")
			return errors.Join(os.WriteFile(mine, []byte(header+"mine"), 0o600), os.Symlink(mine, path))
		},
		"a link to nothing": func(path, _ string) error { return os.Symlink("nowhere", path) },
		"a pipe":            func(path, _ string) error { return syscall.Mkfifo(path, 0o600) },
		"a folder":          func(path, _ string) error { return os.MkdirAll(filepath.Join(path, "words"), 0o700) },
		"a frame of 4 GiB": func(path, header string) error {
			frame := binary.LittleEndian.AppendUint32([]byte(header), 1<<32-1)
			return errors.Join(os.WriteFile(path, frame, 0o600), os.Truncate(path, 5<<30)) // it takes no room
		},
		"an entry longer than its frame": func(path, header string) error {
			bad := frame("  ")
			binary.LittleEndian.PutUint16(bad[41:], 1<<16-1)
			binary.LittleEndian.PutUint32(bad[4:], crc32.Checksum(bad[8:], crc32.MakeTable(crc32.Castagnoli)))
			return os.WriteFile(path, append([]byte(header), bad...), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := storetest.Open(t)
			create(t, s, "a", "", "alpha")
			lineage, err := s.Search.Lineage(t.Context())
			must(t, err)
			path := filepath.Join(s.Dir(), "search", "words")
			must(t, os.Mkdir(filepath.Dir(path), 0o700))
			must(t, place(path, "conclave search 2 "+lineage+"\n"))
			mine := filepath.Join(s.Dir(), "mine")
			kept, _ := os.ReadFile(mine)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			equal(t, "found", find(t, open(t, s), search.Query{Text: "alpha"}), []string{"a/1"})
			runtime.ReadMemStats(&after)
			if mib := (after.TotalAlloc - before.TotalAlloc) >> 20; mib > 256 {
				t.Errorf("it took %d MiB", mib)
			}
			if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
				t.Errorf("at the end there is %v, %v", info, err)
			}
			if now, _ := os.ReadFile(mine); string(now) != string(kept) {
				t.Errorf("the file that the link leads to was %q and is %q", kept, now)
			}
		})
	}
}

func TestATextThatEndsWithinAWordIsRead(t *testing.T) {
	s := storetest.Open(t)
	create(t, s, "a", "", "alpha")
	lineage, err := s.Search.Lineage(t.Context())
	must(t, err)
	path := filepath.Join(s.Dir(), "search", "words")
	must(t, os.Mkdir(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, append([]byte("conclave search 2 "+lineage+"\n"), frame(" al")...), 0o600))
	equal(t, "found", find(t, open(t, s), search.Query{Text: "al"}), []string{"a/1"})
}

// What is gone is written out of the file through a second one.
func TestWhatCannotBeRemovedNowIsRemovedLater(t *testing.T) {
	s := storetest.Open(t)
	create(t, s, "a", "", "stays")
	create(t, s, "b", "", "hunter2")
	x := open(t, s)
	equal(t, "before", find(t, x, search.Query{Text: "hunter2"}), []string{"b/1"})
	path := filepath.Join(s.Dir(), "search", "words")
	must(t, os.MkdirAll(path+".new/full", 0o700)) // so that none can be made
	_, err := s.Chats.DeleteConversation(t.Context(), "b")
	must(t, err)
	were := descriptors(t)
	for i := range 10 {
		create(t, s, chat.ConversationID(fmt.Sprint("c", i)), "", "again")
		equal(t, "deleted", find(t, x, search.Query{Text: "hunter2"}), []string{})
		equal(t, "others", find(t, x, search.Query{Text: "stays"}), []string{"a/1"})
	}
	if now := descriptors(t); now > were+2 {
		t.Errorf("%d files were open, and %d are", were, now)
	}
	must(t, os.RemoveAll(path+".new"))
	mine := filepath.Join(s.Dir(), "mine")
	must(t, errors.Join(os.WriteFile(mine, []byte("mine"), 0o600), os.Symlink(mine, path+".new")))
	create(t, s, "d", "", "last")
	equal(t, "the last", find(t, x, search.Query{Text: "last"}), []string{"d/1"})
	data, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(data), "hunter2") {
		t.Errorf("the file still holds what was deleted, %v", err)
	}
	if data, err := os.ReadFile(mine); err != nil || string(data) != "mine" {
		t.Errorf("what a link led to is now %q, %v", data, err)
	}
	if _, err := os.Lstat(path + ".new"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the second file is still there: %v", err)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	return len(open)
}

// paused is a source of which one message is read once it may be.
type paused struct {
	search.Source
	at        chat.MessageSeq
	reads, on chan struct{} // it is asked for; it may be read
}

func (p *paused) Message(ctx context.Context, id chat.ConversationID, seq chat.MessageSeq) (chat.Message, error) {
	if seq == p.at {
		select {
		case p.reads <- struct{}{}:
			<-p.on
		default: // the second time
		}
	}
	return p.Source.Message(ctx, id, seq)
}

func TestAFileThatIsFoundBrokenWhileItGrowsIsMadeAgain(t *testing.T) {
	s := storetest.OpenWith(t, store.Options{Dir: t.TempDir()})
	texts := make([]string, 1500) // two steps
	for i := range texts {
		texts[i] = fmt.Sprint("word ", i)
	}
	create(t, s, "a", "", texts...)
	source := &paused{s.Search, 1300, make(chan struct{}, 1), make(chan struct{})}
	x := search.New(search.Options{Dir: s.Dir(), Source: source, Patience: time.Nanosecond})
	_, err := x.Query(t.Context(), search.Query{Text: "word"})
	must(t, err)
	<-source.reads
	must(t, os.Truncate(filepath.Join(s.Dir(), "search", "words"), 100))
	if _, err := x.Query(t.Context(), search.Query{Text: "word"}); fault.KindOf(err) != fault.Damaged {
		t.Errorf("a query of a file that was cut: %v", err)
	}
	_, err = x.Query(t.Context(), search.Query{Text: "word"}) // begins again
	must(t, err)
	close(source.on) // now the first one goes on
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		result, err := x.Query(t.Context(), search.Query{Text: "word", Limit: 1})
		if err == nil && result.Progress.Complete() && result.Total == len(texts) {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%d of %d are found, %+v, %v", result.Total, len(texts), result.Progress, err)
		}
	}
	must(t, x.Close())
}
