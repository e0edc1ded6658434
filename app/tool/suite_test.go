package tool

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The suite of JSON Schema lies with a library that the MCP SDK brings. Decision 32 says how the
// drafts 4, 6 and 2019-09 did, which it does not have.
func TestSchemasMeanWhatTheSuiteOfJSONSchemaSays(t *testing.T) {
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}",
		"github.com/google/jsonschema-go").Output()
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for draft, address := range map[string]string{"draft7": draftPaths[draft7], "draft2020-12": draftPaths[draft2020]} {
		files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "jsonschema", "testdata", draft, "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			checked += checkSuite(t, file, "https://"+address)
		}
	}
	if checked < 1500 {
		t.Errorf("only %d cases were checked", checked)
	}
}

// checkSuite checks the cases of one file of a draft, and returns how many there are that need no other files.
func checkSuite(t *testing.T, file, draft string) (checked int) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var groups []struct {
		Description string
		Schema      any
		Tests       []struct {
			Description string
			Data        json.RawMessage
			Valid       bool
		}
	}
	if err := json.Unmarshal(raw, &groups); err != nil {
		t.Fatal(err)
	}
	for _, group := range groups {
		if object, ok := group.Schema.(map[string]any); ok {
			object["$schema"] = draft
		}
		schema, err := json.Marshal(group.Schema)
		if err != nil {
			t.Fatal(err)
		}
		c := compiledSchema(schema)
		if strings.Contains(c.warning, "which Conclave does not open") {
			continue
		}
		for _, test := range group.Tests {
			value, size, err := decode(test.Data)
			if err != nil {
				t.Fatal(err)
			}
			warning, err := c.warning, error(nil)
			if warning == "" {
				warning, err = c.check(value, size.depth)
			}
			if warning != "" || (err == nil) != test.Valid {
				t.Errorf("%s: %s: %s: %s%v", filepath.Base(file), group.Description, test.Description, warning, err)
			}
			checked++
		}
	}
	return checked
}
