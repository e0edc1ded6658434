package store_test

import (
	"slices"
	"testing"

	"conclave/app/base/fault"
	"conclave/store"
	"conclave/store/storetest"
)

func TestRecordsOfPluginsAreKeptInOrderAndGoWithWhatTheyAreUnder(t *testing.T) {
	dir := t.TempDir()
	s := storetest.OpenWith(t, store.Options{Dir: dir})
	ctx := t.Context()
	add := func(kind, parentKind, parent, value string) string {
		t.Helper()
		id, err := s.PluginData.AddRecord(ctx, kind, parentKind, parent, []byte(value))
		must(t, err)
		return id
	}
	list := func(kind, parent string) (values []string) {
		t.Helper()
		_, raw, err := s.PluginData.Records(ctx, kind, parent)
		must(t, err)
		for _, v := range raw {
			values = append(values, string(v))
		}
		return values
	}
	if got := list("book", ""); got != nil {
		t.Errorf("before the first: %q", got)
	}
	if there, err := s.PluginData.DeleteRecord(ctx, "book", "1", "page"); there || err != nil {
		t.Errorf("delete before the first: %v, %v", there, err)
	}
	a, b := add("book", "", "", "a"), add("book", "", "", "b")
	first := add("page", "book", a, "a1")
	for _, page := range []string{"a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9", "a10", "a11"} {
		add("page", "book", a, page)
	}
	add("page", "book", b, "b1")
	if _, err := s.PluginData.AddRecord(ctx, "page", "book", "gone", nil); fault.KindOf(err) != fault.NotFound {
		t.Errorf("under nothing: %v", err)
	}
	for id, want := range map[string]bool{first: true, "": false, "gone": false} {
		if there, err := s.PluginData.PutRecord(ctx, "page", id, []byte("A1")); there != want || err != nil {
			t.Errorf("put %q: %v, %v", id, there, err)
		}
	}
	must(t, s.Close())
	s = storetest.OpenWith(t, store.Options{Dir: dir})
	if got := list("page", a); !slices.Equal(got, []string{
		"A1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9", "a10", "a11",
	}) {
		t.Errorf("after a restart: %q", got)
	}
	if there, err := s.PluginData.DeleteRecord(ctx, "book", a, "page"); !there || err != nil {
		t.Errorf("delete: %v, %v", there, err)
	}
	if _, there, err := s.PluginData.Record(ctx, "page", first); there || err != nil {
		t.Errorf("what was under it is there: %v, %v", there, err)
	}
	if got := append(list("book", ""), list("page", b)...); !slices.Equal(got, []string{"b", "b1"}) {
		t.Errorf("left are %q", got)
	}
	if c := add("book", "", "", "c"); c == a || c == b {
		t.Errorf("the id %s is given again", c)
	}
}
