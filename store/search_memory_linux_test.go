package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"conclave/app/chat"
	"conclave/store"
	"conclave/store/search"
)

func init() { children["search"] = childSearch }

// memoryTaken is by how many MB a process grew around its first search.
type memoryTaken struct{ Most, Searched, Later float64 }

// memoryOf returns a row of a file of /proc/self that is in kB, in MB.
func memoryOf(file, row string) float64 {
	raw, err := os.ReadFile(filepath.Join("/proc/self", file))
	if err != nil {
		panic(err)
	}
	var kib float64
	if found := regexp.MustCompile(`(?m)^` + row + `:\s+(\d+) kB`).FindSubmatch(raw); found != nil {
		kib, err = strconv.ParseFloat(string(found[1]), 64)
	}
	if err != nil || kib == 0 {
		panic(fmt.Sprint(file, " has no ", row))
	}
	return kib / 1024
}

// proportional is how much memory this process has, its share of what is shared.
func proportional() float64 { return memoryOf("smaps_rollup", "Pss") }

// childSearch is the process that BenchmarkMemoryOfAFirstSearch measures: it opens
// the store as a program does, searches for the first time, and goes on searching.
func childSearch(ctx context.Context, dir string) error {
	s, err := store.Open(ctx, store.Options{Dir: dir})
	if err != nil {
		return err
	}
	defer s.Close()
	before := proportional()
	const rest = 3 * time.Second
	x := search.New(search.Options{Dir: dir, Source: s.Search, Patience: 10 * time.Minute, Rest: rest})
	defer x.Close()
	if _, err := x.Query(ctx, search.Query{Text: "w1"}); err != nil {
		return err
	}
	taken := memoryTaken{Most: memoryOf("status", "VmHWM") - before} // the most it ever had
	for _, text := range []string{"wa", "w12", `"w0r0 w1eefr7"`, "none", "w2", "w3", "w4 w5"} {
		found, err := x.Query(ctx, search.Query{Text: text, Limit: 500, Bare: true})
		if err == nil {
			err = x.Show(ctx, text, found.Hits[:min(len(found.Hits), 100)])
		}
		if err != nil {
			return err
		}
	}
	taken.Searched = proportional() - before
	time.Sleep(rest + time.Second) // what is measured is the time after the last search
	taken.Later = proportional() - before
	return json.NewEncoder(os.Stdout).Encode(taken)
}

// spoken returns n words, rare and frequent ones as in speech.
func spoken(seed, n int) string {
	var text strings.Builder
	random := uint64(seed) * 2654435761
	for range n {
		random = random*6364136223846793005 + 1442695040888963407
		r := float64(random>>33) / float64(1<<31)
		i := int(r * r * r * 20000)
		fmt.Fprintf(&text, "w%xr%d ", i*7919%20000, i%17)
	}
	return text.String()
}

// BenchmarkMemoryOfAFirstSearch measures by how much the first search over 110,000
// messages, which makes the index, has a process grow: at most while it is
// made, while somebody searches, and some seconds later. What is mapped of files
// counts; the system has it back when it is needed, but a person sees it.
func BenchmarkMemoryOfAFirstSearch(b *testing.B) {
	const chats, each = 1000, 110
	dir := b.TempDir()
	s, err := store.Open(b.Context(), store.Options{Dir: dir})
	must(b, err)
	for i := range chats {
		id := newChat(b, s, fmt.Sprint("chat ", i)).ID
		messages := make([]chat.Message, each)
		for j := range messages {
			messages[j] = chat.Message{
				Conversation: id, Parent: chat.MessageSeq(j), Role: chat.RoleUser, State: chat.Complete,
				Parts: []chat.Part{{Kind: chat.PartText, Text: spoken(i*each+j, 120)}},
			}
		}
		must(b, s.AppendAll(b.Context(), messages))
	}
	must(b, s.Close())
	var all memoryTaken
	b.ResetTimer()
	for range b.N {
		must(b, os.RemoveAll(filepath.Join(dir, "search")))
		cmd := exec.CommandContext(b.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), childVar+"=search", dirVar+"="+dir)
		cmd.Stderr = os.Stderr
		raw, err := cmd.Output()
		must(b, err)
		var taken memoryTaken
		must(b, json.Unmarshal(raw, &taken))
		all.Most, all.Searched, all.Later = all.Most+taken.Most, all.Searched+taken.Searched, all.Later+taken.Later
	}
	b.ReportMetric(all.Most/float64(b.N), "MB-making")
	b.ReportMetric(all.Searched/float64(b.N), "MB-searching")
	b.ReportMetric(all.Later/float64(b.N), "MB-later")
}
