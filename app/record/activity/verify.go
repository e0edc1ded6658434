package activity

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"conclave/app/chat"
)

// Head is the end of the chain as it was written last.
type Head struct {
	N    uint64
	Hash string
}

// Report holds what came of verifying the chain.
type Report struct {
	Entries int    `json:"entries"`
	First   uint64 `json:"first"`
	Last    uint64 `json:"last"`
	Head    string `json:"head"`   // digest of the last entry
	Erased  int    `json:"erased"` // entries whose chat was deleted for good, and their details with it
	Cut     uint64 `json:"cut"`    // the number of the newest entry that was removed for age, or 0
	OK      bool   `json:"ok"`
	// The first broken link, where there is one.
	Broken  uint64 `json:"broken,omitempty"`  // the number of the entry
	Problem string `json:"problem,omitempty"` // a sentence
}

// Sentence describes the result.
func (r Report) Sentence() string {
	if r.Problem != "" {
		return "The record was changed outside Conclave. " + r.Problem
	}
	if r.Entries == 0 {
		return "Nothing is on record yet."
	}
	return fmt.Sprintf("All %d entries are as they were written. The last is entry %d; its digest is %s.",
		r.Entries, r.Last, r.Head)
}

// Verifier checks a chain, entry by entry. The zero value is ready.
type Verifier struct {
	report  Report
	last    Entry
	hash    string // of the last entry
	anchor  Head   // what the first entry says came before it
	missing map[chat.ConversationID]Entry
}

// Add takes the next entry as it is stored under number n, and its detail, nil where there
// is none.
func (v *Verifier) Add(n uint64, written, detail []byte) {
	var e Entry
	if err := json.Unmarshal(written, &e); err != nil {
		v.fail(n, "Entry %d cannot be read: it was changed after it was written.", n)
		e = Entry{N: n, Prev: v.hash}
	}
	first := v.report.Entries == 0
	switch {
	case e.N != n:
		v.fail(n, "In the place of entry %d stands %s: entries were moved, or one was put between them.", n, name(e))
	case first && n > 1:
		v.anchor = Head{n - 1, e.Prev}
	case first && e.Prev != "":
		v.fail(n, "%s follows on another entry than it did when it was written.", titled(name(e)))
	case !first && n != v.last.N+1:
		v.fail(v.last.N+1, "%s missing: after %s comes %s.", numbers(v.last.N+1, n-1), name(v.last), name(e))
	case !first && e.Prev != v.hash:
		v.fail(v.last.N, "%s and %s do not fit together: one of them was changed after it was written, or put in the place "+
			"of another.", titled(name(v.last)), name(e))
	case e.Kind == Broken:
		v.fail(v.last.N, "On %s Conclave found: %s", when(e.Time), e.Why)
	}
	if e.Kind == Cut && e.To == v.anchor.N && e.Hash == v.anchor.Hash {
		v.report.Cut, v.anchor = e.To, Head{}
	}
	if e.N == n { // else the detail is that of another
		v.checkDetail(e, detail)
	}
	if first {
		v.report.First = n
	}
	v.last, v.hash = e, Hash(written)
	v.last.N = n
	v.report.Entries++
}

func (v *Verifier) checkDetail(e Entry, detail []byte) {
	switch {
	case e.Kind == Erased:
		delete(v.missing, e.Chat)
	case e.Detail == "":
	case detail == nil:
		v.report.Erased++
		if v.missing == nil {
			v.missing = map[chat.ConversationID]Entry{}
		}
		if _, known := v.missing[e.Chat]; !known {
			v.missing[e.Chat] = e
		}
	case Hash(detail) != e.Detail:
		v.fail(e.N, "The arguments or the decision of %s were changed after they were written.", name(e))
	}
}

// fail notes the first broken link.
func (v *Verifier) fail(n uint64, sentence string, args ...any) {
	if v.report.Problem == "" || n < v.report.Broken {
		v.report.Broken, v.report.Problem = n, fmt.Sprintf(sentence, args...)
	}
}

// End returns what came of it. head is the end as it was written last.
func (v *Verifier) End(head Head) Report {
	if v.anchor.N > 0 {
		v.fail(1, "The beginning is missing: the record begins with entry %d, and nothing in it says that older ones were "+
			"removed.", v.anchor.N+1)
	}
	for _, e := range v.missing {
		v.fail(e.N, "The arguments and the decision of %s are missing, and its chat was not deleted.", name(e))
	}
	switch {
	case head.N > v.last.N:
		v.fail(v.last.N+1, "%s missing at the end.", numbers(v.last.N+1, head.N))
	case head.N < v.last.N:
		v.fail(head.N+1, "%s not written by Conclave, whose last was entry %d.", were(head.N+1, v.last.N), head.N)
	case head.Hash != v.hash:
		v.fail(head.N, "%s, the last, was changed after it was written.", titled(name(v.last)))
	}
	v.report.Last, v.report.Head, v.report.OK = v.last.N, v.hash, v.report.Problem == ""
	return v.report
}

// name is an entry as a sentence names it.
func name(e Entry) string {
	about := string(e.Kind)
	if e.Tool != "" {
		about = e.Tool
	}
	if e.Time.IsZero() {
		return fmt.Sprintf("entry %d", e.N)
	}
	return fmt.Sprintf("entry %d (%s, %.80s)", e.N, when(e.Time), about)
}

func titled(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func when(t time.Time) string { return t.Local().Format("2 January 2006, 15:04:05") }

func numbers(from, to uint64) string {
	if from == to {
		return fmt.Sprintf("Entry %d is", from)
	}
	return fmt.Sprintf("Entries %d to %d are", from, to)
}

func were(from, to uint64) string {
	if from == to {
		return fmt.Sprintf("Entry %d was", from)
	}
	return fmt.Sprintf("Entries %d to %d were", from, to)
}
