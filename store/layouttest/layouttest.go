// Package layouttest describes the records of the store, and fails a test when one of them
// has changed while the number of the store's layout has not. An older Conclave goes by
// that number: without it, it would read a new record as an old one, and drop from a rule
// the conditions that it does not know.
package layouttest

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

var rewrite = flag.Bool("layout", false, "rewrite the descriptions of stored records")

// Check compares the records, by what they are called, with their description in the file
// at path, which is for the layout given. With the flag -layout it rewrites that file, and
// refuses to when records changed and the layout did not.
func Check(t testing.TB, path string, layout uint64, records map[string]reflect.Type) {
	t.Helper()
	now := Describe(records)
	raw, err := os.ReadFile(path)
	if err != nil && !*rewrite {
		t.Fatal(err)
	}
	head, was, _ := strings.Cut(string(raw), "\n")
	same := head == fmt.Sprintf("layout %d", layout)
	switch {
	case was != now && same:
		t.Errorf("Stored records are no longer as %s describes them, and the store still has layout %d. "+
			"Raise store.Layout (and oldestWriter, oldestReader, where an older program must not miss the change), "+
			"then run the tests named Layout of all packages with -layout. They are now:\n%s", path, layout, now)
	case *rewrite:
		if err := os.WriteFile(path, fmt.Appendf(nil, "layout %d\n%s", layout, now), 0o600); err != nil {
			t.Fatal(err)
		}
	case was != now || !same:
		t.Errorf("%s is of another layout. Run this test with -layout.", path)
	}
}

// Describe returns what the records are made of: a line for each field of each type that
// they need, by name. As in JSON, the order of fields does not matter, nor which struct they are embedded in.
func Describe(records map[string]reflect.Type) string {
	var b strings.Builder
	types := map[string]reflect.Type{}
	for _, name := range slices.Sorted(maps.Keys(records)) {
		fmt.Fprintf(&b, "%s: %s\n", name, nameOf(records[name], types))
	}
	done := map[string]bool{}
	for len(done) < len(types) {
		for _, name := range slices.Sorted(maps.Keys(types)) {
			if done[name] {
				continue
			}
			done[name] = true
			for _, f := range fieldsOf(types[name]) {
				nameOf(f.Type, types)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(types)) {
		t := types[name]
		own := ""
		if t.Implements(reflect.TypeFor[json.Marshaler]()) ||
			reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
			own = " (encodes itself)"
		}
		fmt.Fprintf(&b, "\n%s%s\n", name, own)
		var lines []string
		for _, f := range fieldsOf(t) {
			lines = append(lines, fmt.Sprintf("\t%s %s\n", strings.TrimPrefix(f.Tag.Get("json"), ","), nameOf(f.Type, types)))
		}
		slices.Sort(lines)
		b.WriteString(strings.Join(lines, ""))
	}
	return b.String()
}

// fieldsOf returns the fields that are stored of a struct, with those of embedded structs.
func fieldsOf(t reflect.Type) []reflect.StructField {
	return slices.DeleteFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool {
		tag := f.Tag.Get("json")
		return tag == "-" || !f.IsExported() || f.Anonymous && tag == ""
	})
}

// nameOf returns the name of a type, and notes which structs of Conclave's it is made of.
func nameOf(t reflect.Type, types map[string]reflect.Type) string {
	switch {
	case t.Name() == "" && t.Kind() == reflect.Pointer:
		return "*" + nameOf(t.Elem(), types)
	case t.Name() == "" && t.Kind() == reflect.Slice:
		return "[]" + nameOf(t.Elem(), types)
	case t.Name() == "" && t.Kind() == reflect.Map:
		return "map[" + nameOf(t.Key(), types) + "]" + nameOf(t.Elem(), types)
	case t.Kind() == reflect.Struct && (strings.HasPrefix(t.PkgPath(), "conclave/") || t.Name() == ""):
		types[t.String()] = t
		return t.String()
	case t.PkgPath() != "" && t.Kind() != reflect.Struct:
		return t.String() + " (" + t.Kind().String() + ")"
	}
	return t.String()
}
