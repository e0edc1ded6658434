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

	"conclave/app/plugin/dialect/functions"
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
	exampleTitle    = regexp.MustCompile(`^# (E\d\d) `)
	exampleFunction = regexp.MustCompile(`(?m)^(?:async )?def (\w+)\(`)
	warningCount    = regexp.MustCompile(`\((\d) warnings?\)`)
)

func examples(t *testing.T) []example {
	t.Helper()
	text, err := os.ReadFile("testdata/schemas.txt")
	must(t, err)
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
			must(t, err)
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

// TestLF12SchemaExamplesOnEveryPython has each example be its own module, of
// one package: one process for each Python reads them all.
func TestLF12SchemaExamplesOnEveryPython(t *testing.T) {
	all := examples(t)
	tree, imports, names := map[string]string{}, "", []string{}
	for _, one := range all {
		defined := exampleFunction.FindAllStringSubmatch(one.source, -1)
		last := defined[len(defined)-1][1]
		module := strings.ToLower(one.title)
		tree["examples/"+module+".py"] = prelude + one.source
		imports += "from ." + module + " import " + last + "\n"
		names = append(names, last)
	}
	tree["examples/__init__.py"] = imports + "__all__ = ['" + strings.Join(names, "', '") + "']\n"
	dir := files(t, tree)
	everyPython(t, func(t *testing.T, d *functions.Dialect) {
		tools := launch(t, d, source(t, filepath.Join(dir, "examples"))).List()
		if len(tools) != len(all) {
			t.Fatalf("got %d tools, want %d", len(tools), len(all))
		}
		for n, one := range all {
			t.Run(one.title, func(t *testing.T) {
				got := tools[n]
				equal(t, "name", got.Name, names[n])
				if got := compact(t, got.Schema); got != one.schema {
					t.Errorf("schema\n got %s\nwant %s", got, one.schema)
				}
				if one.description != nil && got.Description != *one.description {
					t.Errorf("description\n got %q\nwant %q", got.Description, *one.description)
				}
				if len(got.Meta.Warnings) != one.warnings {
					t.Errorf("got warnings %q, want %d", got.Meta.Warnings, one.warnings)
				}
			})
		}
	})
}

func compact(t testing.TB, raw json.RawMessage) string {
	t.Helper()
	var b bytes.Buffer
	must(t, json.Compact(&b, raw))
	return b.String()
}
