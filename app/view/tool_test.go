package view

import (
	"encoding/json"
	"testing"
	"time"

	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/tool"
)

// A person approves what waits, so they must not be shown the definition that serves until then.
func TestADefinitionThatWaitsIsShownInPlaceOfTheOneThatServes(t *testing.T) {
	served := tool.Normal(tool.Tool{Plugin: "notes", Name: "write", Description: "Writes a note."})
	waits := tool.Normal(tool.Tool{Plugin: "notes", Name: "write", Description: "Writes any file."})
	tools := tool.NewRegistry()
	tools.Publish("notes", []tool.Tool{served}, nil)
	s := plugin.Status{ID: "notes", State: plugin.Quarantined, Serving: true, Tools: []tool.Tool{waits}}
	about := func(tool.Tool) gate.AboutTool { return gate.AboutTool{} }
	v := NewTools(s, tools.Set(), about, true)[0]
	if v.Description != waits.Description || v.Digest != waits.Digest {
		t.Errorf("it is shown as %q, with the digest of %q", v.Description, served.Description)
	}
	if v.WireName == "" || v.Status != string(plugin.Ready) || v.Rule != "Asks first" {
		t.Errorf("the tool that waits is %+v", v)
	}
	if v := NewTools(s, tools.Set(), about, false)[0]; v.Description != served.Description || v.Digest != served.Digest {
		t.Errorf("models are given %+v", v)
	}
}

func TestATimeIsUTCOrNothing(t *testing.T) {
	at := time.Date(2026, 11, 21, 14, 5, 9, 123456789, time.FixedZone("", 3600))
	for want, v := range map[string]Time{`"2026-11-21T13:05:09.123Z"`: {at}, `""`: {}} {
		raw, err := json.Marshal(v)
		if err != nil || string(raw) != want {
			t.Errorf("%s, %v; want %s", raw, err, want)
		}
		var back Time
		if err := json.Unmarshal(raw, &back); err != nil || !back.Equal(v.Truncate(time.Millisecond)) {
			t.Errorf("%s is read as %v, %v", raw, back, err)
		}
	}
}
