// Package restore makes a copy of the store the one that is used. It finds what the copy lets
// others do here that the present store does not. Read Restore first.
package restore

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"conclave/app/base/fault"
	"conclave/app/base/keys"
	"conclave/app/base/settings"
	"conclave/app/gate"
	"conclave/app/model"
	"conclave/app/plugin/dialect/httptools"
	"conclave/app/terminal"
	"conclave/app/tool/mcpserver"
	"conclave/store"
)

// Addresses returns the addresses that keys of connections are sent to, by name.
func Addresses(set settings.Settings) map[string]string {
	addresses := map[string]string{}
	for _, c := range set.Connections {
		addresses[c.Name] = c.Address()
	}
	return addresses
}

// Restore makes the copy at path the store of the data folder. It compares what the copy lets others
// do here with what the present store does: addresses, approvals, rules, permissions and programs.
// Those of a copy that was not made here come only if bring agrees, which gets a sentence for each;
// otherwise they are left out.
func Restore(ctx context.Context, data, path string,
	bring func(ctx context.Context, differs []string) (bool, error),
) (terminal.Restored, error) {
	none := terminal.Restored{}
	if err := store.MakeFolder(data); err != nil {
		return none, err
	}
	copied, err := store.ReadRights(ctx, path)
	if err != nil {
		return none, err
	}
	own := store.OwnCopy(data, path)
	present, presentErr := store.ReadRights(ctx, data)
	if fault.KindOf(presentErr) == fault.Locked || fault.KindOf(presentErr) == fault.Unavailable {
		return none, presentErr
	}
	// Keys from before they belonged to an address are for those of the store that is here
	// now. If those are not known, a copy from elsewhere must not name them.
	if presentErr == nil || !own {
		set, _ := settingsOf(present) // of none: no addresses
		if err := keys.New(data).BindOld(Addresses(set)); err != nil {
			return none, fault.Wrap(fault.Unavailable, "core.restore",
				"The data folder "+data+" cannot be written, so nothing was restored.",
				"Check its permissions and its disk.", err)
		}
	}
	differs, err := difference(present, copied)
	if err != nil {
		return none, err
	}
	leave := false
	if len(differs) > 0 && !own {
		yes, err := bring(ctx, differs)
		if err != nil {
			return none, err
		}
		leave = !yes
	}
	done, err := store.RestoreCopy(ctx, data, path, time.Now(), store.RestoreOptions{LeaveRights: leave, Seen: &copied})
	return terminal.Restored{
		File: path, Data: data, Replaced: done.Replaced, Differs: differs, LeftOut: leave, Unreadable: done.Unreadable,
		Media: terminal.MediaReport(done.Media),
	}, err
}

// settingsOf returns the settings among the rights.
func settingsOf(r store.Rights) (settings.Settings, error) {
	set := settings.Default()
	if len(r.Settings) == 0 {
		return set, nil
	}
	if err := json.Unmarshal(r.Settings, &set); err != nil {
		return settings.Default(), fault.Wrap(fault.Damaged, "core.restore", "The settings in the copy cannot be read.",
			"Choose another copy. Nothing was changed.", err)
	}
	return set, nil
}

// difference returns a sentence, without its full stop, for each thing that a copy lets
// others do and the present store does not let them, or not so.
func difference(present, copied store.Rights) ([]string, error) {
	is, err := settingsOf(copied)
	if err != nil {
		return nil, err
	}
	was, _ := settingsOf(present) // one that cannot be read has nothing in common with the copy
	differs := settingsDifference(was, is)
	approved := map[string]bool{}
	for _, a := range present.Approvals {
		approved[approvalKey(a)] = true
	}
	for _, a := range copied.Approvals {
		if !approved[approvalKey(a)] {
			differs = append(differs, fmt.Sprintf("The plugin %s is approved, in the version %.12s", a.Plugin, a.Code))
		}
	}
	rules := map[string]bool{}
	for _, r := range present.Rules {
		rules[ruleKey(r)] = true
	}
	for _, r := range copied.Rules {
		if !rules[ruleKey(r)] {
			differs = append(differs, "Rule: "+gate.Sentence(r, ""))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(copied.Plugins)) {
		if !sameJSON(copied.Plugins[id], present.Plugins[id]) {
			differs = append(differs, "What is set for the plugin "+id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(copied.Registrations)) {
		if sameJSON(copied.Registrations[id], present.Registrations[id]) {
			continue
		}
		differs = append(differs, httptools.RegisteredBy(id, copied.Registrations[id]))
	}
	return append(differs, outsideDifference(present.Outside, copied.Outside)...), nil
}

// outsideDifference is difference for the tools that other programs may call.
func outsideDifference(present, copied json.RawMessage) []string {
	var was, is mcpserver.Record
	_ = json.Unmarshal(present, &was) // what cannot be read lets nobody call anything
	_ = json.Unmarshal(copied, &is)
	var differs []string
	for _, id := range is.Offered {
		if !slices.Contains(was.Offered, id) {
			differs = append(differs, "Other programs may call the tool "+id)
		}
	}
	if is.Open && !was.Open {
		differs = append(differs, "Other programs may connect over HTTP while the window is open")
	}
	return differs
}

// settingsDifference is difference for the settings.
func settingsDifference(was, is settings.Settings) (differs []string) {
	here := map[string]model.Connection{}
	for _, c := range was.Connections {
		here[c.Name] = c
	}
	for _, c := range is.Connections {
		old, there := here[c.Name]
		c.Can, old.Can, c.Models, old.Models = nil, nil, nil, nil
		c.HasKey, old.HasKey, c.Title, old.Title = false, false, "", ""
		if there && reflect.DeepEqual(c, old) {
			continue
		}
		sentence := fmt.Sprintf("The connection %s asks %s", c.Name, cmp.Or(c.URL, "the "+c.Kind+" API"))
		if there {
			sentence += fmt.Sprintf(" (here: %s)", cmp.Or(old.URL, "the "+old.Kind+" API"))
		}
		if len(c.Headers) > 0 {
			sentence += ", with additional request headers"
		}
		differs = append(differs, sentence)
	}
	say := func(what string, was, is any) {
		if was != is {
			differs = append(differs, fmt.Sprintf("%s: %v (here: %v)", what, asWord(is), asWord(was)))
		}
	}
	say("Model of new chats", was.DefaultModel, is.DefaultModel)
	say("Program that opens files of plugins", was.Editor, is.Editor)
	say("Python", was.Python, is.Python)
	say("How much is asked", was.Mode, is.Mode)
	say("Programs may register tools", was.HTTPTools, is.HTTPTools)
	say("They must carry a token", was.HTTPToken, is.HTTPToken)
	say("US dollars a day for a plugin", was.PluginSpend, is.PluginSpend)
	say("Tokens a day for a plugin", was.PluginTokens, is.PluginTokens)
	return differs
}

// asWord is a setting as a person reads it.
func asWord(value any) any {
	switch v := value.(type) {
	case bool:
		return map[bool]string{true: "yes", false: "no"}[v]
	case string:
		return cmp.Or(strings.TrimSpace(v), "as Conclave chooses")
	}
	return value
}

// approvalKey is an approval without when it was given, and what was refused.
func approvalKey(a gate.Approval) string {
	a.Rejected, a.RemovedAt, a.At, a.By = nil, time.Time{}, time.Time{}, ""
	return keyOf(a)
}

// ruleKey is a rule without what its use changes.
func ruleKey(r gate.Rule) string {
	r.Uses, r.LastUsed = 0, time.Time{}
	return keyOf(r)
}

func keyOf(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// sameJSON reports whether two records hold the same.
func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
