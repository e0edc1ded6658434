package functions_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"conclave/app/plugin/functions"
)

// prelude begins every worked example.
const prelude = `import dataclasses, datetime, decimal, enum, math, pathlib, typing, uuid
from typing import Annotated, Literal, Optional, Union
from pydantic import BaseModel, Field
`

type example struct {
	title, source, schema string
	description           *string
	warnings              int
}

var (
	exampleTitle = regexp.MustCompile(`^# (E\d\d) `)
	warningCount = regexp.MustCompile(`\((\d) warnings?\)`)
)

func examples(t *testing.T) []example {
	t.Helper()
	text, err := os.ReadFile("testdata/schemas.txt")
	if err != nil {
		t.Fatal(err)
	}
	var found []example
	for line := range strings.Lines(string(text)) {
		if match := exampleTitle.FindStringSubmatch(line); match != nil {
			one := example{title: match[1]}
			if n := warningCount.FindStringSubmatch(line); n != nil {
				one.warnings, _ = strconv.Atoi(n[1])
			}
			found = append(found, one)
			continue
		}
		if len(found) == 0 {
			continue
		}
		one := &found[len(found)-1]
		if schema, ok := strings.CutPrefix(line, "#=> "); ok {
			one.schema = strings.TrimSpace(schema)
		} else if quoted, ok := strings.CutPrefix(line, "#description=> "); ok {
			description, err := strconv.Unquote(strings.TrimSpace(quoted))
			if err != nil {
				t.Fatal(err)
			}
			one.description = &description
		} else {
			one.source += line
		}
	}
	if len(found) != 25 {
		t.Fatalf("got %d examples, want 25", len(found))
	}
	return found
}

func TestLF12SchemaExamplesOnEveryPython(t *testing.T) {
	all := examples(t)
	everyPython(t, func(t *testing.T, d *functions.Dialect) {
		for _, one := range all {
			t.Run(one.title, func(t *testing.T) {
				path := filepath.Join(files(t, map[string]string{"plug.py": prelude + one.source}), "plug.py")
				tools := launch(t, d, source(t, path)).List()
				if len(tools) == 0 {
					t.Fatal("no tool")
				}
				last := tools[len(tools)-1]
				if got := compact(t, last.Schema); got != one.schema {
					t.Errorf("schema\n got %s\nwant %s", got, one.schema)
				}
				if one.description != nil && last.Description != *one.description {
					t.Errorf("description\n got %q\nwant %q", last.Description, *one.description)
				}
				if len(last.Meta.Warnings) != one.warnings {
					t.Errorf("got warnings %q, want %d", last.Meta.Warnings, one.warnings)
				}
			})
		}
	})
}

func compact(t testing.TB, raw json.RawMessage) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
