package modeltest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/model"
)

func names(calls []chat.ToolCall) string {
	var list []string
	for _, c := range calls {
		list = append(list, c.Tool)
	}
	return strings.Join(list, " ")
}

func compact(data []byte) string {
	var b bytes.Buffer
	if json.Compact(&b, data) != nil {
		return string(data)
	}
	return b.String()
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// wantKind returns the *model.Error inside err, or nil after reporting another.
func wantKind(t *testing.T, err error, kind model.ErrorKind) *model.Error {
	t.Helper()
	e, ok := errors.AsType[*model.Error](err)
	if !ok || e.Kind != kind {
		t.Errorf("got error %v, want kind %s", detail(err), kind)
		return nil
	}
	return e
}

// detail shows an error with its kind.
func detail(err error) string {
	if e, ok := errors.AsType[*model.Error](err); ok {
		return fmt.Sprintf("%s: %v (%v)", e.Kind, e, e.Err)
	}
	return fmt.Sprint(err)
}

// golden compares JSON with a file of testdata, member order included.
func golden(t *testing.T, name string, data []byte) {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, bytes.TrimSpace(data), "", "  "); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	b.WriteByte('\n')
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil { //nolint:gosec // a file of the repository
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != string(want) {
		t.Errorf("%s differs; -update rewrites it. Got:\n%s", name, got)
	}
}
