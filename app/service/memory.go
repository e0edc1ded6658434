package service

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"conclave/app/chat"
	"conclave/app/plugin"
)

// Records stores the records that plugins share; store.PluginData is the real one.
type Records interface {
	Records(ctx context.Context, kind, parent string) (ids []string, values [][]byte, err error)
	Record(ctx context.Context, kind, id string) (value []byte, there bool, err error)
	AddRecord(ctx context.Context, kind, parentKind, parent string, value []byte) (id string, err error)
	PutRecord(ctx context.Context, kind, id string, value []byte) (there bool, err error)
	DeleteRecord(ctx context.Context, kind, id, below string) (there bool, err error)
}

// Bounds of records.
const (
	maxRecord  = 256 << 10 // bytes of one
	maxRecords = 2000      // of a kind, or under one
)

// Memory holds what plugins share: world books, characters and personas.
type Memory struct {
	o       *Options
	members *members

	changing sync.Mutex // orders changes
}

// recordKind is one kind of what plugins share. Conclave reads none of it.
type recordKind struct {
	name, permission string
	what             string // in a sentence: "world book"
	parent           string // the kind it is under
	below            string // the kind that is under it
}

var recordKinds = []recordKind{
	{name: "world_books", permission: "world_books", what: "world book", below: "world_books.entries"},
	{name: "world_books.entries", permission: "world_books", what: "entry", parent: "world_books"},
	{name: "characters", permission: "characters", what: "character"},
	{name: "personas", permission: "personas", what: "persona"},
}

// record is one of them as plugins see it, without its Authors.
type record struct {
	ID      string         `json:"id"`
	Parent  string         `json:"parent,omitempty"`
	Created int64          `json:"created_ms"`
	Updated int64          `json:"updated_ms"`
	Fields  map[string]any `json:"fields"` // whatever their author put there
	// Authors wrote Fields; nobody is known of a record from before they were kept.
	Authors []chat.Author `json:"authors,omitempty"`
}

// given returns the record as a plugin is given it, and notes that it is.
func (r record) given(by plugin.Caller) record {
	gives(by, r.Authors)
	r.Authors = nil
	return r
}

type recordArgs struct {
	ID     string         `json:"id"`
	Parent string         `json:"parent"`
	Fields map[string]any `json:"fields"`
	Limit  int            `json:"limit"`
	Offset int            `json:"offset"`
}

// noRecord answers for a record that is not there.
var noRecord = map[string]any{"item": nil}

// records are the services of every kind: council members are given them as memory.
func (s *Memory) records() map[string]plugin.Service {
	all := map[string]plugin.Service{}
	for _, k := range recordKinds {
		for verb, of := range map[string]struct {
			do      func(context.Context, plugin.Caller, recordKind, recordArgs) (any, error)
			nothing any
		}{
			"list": {s.list, map[string]any{"items": []record{}, "total": 0}}, "get": {s.get, noRecord},
			"create": {s.create, nil}, "update": {s.update, nil}, "delete": {s.delete, nil},
		} {
			all[k.name+"."+verb] = remembering(s.members, k.permission, of.nothing, func(recordArgs) bool { return true },
				func(ctx context.Context, by plugin.Caller, a recordArgs) (any, error) { return of.do(ctx, by, k, a) })
		}
	}
	return all
}

func (s *Memory) list(ctx context.Context, by plugin.Caller, k recordKind, a recordArgs) (any, error) {
	if k.parent != "" && a.Parent == "" {
		return nil, missing("There is no " + k.parent + " of that id.")
	}
	ids, values, err := s.o.Shared.Records(ctx, k.name, a.Parent)
	if err != nil {
		return nil, err
	}
	total := len(ids)
	from := min(max(a.Offset, 0), total)
	to := total
	if a.Limit > 0 {
		to = min(from+min(a.Limit, maxPage), total)
	}
	items := []record{}
	for i := from; i < to; i++ {
		items = append(items, recordOf(ids[i], values[i]).given(by))
	}
	return map[string]any{"items": items, "total": total}, nil
}

func (s *Memory) get(ctx context.Context, by plugin.Caller, k recordKind, a recordArgs) (any, error) {
	value, there, err := s.o.Shared.Record(ctx, k.name, a.ID)
	if err != nil || !there {
		return noRecord, err
	}
	return map[string]any{"item": recordOf(a.ID, value).given(by)}, nil
}

func (s *Memory) create(ctx context.Context, by plugin.Caller, k recordKind, a recordArgs) (any, error) {
	s.changing.Lock()
	defer s.changing.Unlock()
	ids, _, err := s.o.Shared.Records(ctx, k.name, a.Parent)
	if err != nil {
		return nil, err
	}
	if len(ids) >= maxRecords {
		return nil, invalid(fmt.Sprintf("There are %d already, which is the most there may be.", maxRecords))
	}
	now := s.o.Now().UnixMilli()
	r := record{Created: now, Updated: now, Fields: a.Fields, Authors: authors(by)}
	value, err := r.text(k)
	if err != nil {
		return nil, err
	}
	if k.parent == "" {
		a.Parent = ""
	}
	if r.ID, err = s.o.Shared.AddRecord(ctx, k.name, k.parent, a.Parent, value); err != nil {
		return nil, err
	}
	return map[string]any{"item": recordOf(r.ID, value).given(by)}, nil
}

// update changes the fields that are given and leaves the others.
func (s *Memory) update(ctx context.Context, by plugin.Caller, k recordKind, a recordArgs) (any, error) {
	s.changing.Lock()
	defer s.changing.Unlock()
	before, there, err := s.o.Shared.Record(ctx, k.name, a.ID)
	if err != nil {
		return nil, err
	}
	if !there {
		return nil, missing("There is no " + k.what + " of that id.")
	}
	r := recordOf(a.ID, before)
	r.Updated = s.o.Now().UnixMilli()
	for name, value := range a.Fields {
		r.Fields[name] = value
	}
	if len(a.Fields) > 0 {
		r.Authors = chat.AddAuthors(r.Authors, authors(by)...)
	}
	value, err := r.text(k)
	if err != nil {
		return nil, err
	}
	if _, err := s.o.Shared.PutRecord(ctx, k.name, a.ID, value); err != nil {
		return nil, err
	}
	return map[string]any{"item": recordOf(a.ID, value).given(by)}, nil
}

func (s *Memory) delete(ctx context.Context, _ plugin.Caller, k recordKind, a recordArgs) (any, error) {
	there, err := s.o.Shared.DeleteRecord(ctx, k.name, a.ID, k.below)
	return map[string]any{"deleted": there}, err
}

// text is r as it is kept: its id is where it lies.
func (r record) text(k recordKind) ([]byte, error) {
	r.ID, r.Parent = "", ""
	value, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	if len(value) > maxRecord {
		return nil, invalid(fmt.Sprintf("A %s may have at most %d KB.", k.what, maxRecord>>10))
	}
	return value, nil
}

// recordOf reads what text wrote. What is damaged has no fields.
func recordOf(id string, value []byte) record {
	var r record
	_ = json.Unmarshal(value, &r)
	if r.Fields == nil {
		r.Fields = map[string]any{}
	}
	r.ID = id
	if at := strings.LastIndexByte(id, '.'); at >= 0 {
		r.Parent = id[:at]
	}
	return r
}
