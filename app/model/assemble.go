package model

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"conclave/app/base/limit"
	"conclave/app/chat"
)

// Fragment is a piece of a tool call as it streams in. Wires differ: some
// number their calls, some name them, some do neither and mean the last one.
type Fragment struct {
	Index     int
	HasIndex  bool
	ID        string
	Name      string
	Arguments string // the next piece of the argument text
	// Kept holds what the vendor wants back unchanged with the call; later fragments of a call add to it.
	Kept map[string]json.RawMessage
}

// errTooMuch is returned by Add beyond limit.CallArguments.
var errTooMuch = errors.New("the arguments of its tool calls are longer than " + limit.Size(limit.CallArguments))

// CallAssembler puts streamed fragments together into whole calls, by id and index
// (contracts/llm-functions, section 8.2), and mends what can be read in one way only. Use
// NewCallAssembler. It is not safe for concurrent use: it belongs to one stream.
type CallAssembler struct {
	calls []*assembled
	given int             // how many of calls were returned by Calls
	used  map[string]bool // ids that are taken, in the history too
	tools []ToolDefinition
	size  int
}

type assembled struct {
	index    int
	hasIndex bool
	wireID   string // as the wire wrote it
	id       string // as we hand it out
	name     string
	pieces   []string // of the arguments
	kept     map[string]json.RawMessage
	started  bool
}

// NewCallAssembler returns an assembler without calls. It knows the ids of the calls in
// the history of r: a wire that numbers calls from the start in each answer must not give
// two calls one id. It knows r's tools, whose names the model may write in other ways.
func NewCallAssembler(r Request) *CallAssembler {
	g := &CallAssembler{used: map[string]bool{}, tools: r.Tools}
	for _, m := range r.Messages {
		for i := range m.Parts {
			if call := m.Parts[i].Call; call != nil {
				g.used[call.ID] = true
			}
		}
	}
	return g
}

// Add takes a fragment. started is true, and start holds id and name, when the fragment
// is the first to name a call. The only error is a call of impossible size.
func (g *CallAssembler) Add(f Fragment) (start chat.ToolCall, started bool, err error) {
	if g.size += len(f.Arguments); g.size > limit.CallArguments {
		return chat.ToolCall{}, false, errTooMuch
	}
	call := g.find(f)
	if call == nil {
		call = &assembled{index: f.Index, hasIndex: f.HasIndex, wireID: f.ID, id: g.id(f.ID)}
		if len(g.calls) > 0 {
			g.size += callCost
		}
		g.calls = append(g.calls, call)
	}
	if call.wireID == "" && f.ID != "" && !call.started {
		call.wireID, call.id = f.ID, g.id(f.ID)
	}
	switch {
	case strings.TrimSpace(f.Name) == "", f.Name == call.name:
	case call.name == "":
		call.name = f.Name
	case len(call.pieces) == 0 && len(call.name) < maxName:
		call.name += f.Name // a name that comes in pieces
	}
	if f.Arguments != "" {
		call.pieces = append(call.pieces, f.Arguments)
	}
	for name, value := range f.Kept {
		g.size += len(value)
		if call.kept == nil {
			call.kept = map[string]json.RawMessage{}
		}
		call.kept[name] = value
	}
	started = call.name != "" && !call.started
	call.started = call.started || started
	return chat.ToolCall{ID: call.id, Tool: call.name}, started, nil
}

// callCost counts for each further call toward limit.CallArguments.
const callCost = 1 << 10

// maxName bounds the name of a tool that comes in pieces.
const maxName = 1 << 10

// find returns the call that f continues, or nil when it begins one. An id decides, then an
// index. What has neither belongs to the last call, unless it names a tool.
func (g *CallAssembler) find(f Fragment) *assembled {
	if f.ID != "" {
		if call := g.last(func(c *assembled) bool {
			return c.wireID == f.ID && (!f.HasIndex || !c.hasIndex || c.index == f.Index)
		}); call != nil && (f.HasIndex && call.hasIndex || !call.another(f)) {
			return call
		}
	}
	if f.HasIndex {
		if call := g.last(func(c *assembled) bool { return c.hasIndex && c.index == f.Index }); call != nil {
			if f.Name == "" || !call.differs(f) {
				return call
			}
			return nil // a wire that gives every call the same index
		}
	}
	if f.ID != "" || f.Name != "" && !g.nameless() || len(g.calls) == 0 {
		return nil
	}
	return g.calls[len(g.calls)-1] // an index that no call has is as good as none
}

func (g *CallAssembler) last(fits func(*assembled) bool) *assembled {
	for i := len(g.calls) - 1; i >= 0; i-- {
		if fits(g.calls[i]) {
			return g.calls[i]
		}
	}
	return nil
}

// nameless reports whether the last call waits for its name.
func (g *CallAssembler) nameless() bool {
	n := len(g.calls)
	return n > g.given && g.calls[n-1].name == ""
}

// differs reports whether f, which names a tool, is another call than c though
// it has the same index.
func (c *assembled) differs(f Fragment) bool {
	switch {
	case f.ID != "" && c.wireID != "":
		return f.ID != c.wireID
	}
	return c.another(f)
}

// another reports whether f names another tool than a call that has arguments, or brings whole
// arguments to one that has others: if nothing else separates two calls, it is the next one.
func (c *assembled) another(f Fragment) bool {
	if f.Name == "" || c.name == "" || len(c.pieces) == 0 {
		return false
	}
	if f.Name != c.name {
		return true
	}
	have := strings.Join(c.pieces, "")
	return strings.HasPrefix(strings.TrimSpace(f.Arguments), "{") &&
		json.Valid([]byte(have)) && !isEmpty([]byte(have)) && !sameJSON([]byte(have), []byte(f.Arguments))
}

// id returns wire as it is, or made unique.
func (g *CallAssembler) id(wire string) string {
	id := wire
	if id == "" {
		id = MakeCallID()
	}
	for n := 2; g.used[id]; n++ {
		id = fmt.Sprintf("%s-%d", wire, n)
	}
	g.used[id] = true
	return id
}

// Assembled is a whole call, and what its vendor wants back with it.
type Assembled struct {
	chat.ToolCall
	Kept map[string]json.RawMessage
}

// Calls returns the calls that it has not returned before, in the order they
// began. Call it when they are whole: at the end, or where the wire says so. A call that
// never got a name is left out; lost counts those.
func (g *CallAssembler) Calls() (calls []Assembled, lost int) {
	open := g.calls[g.given:]
	g.given = len(g.calls)
	for _, c := range open {
		if c.name == "" {
			lost++
			continue
		}
		call := chat.ToolCall{ID: c.id, Tool: c.name}
		var mended chat.Mended
		call.Arguments, call.Raw, mended = readArguments(c.pieces)
		if name := toolName(c.name, g.tools); name != c.name {
			call.Tool, mended.Tool = name, c.name
			mended.What = append(mended.What, fmt.Sprintf("its name was written as “%s”", printable(c.name)))
		}
		if len(mended.What) > 0 {
			call.Mended = &mended
		}
		calls = append(calls, Assembled{ToolCall: call, Kept: c.kept})
	}
	return calls, lost
}

// MakeCallID returns an id for a call whose wire gave it none: "tc_" and 26
// characters that sort by time, as a ULID does.
func MakeCallID() string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], uint64(time.Now().UnixMilli())<<16)
	_, _ = rand.Read(b[6:]) // never fails (crypto/rand since Go 1.24)
	return "tc_" + base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(b[:])
}
