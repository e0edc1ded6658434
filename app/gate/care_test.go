package gate

import "testing"

func TestAPromptSaysWhatCanBeTakenBack(t *testing.T) {
	write, read := Folder{Path: "/n", Write: true}, Folder{Path: "/n"}
	for name, c := range map[string]struct {
		capabilities []Capability
		folders      []Folder
		want         string
	}{
		"computing":       {[]Capability{Compute}, nil, ""},
		"a folder read":   {[]Capability{Compute, ReadFiles}, []Folder{read}, ""},
		"nothing to undo": {[]Capability{Compute, WriteFiles}, []Folder{read}, ""},
		"a folder written": {
			[]Capability{Compute, ReadFiles, WriteFiles, Delete},
			[]Folder{read, write},
			"What it changes or deletes in the folders that it may write can be put back for 30 days.",
		},
		"sent": {
			[]Capability{Compute, Fetch, SendWeb},
			nil,
			"What it will send cannot be shown before, and cannot be taken back.",
		},
		"sent and spent": {
			[]Capability{SendWeb, CallModel},
			nil,
			"What it will send cannot be shown before, and cannot be taken back. " +
				"What it spends on models cannot be taken back.",
		},
		"no walls": {nil, nil, "What it changes cannot be put back."},
		"no walls, a folder": {
			nil,
			[]Folder{write},
			"What it changes in the folders that you gave it can be put back for 30 days; elsewhere it cannot.",
		},
	} {
		if got := care(c.capabilities, c.folders); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
