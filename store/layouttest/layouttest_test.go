package layouttest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"conclave/store/layouttest"
)

// recorder is a test that notes its failures.
type recorder struct {
	testing.TB
	failed []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.failed = append(r.failed, fmt.Sprintf(format, args...))
}

type part struct {
	words
}

type words struct {
	Text string `json:"text"`
}

type record struct {
	ID    string           `json:"id"`
	Parts []*part          `json:"parts,omitempty"`
	By    map[string]*deep `json:"by"`
	memo  int
}

type deep struct {
	Again *deep `json:"again"`
}

type grown struct {
	ID string `json:"id"`
	// A condition that an older program does not know.
	Only string `json:"only,omitempty"`
}

func TestARecordThatChangedFailsUntilTheLayoutIsRaised(t *testing.T) {
	_ = record{}.memo
	path := filepath.Join(t.TempDir(), "layout.txt")
	before := map[string]reflect.Type{"a": reflect.TypeFor[record]()}
	described := layouttest.Describe(before)
	for _, line := range []string{
		"a: layouttest_test.record\n",
		"\tparts,omitempty []*layouttest_test.part\n", "\nlayouttest_test.part\n\ttext string\n",
		"\nlayouttest_test.deep\n\tagain *layouttest_test.deep\n",
	} {
		if !strings.Contains(described, line) {
			t.Errorf("it does not say %q:\n%s", line, described)
		}
	}
	if strings.Contains(described, "memo") {
		t.Error("it describes what is not stored")
	}
	if err := os.WriteFile(path, []byte("layout 7\n"+described), 0o600); err != nil {
		t.Fatal(err)
	}
	after := map[string]reflect.Type{"a": reflect.TypeFor[grown]()}
	for _, c := range []struct {
		name    string
		layout  uint64
		records map[string]reflect.Type
		want    string
	}{
		{"as it was", 7, before, ""},
		{"changed, and not raised", 7, after, "Raise store.Layout"},
		{"changed and raised", 8, after, "Run this test with -layout"},
		{"raised alone", 8, before, "Run this test with -layout"},
	} {
		r := &recorder{TB: t}
		layouttest.Check(r, path, c.layout, c.records)
		if got := strings.Join(r.failed, "\n"); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
