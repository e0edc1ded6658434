package mcpserver

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/gate"
	"conclave/app/tool"
)

// Store keeps one Record as JSON; package store is the real one. Errors are *fault.Error.
type Store interface {
	// Outside returns the record; nil where there is none.
	Outside(ctx context.Context) (json.RawMessage, error)
	PutOutside(ctx context.Context, record json.RawMessage) error
}

// Keys stores the tokens of programs; keys.Store is the real one, an adapter.
type Keys interface {
	Get(ctx context.Context, name string) (string, error)
	Set(ctx context.Context, name, key string) error
	Delete(ctx context.Context, name string) error
}

// Record holds what the person set for other programs, and how often these called.
type Record struct {
	Offered  []string  `json:"offered"` // ids of tools
	Open     bool      `json:"open"`    // the window serves HTTP
	Port     int       `json:"port"`    // at this port; 0 is DefaultPort
	Programs []Program `json:"programs"`
}

// Program is a program that uses Conclave's tools, or may.
type Program struct {
	Name  string    `json:"name"`
	Token bool      `json:"token"` // it may connect over HTTP, with a token that is stored with the keys
	Made  time.Time `json:"made"`
	Used  time.Time `json:"used,omitzero"` // when it called last
	Calls int       `json:"calls"`
}

// DefaultPort is the port of `conclave mcp serve --http` if nobody chooses another.
const DefaultPort = 48912

// How many programs there may be, and how long their names are, in characters: a person tells them apart.
const (
	maxPrograms = 100
	maxName     = 40
)

// programs holds the record. It is safe for concurrent use.
type programs struct {
	o Options

	changing sync.Mutex // orders writes

	mu      sync.Mutex // guards the fields below
	record  Record
	tokens  map[string][sha256.Size]byte // by name, the digest of each token that was read
	unsaved bool                         // calls were counted since the last write
}

func readPrograms(ctx context.Context, o Options) (*programs, error) {
	p := &programs{o: o, tokens: map[string][sha256.Size]byte{}}
	raw, err := o.Store.Outside(ctx)
	if err != nil || raw == nil {
		return p, err
	}
	if err := json.Unmarshal(raw, &p.record); err != nil {
		return nil, fault.Wrap(fault.Damaged, "mcpserver.open",
			"What was set for other programs cannot be read.", "Restore a copy with conclave restore.", err)
	}
	return p, nil
}

// now returns the record as it is. The slices are the caller's.
func (p *programs) now() Record {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.record
	r.Offered, r.Programs = slices.Clone(r.Offered), slices.Clone(r.Programs)
	return r
}

// change writes what do made of the record, and notifies whoever shows it.
func (p *programs) change(ctx context.Context, do func(*Record) error) error {
	p.changing.Lock()
	defer p.changing.Unlock()
	next := p.now()
	if err := do(&next); err != nil {
		return err
	}
	raw, err := json.Marshal(next)
	if err != nil {
		return err
	}
	if err := p.o.Store.PutOutside(ctx, raw); err != nil {
		return err
	}
	p.mu.Lock()
	for i := range next.Programs { // what was counted meanwhile
		if old := named(p.record.Programs, next.Programs[i].Name); old != nil {
			next.Programs[i].Used, next.Programs[i].Calls = old.Used, old.Calls
		}
	}
	p.record = next
	p.mu.Unlock()
	p.o.Bus.Changed(bus.Settings, "")
	return nil
}

func named(all []Program, name string) *Program {
	i := slices.IndexFunc(all, func(one Program) bool { return one.Name == name })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// save writes how often programs called, if that is not written.
func (p *programs) save(ctx context.Context) error {
	p.changing.Lock()
	defer p.changing.Unlock()
	p.mu.Lock()
	unsaved := p.unsaved
	p.unsaved = false
	p.mu.Unlock()
	if !unsaved {
		return nil
	}
	raw, err := json.Marshal(p.now())
	if err != nil {
		return err
	}
	return p.o.Store.PutOutside(ctx, raw)
}

// count notes a call. A program that has no token is added; one whose token is gone is not.
func (p *programs) count(name string, token bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.o.Now().UTC()
	one := named(p.record.Programs, name)
	if one == nil {
		if token || len(p.record.Programs) >= maxPrograms {
			return
		}
		p.record.Programs = append(p.record.Programs, Program{Name: name, Made: now})
		one = &p.record.Programs[len(p.record.Programs)-1]
	}
	one.Calls++
	one.Used = now
	p.unsaved = true
}

// CheckName returns a fault of kind invalid for a text that cannot be a program's name.
func CheckName(name string) error {
	clean, _ := tool.Strip(name)
	switch {
	case strings.TrimSpace(name) == "":
		return fault.New(fault.Invalid, "mcpserver.name", "The program has no name.",
			"Name it so that you know it again, as “Claude Desktop”.")
	case utf8.RuneCountInString(name) > maxName, clean != name, strings.TrimSpace(name) != name,
		strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r == utf8.RuneError }):
		return fault.New(fault.Invalid, "mcpserver.name", "That cannot be the name of a program.",
			"Use up to 40 visible characters in one line.")
	case gate.Reserved(name): // a card would say that Conclave itself wants something
		return fault.New(fault.Invalid, "mcpserver.name", "That is Conclave's own name, or looks like it.",
			"Name the program so that you know it again, as “Claude Desktop”.")
	}
	return nil
}

// secretName is the name under which the token of a program is stored. No connection can have it.
func secretName(program string) string { return "@mcp:" + program }

// AddToken makes the token of a program, which must be new or have none, and returns it: 256 random bits.
func (s *Server) AddToken(ctx context.Context, name string) (string, error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	random := make([]byte, 32)
	_, _ = rand.Read(random) // it never fails
	token := "cnc_" + base64.RawURLEncoding.EncodeToString(random)
	err := s.programs.change(ctx, func(r *Record) error {
		one := named(r.Programs, name)
		switch {
		case one != nil && one.Token:
			return fault.New(fault.Invalid, "mcpserver.token", "The program "+name+" has a token already.",
				"Remove it first, or choose another name.")
		case one == nil && len(r.Programs) >= maxPrograms:
			return fault.New(fault.Invalid, "mcpserver.token", "There are 100 programs, which is the most.",
				"Remove one that you no longer use.")
		}
		if err := s.o.Keys.Set(ctx, secretName(name), token); err != nil {
			return err
		}
		if one != nil {
			one.Token = true
			return nil
		}
		r.Programs = append(r.Programs, Program{Name: name, Token: true, Made: s.o.Now().UTC()})
		return nil
	})
	if err != nil {
		return "", err
	}
	s.programs.mu.Lock()
	s.programs.tokens[name] = sha256.Sum256([]byte(token))
	s.programs.mu.Unlock()
	return token, nil
}

// Token returns the token of a program.
func (s *Server) Token(ctx context.Context, name string) (string, error) {
	if one := named(s.programs.now().Programs, name); one == nil || !one.Token {
		return "", unknownProgram(name)
	}
	return s.o.Keys.Get(ctx, secretName(name))
}

func unknownProgram(name string) error {
	return fault.New(fault.NotFound, "mcpserver.program", "There is no program named "+name+".",
		"conclave mcp tokens list shows them.")
}

// Remove forgets a program: its token is no longer valid, its sessions end, and its calls are stopped.
func (s *Server) Remove(ctx context.Context, name string) error {
	err := s.programs.change(ctx, func(r *Record) error {
		one := named(r.Programs, name)
		if one == nil {
			return unknownProgram(name)
		}
		if one.Token {
			if err := s.o.Keys.Delete(ctx, secretName(name)); err != nil {
				return err
			}
		}
		r.Programs = slices.DeleteFunc(r.Programs, func(p Program) bool { return p.Name == name })
		return nil
	})
	if err != nil {
		return err
	}
	s.programs.mu.Lock()
	delete(s.programs.tokens, name)
	s.programs.mu.Unlock()
	for _, d := range s.openEndpoints() {
		d.end(name)
	}
	return nil
}

// Status is a program and how many of its sessions are open.
type Status struct {
	Program
	Open int
}

// Programs returns the programs, in the order in which they were added.
func (s *Server) Programs() []Status {
	open := map[string]int{}
	for _, d := range s.openEndpoints() {
		d.count(open)
	}
	var all []Status
	for _, p := range s.programs.now().Programs {
		all = append(all, Status{p, open[p.Name]})
	}
	return all
}

// readTokens reads the tokens of all programs that have one. The error is that of a keychain which does not
// answer; a token that is missing lets nobody in.
func (s *Server) readTokens(ctx context.Context) error {
	for _, p := range s.programs.now().Programs {
		s.programs.mu.Lock()
		_, known := s.programs.tokens[p.Name]
		s.programs.mu.Unlock()
		if !p.Token || known {
			continue
		}
		token, err := s.o.Keys.Get(ctx, secretName(p.Name))
		if fault.KindOf(err) == fault.NotFound {
			continue
		}
		if err != nil {
			return err
		}
		s.programs.mu.Lock()
		s.programs.tokens[p.Name] = sha256.Sum256([]byte(token))
		s.programs.mu.Unlock()
	}
	return nil
}

// owner returns the program that a token belongs to. It takes the same time for all tokens.
func (p *programs) owner(token string) (name string, ok bool) {
	digest := sha256.Sum256([]byte(token))
	p.mu.Lock()
	defer p.mu.Unlock()
	for program, its := range p.tokens {
		if subtle.ConstantTimeCompare(digest[:], its[:]) == 1 {
			name, ok = program, true
		}
	}
	return name, ok
}
