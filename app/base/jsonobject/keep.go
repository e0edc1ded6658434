package jsonobject

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"time"
)

// Keep returns now, the JSON that a value of type t was encoded to, with those members of
// old that t has no field for: what a newer program wrote survives a rewrite by an older
// one. Objects below are treated likewise. Those of a list are the same when they have the
// same id, or else when all that t knows of them is equal; what is gone from now is not
// brought back. Where old has none, now is returned as it is.
func Keep(old, now json.RawMessage, t reflect.Type) json.RawMessage {
	if !hasUnknown(old, t) {
		return now
	}
	return keep(old, now, t)
}

// opaque reports whether the JSON of t does not follow from its fields. That of a struct which
// encodes itself is: such a type does it for members that it adds.
func opaque(t reflect.Type) bool {
	if t.Kind() == reflect.Struct {
		return t == reflect.TypeFor[time.Time]()
	}
	for _, own := range []reflect.Type{
		reflect.TypeFor[json.Marshaler](), reflect.TypeFor[json.Unmarshaler](), reflect.TypeFor[encoding.TextMarshaler](),
	} {
		if t.Implements(own) || reflect.PointerTo(t).Implements(own) {
			return true
		}
	}
	return false
}

// below returns the type that a pointer leads to.
func below(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// hasUnknown reports whether raw has a member, at any depth, that t has no field for.
func hasUnknown(raw json.RawMessage, t reflect.Type) bool {
	t = below(t)
	if opaque(t) {
		return false
	}
	switch t.Kind() {
	case reflect.Struct:
		known := fieldsOf(t)
		for name, value := range Fields(raw) {
			field, ok := known[strings.ToLower(name)]
			if !ok || hasUnknown(value, field) {
				return true
			}
		}
	case reflect.Map:
		for _, value := range Fields(raw) {
			if hasUnknown(value, t.Elem()) {
				return true
			}
		}
	case reflect.Slice, reflect.Array:
		if !holdsObjects(t.Elem()) {
			return false
		}
		for _, value := range list(raw) {
			if hasUnknown(value, t.Elem()) {
				return true
			}
		}
	}
	return false
}

// holdsObjects reports whether a value of t can have members that t does not know.
func holdsObjects(t reflect.Type) bool {
	switch t = below(t); t.Kind() {
	case reflect.Struct, reflect.Map, reflect.Slice, reflect.Array:
		return !opaque(t)
	}
	return false
}

func list(raw json.RawMessage) (all []json.RawMessage) {
	if json.Unmarshal(raw, &all) != nil {
		return nil
	}
	return all
}

func keep(old, now json.RawMessage, t reflect.Type) json.RawMessage {
	t = below(t)
	if opaque(t) {
		return now
	}
	switch t.Kind() {
	case reflect.Struct:
		return keepMembers(old, now, fieldsOf(t), nil)
	case reflect.Map:
		return keepMembers(old, now, nil, t.Elem())
	case reflect.Slice, reflect.Array:
		if holdsObjects(t.Elem()) {
			return keepInList(old, now, t.Elem())
		}
	}
	return now
}

// keepMembers is keep for an object: one with the fields known, or a map of values of type
// each.
func keepMembers(old, now json.RawMessage, known map[string]reflect.Type, each reflect.Type) json.RawMessage {
	if !bytes.HasPrefix(bytes.TrimSpace(now), []byte("{")) {
		return now
	}
	was := map[string]json.RawMessage{}
	var unknown []string
	for name, value := range Fields(old) {
		at := name
		if each == nil {
			at = strings.ToLower(name)
			if _, ok := known[at]; !ok {
				at = name
				unknown = append(unknown, name)
			}
		}
		was[at] = value
	}
	var out bytes.Buffer
	there := map[string]bool{}
	put := func(name string, value json.RawMessage) {
		if there[name] {
			return
		}
		there[name] = true
		if out.Len() > 0 {
			out.WriteByte(',')
		}
		quoted, _ := json.Marshal(name) // a text always can be
		out.Write(quoted)
		out.WriteByte(':')
		out.Write(value)
	}
	for name, value := range Fields(now) {
		if each != nil {
			if before, ok := was[name]; ok {
				value = keep(before, value, each)
			}
		} else if field, ok := known[strings.ToLower(name)]; ok {
			if before, ok := was[strings.ToLower(name)]; ok {
				value = keep(before, value, field)
			}
		}
		put(name, value)
	}
	for _, name := range unknown {
		put(name, was[name])
	}
	return json.RawMessage("{" + out.String() + "}")
}

// keepInList is keep for a list of values of type t.
func keepInList(old, now json.RawMessage, t reflect.Type) json.RawMessage {
	after := list(now)
	taken := make([]bool, len(after))
	for _, before := range list(old) {
		if !hasUnknown(before, t) {
			continue
		}
		for i, value := range after {
			if !taken[i] && same(before, value, t) {
				after[i], taken[i] = keep(before, value, t), true
				break
			}
		}
	}
	out, err := encode(after)
	if err != nil || len(after) == 0 {
		return now
	}
	return out
}

// same reports whether two objects of lists are one and the same.
func same(before, after json.RawMessage, t reflect.Type) bool {
	var a, b struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(before, &a) == nil && json.Unmarshal(after, &b) == nil && len(a.ID) > 0 && len(b.ID) > 0 {
		return bytes.Equal(a.ID, b.ID)
	}
	known := func(raw json.RawMessage) []byte {
		value := reflect.New(t)
		if json.Unmarshal(raw, value.Interface()) != nil {
			return nil
		}
		out, err := encode(value.Interface())
		if err != nil {
			return nil
		}
		return out
	}
	k := known(before)
	return k != nil && bytes.Equal(k, known(after))
}

// encode is json.Marshal without the escapes of HTML.
func encode(value any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// known holds what fieldsOf found, by type.
var known sync.Map

// fieldsOf returns the types of the members that encoding/json reads into a struct, by
// their names in lower case, as it does not heed case.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	if found, ok := known.Load(t); ok {
		return found.(map[string]reflect.Type)
	}
	fields, depth := map[string]reflect.Type{}, map[string]int{}
	for _, f := range reflect.VisibleFields(t) {
		tag := f.Tag.Get("json")
		name, _, _ := strings.Cut(tag, ",")
		if tag == "-" || f.Anonymous && name == "" && below(f.Type).Kind() == reflect.Struct || !f.IsExported() {
			continue
		}
		if name == "" {
			name = f.Name
		}
		name = strings.ToLower(name)
		if d, ok := depth[name]; ok && d <= len(f.Index) {
			continue
		}
		fields[name], depth[name] = f.Type, len(f.Index)
	}
	known.Store(t, fields)
	return fields
}
