package terminal

import (
	"fmt"
	"slices"
	"time"

	"conclave/app/gate"
	"conclave/app/plugin"
)

// pluginRow is one plugin of `plugins list --json`.
type pluginRow struct {
	ID          string          `json:"id"`
	Name        string          `json:"name"`
	Version     string          `json:"version"`
	Dialect     string          `json:"contract"`
	Path        string          `json:"path"`
	State       plugin.State    `json:"state"`
	Problem     *problemRow     `json:"problem,omitempty"`
	Tools       []string        `json:"tools"`
	Permissions permissionLists `json:"permissions"`
	Isolation   string          `json:"isolation"`
	LoadMS      float64         `json:"load_ms"`
	Generation  uint64          `json:"generation"`
	Serving     bool            `json:"serving"`
	LastGood    bool            `json:"last_good,omitempty"` // an older version than the newest save serves
	Running     bool            `json:"running"`
	Notices     []string        `json:"notices,omitempty"`  // parts of it that do not run here
	Folders     []gate.Folder   `json:"folders,omitempty"`  // outside its own that it may use
	Hosts       []string        `json:"hosts,omitempty"`    // rules about hosts, as sentences
	Ports       []string        `json:"ports,omitempty"`    // rules about ports, as sentences
	Programs    []string        `json:"programs,omitempty"` // that it may start; no others
	Refused     []refusalRow    `json:"refused,omitempty"`  // what it was refused
}

// refusalRow is something that a plugin was refused.
type refusalRow struct {
	plugin.Refusal
	Command string `json:"command"` // that allows it
}

func refusalRows(s plugin.Status) []refusalRow {
	rows := []refusalRow{}
	for _, r := range s.Refused {
		rows = append(rows, refusalRow{r, r.Command(s.ID)})
	}
	return rows
}

type permissionLists struct {
	Asked   []string `json:"asked"`
	Granted []string `json:"granted"`
	Denied  []string `json:"denied"`
}

// problemRow is a plugin.Problem with the keys that scripts may rely on first.
type problemRow struct {
	Message string   `json:"message"`
	File    string   `json:"file,omitempty"`
	Line    int      `json:"line,omitempty"`
	Column  int      `json:"column,omitempty"`
	Hint    string   `json:"hint,omitempty"`
	Kind    string   `json:"kind"`
	Type    string   `json:"type,omitempty"`
	Frame   string   `json:"frame,omitempty"`
	Missing []string `json:"missing,omitempty"`
}

func newProblemRow(p *plugin.Problem) *problemRow {
	if p == nil {
		return nil
	}
	return &problemRow{p.Message, p.File, p.Line, p.Column, p.Hint, p.Kind, p.Type, p.Frame, p.Missing}
}

func newPluginRow(s plugin.Status) pluginRow {
	row := pluginRow{
		ID: s.ID, Name: s.Manifest.Name, Version: s.Manifest.Version, Dialect: s.Manifest.Dialect, Path: s.Path,
		State:   s.State,
		Problem: newProblemRow(s.Problem), Tools: []string{}, Isolation: s.Isolation.Level, Generation: s.Generation,
		LoadMS: milliseconds(s.Load), Serving: s.Serving, LastGood: s.LastGood, Running: s.Running,
		Notices:     slices.Concat(s.Manifest.Notices, s.Notes),
		Permissions: permissionLists{orEmpty(s.Manifest.Permissions), orEmpty(s.Granted), orEmpty(s.Denied)},
		Folders:     s.Folders, Hosts: s.Hosts, Ports: s.Ports, Programs: s.Programs, Refused: refusalRows(s),
	}
	for _, t := range s.Tools {
		row.Tools = append(row.Tools, t.ID())
	}
	return row
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func place(p *problemRow) string {
	if p.File == "" {
		return ""
	}
	if p.Line == 0 {
		return p.File + ": "
	}
	return fmt.Sprintf("%s:%d: ", p.File, p.Line)
}
