//go:build unix

package core

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"conclave/app/fault"
)

func TestTheWindowsProgramRendersPages(t *testing.T) {
	for name, c := range map[string]struct {
		neighbour string // a shell script; empty is none
		want      string
		kind      fault.Kind
	}{
		"it does":      {"#!/bin/sh\necho \"$1|$2|$(cat)\"\n", "-render|A \"title\"|# words\n", ""},
		"it fails":     {"#!/bin/sh\necho half\nexit 1\n", "", fault.Unavailable},
		"it is absent": {"", "", fault.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if c.neighbour != "" {
				if err := os.WriteFile(filepath.Join(dir, "conclave-window"), []byte(c.neighbour), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			core := &Core{o: Options{Program: filepath.Join(dir, "conclave")}, Log: slog.New(slog.DiscardHandler)}
			page, err := core.render(t.Context(), `A "title"`, "# words")
			if page != c.want || err != nil && fault.KindOf(err) != c.kind || (err == nil) != (c.kind == "") {
				t.Errorf("got %q, %v", page, err)
			}
		})
	}
}
