// Package activity holds the words of the record of activity: one entry for each call of a
// tool, for each time that a person undoes what one did or redoes it, and for what plugins were
// let do beside, in an order that cannot be changed unnoticed. Each entry holds the digest of
// the one before it, so whoever changes, removes, moves or adds one breaks the chain, and
// [Verifier] names the link.
//
// What a person may have deleted with a chat is not in the entry but in its [Detail], of
// which the entry holds a salted digest: details can be erased and the chain holds.
//
// Read Entry, Detail and Of first. Package store keeps both; docs/adr/0018 has the reasons.
package activity

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"conclave/app/base/limit"
	"conclave/app/base/shorten"
	"conclave/app/chat"
)

// Version is the number of the format that this program writes.
const Version = 1

// Kind is the kind of event that an entry records.
type Kind string

// The kinds of entries.
const (
	Called Kind = "call"   // a call of a tool ended
	Used   Kind = "use"    // it was decided about a command, folder or host of a plugin, or about what it spends
	Sent   Kind = "sent"   // a plugin sent something while it worked on no call
	Undone Kind = "undo"   // files were put back as they were before a call
	Redone Kind = "redo"   // that was taken back
	Erased Kind = "erased" // a chat was deleted for good, and with it the details of its calls
	Cut    Kind = "cut"    // the oldest entries were removed, because there were too many
	Broken Kind = "broken" // Conclave opened the record and found another end than it had written
)

// Entry is one link of the chain. Its digest is that of its JSON, byte for byte.
type Entry struct {
	N      uint64    `json:"n"`                // from 1, without a gap
	Prev   string    `json:"prev"`             // digest of the entry before; of the first, empty
	Time   time.Time `json:"time"`             // when the call ended
	Kind   Kind      `json:"kind"`             // what follows depends on it
	Detail string    `json:"detail,omitempty"` // digest of the Detail

	// of a call, of one whose changes were undone or redone, or of a use
	Call       uint64              `json:"call,omitempty"` // its number in conclave logs
	Chat       chat.ConversationID `json:"chat,omitempty"` // Erased too
	Turn       string              `json:"turn,omitempty"`
	Caller     string              `json:"caller,omitempty"` // main, person, member:<id>, plugin:<id>
	Tool       string              `json:"tool,omitempty"`   // plugin:name
	Plugin     string              `json:"plugin,omitempty"`
	Definition string              `json:"definition,omitempty"` // digest of the tool's definition
	Code       string              `json:"code,omitempty"`       // digest of the plugin's files
	Effect     string              `json:"effect,omitempty"`     // allow or deny; empty where nothing was decided
	By         string              `json:"by,omitempty"`         // person, rule <id>, default, hook, built-in, nobody to ask
	Rule       string              `json:"rule,omitempty"`       // that decided, or that the answer made
	Waited     float64             `json:"waited_ms,omitempty"`  // how long the person took
	Outcome    chat.CallStatus     `json:"outcome,omitempty"`
	MS         float64             `json:"ms,omitempty"`
	Output     int64               `json:"output_bytes,omitempty"`
	Permission string              `json:"permission,omitempty"` // Used: which
	Sent       []chat.Sending      `json:"sent,omitempty"`
	Undo       string              `json:"undo,omitempty"`    // names the old versions of files it changed
	Changed    int                 `json:"changed,omitempty"` // how many of the person's files it changed
	Left       int                 `json:"left,omitempty"`    // Undone, Redone: how many were left as they are

	Entries int    `json:"entries,omitempty"` // Erased, Cut: how many
	To      uint64 `json:"to,omitempty"`      // Cut: the newest that was removed
	Hash    string `json:"hash,omitempty"`    // Cut: its digest, which the oldest that is left holds
	Why     string `json:"why,omitempty"`     // Broken: what was found, a sentence
}

// Detail holds what is kept of a call until its chat is deleted for good. It holds no secrets.
type Detail struct {
	Salt      string              `json:"salt"` // random, so that its digest tells nothing
	Arguments json.RawMessage     `json:"arguments,omitempty"`
	Beginning string              `json:"arguments_beginning,omitempty"` // of arguments that are too long to keep
	Size      int                 `json:"arguments_bytes"`
	Left      string              `json:"arguments_left,omitempty"` // why there are none: a sentence
	Path      []chat.DecisionStep `json:"path,omitempty"`
	Origins   []chat.Origin       `json:"origins,omitempty"` // of the texts for which a person was asked
	Because   []string            `json:"because,omitempty"` // why a person was to be asked: what hooks made of it
	Why       string              `json:"why,omitempty"`
	Output    string              `json:"output_sha256,omitempty"` // over the salt and what the tool answered
	Changes   []chat.FileChange   `json:"changes,omitempty"`       // the first of the files that it changed
	Unkept    string              `json:"not_kept,omitempty"`      // why it is not known which it changed
}

// Row is an entry as the store has it.
type Row struct {
	Hash   string          `json:"hash"` // SHA-256 of Entry
	Entry  json.RawMessage `json:"entry"`
	Detail json.RawMessage `json:"detail,omitempty"` // missing once the chat was deleted for good
}

// Read returns what the row says. The detail is nil when there is none.
func (r Row) Read() (Entry, *Detail, error) {
	var e Entry
	if err := json.Unmarshal(r.Entry, &e); err != nil {
		return Entry{}, nil, err
	}
	if r.Detail == nil {
		return e, nil, nil
	}
	var d Detail
	if err := json.Unmarshal(r.Detail, &d); err != nil {
		return e, nil, err
	}
	return e, &d, nil
}

// Filter selects entries; its zero value selects all.
type Filter struct {
	Chat          chat.ConversationID
	Plugin        string
	Before, After uint64 // numbers of entries, exclusive; 0 is no bound
	Limit         int    // 0 is no bound
	Oldest        bool   // the oldest first
}

// Hash returns the digest of an entry or a detail as it is written.
func Hash(written []byte) string {
	sum := sha256.Sum256(written)
	return hex.EncodeToString(sum[:])
}

// Encode returns a value as it is written: JSON in one line, without HTML's escapes.
func Encode(value any) ([]byte, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil, err
	}
	return []byte(strings.TrimSuffix(b.String(), "\n")), nil
}

// Bounds on what one entry holds in addition to its arguments.
const (
	maxWords   = 500 // characters of one reason
	maxBecause = 16  // reasons of hooks
	maxHosts   = 32
	maxHost    = 253 // the longest name that a name service knows
)

// unmasked is the reason why the arguments of a call are not stored.
const unmasked = "The arguments are not kept: Conclave was ended while the call ran."

// Of makes the entry of a call that ended, without its place in the chain, and the detail as
// it is written. mask takes secrets out of a text; nil leaves the arguments out.
func Of(r chat.CallRecord, mask func(string) string) (Entry, []byte, error) {
	e := Entry{
		Time: r.Ended, Kind: Called, Call: r.ID, Chat: r.Conversation, Turn: r.Turn, Caller: r.Caller, Tool: r.ToolID,
		Plugin: r.Plugin, Definition: r.Digest, Code: r.Code, Effect: r.Decision, By: r.Decider, Rule: r.Rule,
		Waited: r.Waited, Outcome: r.Status, MS: r.MS, Sent: sent(r.Sent),
		Undo: r.Undo, Changed: r.Changed,
	}
	if e.Tool == "" {
		e.Tool = r.ToolName
	}
	if e.Time.IsZero() {
		e.Time = r.Timestamp
	}
	d := Detail{Salt: rand.Text(), Size: len(r.Arguments), Origins: r.Origins}
	if mask == nil {
		d.Left, mask = unmasked, func(string) string { return "" }
	} else {
		d.Arguments, d.Beginning = arguments(r, mask)
	}
	for _, why := range r.Because[:min(len(r.Because), maxBecause)] {
		d.Because = append(d.Because, words(why, mask))
	}
	d.Why = words(r.DecidedBy, mask)
	d.Unkept = words(r.Unkept, mask)
	d.Changes = masking(r.Changes, mask)
	d.Path = steps(r.Path, mask)
	e.Output, d.Output = output(r, d.Salt)
	return withDetail(e, d)
}

// withDetail returns an entry that holds the digest of its detail, and that as it is written.
func withDetail(e Entry, d Detail) (Entry, []byte, error) {
	detail, err := Encode(d)
	if err != nil {
		return Entry{}, nil, err
	}
	e.Detail = Hash(detail)
	return e, detail, nil
}

func sent(all []chat.Sending) []chat.Sending {
	if len(all) > maxHosts {
		all = all[:maxHosts]
	}
	var out []chat.Sending
	for _, s := range all {
		s.Host = strings.ToValidUTF8(s.Host[:min(len(s.Host), maxHost)], "")
		out = append(out, s)
	}
	return out
}

// words returns a reason on one line, without secrets.
func words(text string, mask func(string) string) string {
	text = text[:min(len(text), 8*maxWords)]
	text = strings.Join(strings.Fields(mask(strings.ToValidUTF8(text, ""))), " ")
	return shorten.To(text, maxWords)
}

// output returns the size of what a tool answered, and a digest of it.
func output(r chat.CallRecord, salt string) (size int64, digest string) {
	text := r.ResultText
	switch {
	case text != "":
	case len(r.Result) > 0:
		text = string(r.Result)
	default:
		text = r.Error
	}
	size = int64(len(text))
	sum := sha256.New()
	_, _ = sum.Write([]byte(salt)) // a hash takes everything
	_, _ = sum.Write([]byte(text))
	for _, m := range r.Attachments {
		size += m.Size
		_, _ = sum.Write([]byte("\n" + m.ID))
	}
	return size, hex.EncodeToString(sum.Sum(nil))
}

// arguments returns a call's arguments without secrets, or how they begin.
func arguments(r chat.CallRecord, mask func(string) string) (kept json.RawMessage, beginning string) {
	most := limit.ActivityArguments
	if len(r.Arguments) > 8*most { // its secrets are masked where it is whole
		return nil, shorten.Bytes(mask(strings.ToValidUTF8(string(r.Arguments[:8*most]), "")), most)
	}
	var value any
	decoder := json.NewDecoder(strings.NewReader(string(r.Arguments)))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil {
		return nil, shorten.Bytes(mask(r.RawArguments), most)
	}
	written, err := Encode(masked(value, mask))
	if err != nil {
		return nil, ""
	}
	if len(written) > most {
		return nil, shorten.Bytes(string(written), most)
	}
	return written, ""
}

// hidden stands where a secret was.
const hidden = "•••"

// masked returns a JSON value without secrets: those that mask knows, and the texts that are
// named as one.
func masked(value any, mask func(string) string) any {
	switch v := value.(type) {
	case string:
		return mask(v)
	case json.Number: // one can be a code too
		if m := mask(v.String()); m != v.String() {
			return m
		}
	case []any:
		for i := range v {
			v[i] = masked(v[i], mask)
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			if _, text := item.(string); text && namesSecret(name) {
				item = hidden
			}
			key := mask(name)
			for n := 2; ; n++ { // two that were masked alike stay two
				if _, there := out[key]; !there {
					break
				}
				key = mask(name) + " " + strconv.Itoa(n)
			}
			out[key] = masked(item, mask)
		}
		return out
	}
	return value
}

// joiners leaves out what joins the words of a name.
var joiners = strings.NewReplacer("_", "", "-", "", " ", "")

// namesSecret reports whether an argument of that name holds a secret.
func namesSecret(name string) bool {
	name = joiners.Replace(strings.ToLower(name))
	for _, part := range []string{"password", "passwd", "passphrase", "secret", "apikey", "credential", "privatekey"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return strings.HasSuffix(name, "token") || name == "authorization" || name == "cookie"
}
