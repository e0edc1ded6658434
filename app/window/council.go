package window

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/base/language"
	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/council"
	"conclave/app/council/deliberation"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/tool"
	"conclave/app/view"
)

// Council is bound: the councils of chats, and their runs.
type Council struct {
	*lifecycle
	core  Core
	undo  *undos
	chats *Chats

	runs  *runReader
	named *councilPresets
}

// Settings returns the council of a chat; conversation "" is a chat that is not begun.
func (c *Council) Settings(conversation string) (CouncilSettings, error) {
	out := CouncilSettings{Revision: c.core.Bus.Revision(bus.Councils, "")}
	ctx := c.call()
	set, scope, err := c.held(ctx, conversation)
	if err != nil {
		return out, err
	}
	out.Council, out.Scope, out.Own = set, string(scope), string(ownScope(conversation))
	wide, there, err := c.core.CouncilSettings.Council(ctx, council.Global)
	if err != nil {
		return out, err
	}
	if out.Everywhere = wide.Enabled; scope == council.Global && !there {
		out.Scope = out.Own // what is set first is set for this chat
	}
	if err := set.Check(); err != nil {
		out.Problem = language.Say(fault.Of(err).Message)
	}
	return out, nil
}

// held returns the council that applies to a chat, and its scope.
func (c *Council) held(ctx context.Context, conversation string) (council.Council, council.Scope, error) {
	if conversation == "" {
		return c.core.Responder.Next(ctx)
	}
	return c.core.Councils.Council(ctx, id(conversation), "")
}

// ownScope is where the council of one chat alone is set.
func ownScope(conversation string) council.Scope {
	if conversation == "" {
		return council.NextChat
	}
	return council.OfChat(id(conversation))
}

// Choices returns what the council of a chat can be made of. It is apart from Settings
// because the window has those from its start, and this once its panel is open.
func (c *Council) Choices(conversation string) (CouncilChoices, error) {
	ctx := c.call()
	out := CouncilChoices{UsualAnswer: deliberation.UsualAnswer}
	set, _, err := c.held(ctx, conversation)
	if err != nil {
		return out, err
	}
	if out.Scopes, err = c.places(ctx, conversation); err != nil {
		return out, err
	}
	if out.Presets, err = c.presetsFor(ctx, conversation); err != nil {
		return out, err
	}
	out.Models, err = councilModels(ctx, c.core)
	out.Tools = councilTools(c.core, set)
	return language.Shown(out), err
}

// places are the places where a chat's council can be set, narrowest first, and whether one is.
func (c *Council) places(ctx context.Context, conversation string) ([]CouncilScopeView, error) {
	talk, err := c.talk(ctx, conversation)
	if err != nil {
		return nil, err
	}
	all := []CouncilScopeView{{Scope: string(ownScope(conversation)), Title: "This chat"}}
	if talk.Project != "" {
		all = append(all, CouncilScopeView{
			Scope: string(council.OfProject(talk.Project)), Title: "Chats of the project " + filepath.Base(talk.Project),
		})
	}
	all = append(all, CouncilScopeView{Scope: string(council.Global), Title: "All chats"})
	for i := range all {
		if _, all[i].Set, err = c.core.CouncilSettings.Council(ctx, council.Scope(all[i].Scope)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// talk reads a chat. One that is not begun is empty, and has the default model.
func (c *Council) talk(ctx context.Context, conversation string) (chat.Conversation, error) {
	if conversation == "" {
		return chat.Conversation{}, nil
	}
	return c.core.Store.Conversation(ctx, id(conversation))
}

// presetsFor returns the councils that can be chosen for a chat, whose model their members speak
// through where they name none.
func (c *Council) presetsFor(ctx context.Context, conversation string) ([]view.CouncilPreset, error) {
	talk, err := c.talk(ctx, conversation)
	if err != nil {
		return nil, err
	}
	all, err := c.named.presets(ctx)
	model := c.core.Responder.ModelOf(ctx, talk)
	for i := range all {
		all[i].Council = all[i].Council.SpeakingThrough(model)
	}
	return all, err
}

// Set saves a council for a scope of CouncilChoices.Scopes.
func (c *Council) Set(conversation, scope string, set council.Council) error {
	ctx := c.call()
	if err := set.Check(); err != nil {
		return err
	}
	if _, err := c.placesUpTo(ctx, conversation, scope); err != nil {
		return err
	}
	return c.core.CouncilSettings.PutCouncil(ctx, council.Scope(scope), &set)
}

// placesUpTo returns the places where a chat's council can be set, from the narrowest up to a scope.
func (c *Council) placesUpTo(ctx context.Context, conversation, scope string) ([]CouncilScopeView, error) {
	all, err := c.places(ctx, conversation)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all, func(v CouncilScopeView) bool { return v.Scope == scope })
	if at < 0 {
		return nil, fault.New(fault.Invalid, "app.council", "A council cannot be set there.",
			"Set it for this chat, for its project, or for all chats.")
	}
	return all[:at+1], nil
}

// Clear removes the council of a scope, so that the next wider one applies.
func (c *Council) Clear(conversation, scope string) error {
	ctx := c.call()
	if _, err := c.placesUpTo(ctx, conversation, scope); err != nil {
		return err
	}
	return c.core.CouncilSettings.PutCouncil(ctx, council.Scope(scope), nil)
}

// Move saves a council for a scope of CouncilChoices.Scopes, and removes those of narrower scopes,
// which would override it; with undo.
func (c *Council) Move(conversation, scope string, set council.Council) (Undo, error) {
	ctx := c.call()
	if err := set.Check(); err != nil {
		return Undo{}, err
	}
	all, err := c.placesUpTo(ctx, conversation, scope)
	if err != nil {
		return Undo{}, err
	}
	changes := []councilChange{{council.Scope(scope), &set}}
	for _, v := range all[:len(all)-1] {
		changes = append(changes, councilChange{council.Scope(v.Scope), nil})
	}
	return c.change(ctx, "The council now applies to “"+all[len(all)-1].Title+"”.", changes...)
}

// councilChange is a council for a scope; nil removes the one that is set there.
type councilChange struct {
	scope council.Scope
	set   *council.Council
}

// change makes changes, with undo of them all.
func (c *Council) change(ctx context.Context, what string, changes ...councilChange) (Undo, error) {
	put := func(ctx context.Context, all []councilChange) error {
		for _, one := range all {
			if err := c.core.CouncilSettings.PutCouncil(ctx, one.scope, one.set); err != nil {
				return err
			}
		}
		return nil
	}
	var before []councilChange
	for _, one := range changes {
		set, there, err := c.core.CouncilSettings.Council(ctx, one.scope)
		if err != nil {
			return Undo{}, err
		}
		before = append(before, councilChange{scope: one.scope})
		if there {
			before[len(before)-1].set = &set
		}
	}
	if err := put(ctx, changes); err != nil {
		return Undo{}, err
	}
	return c.undo.add(what, func(ctx context.Context) error { return put(ctx, before) }), nil
}

// Use switches the council on or off for this chat alone; with undo.
func (c *Council) Use(conversation string, on bool) (Undo, error) {
	ctx := c.call()
	set, _, err := c.held(ctx, conversation)
	if err != nil {
		return Undo{}, err
	}
	set.Enabled = on
	what := "The council is off in this chat."
	if on {
		what = "The council is asked in this chat, before each answer."
	}
	return c.change(ctx, what, councilChange{ownScope(conversation), &set})
}

// UseEverywhere uses the council of this chat in all chats without their own, or no council there;
// with undo.
func (c *Council) UseEverywhere(conversation string, on bool) (Undo, error) {
	ctx := c.call()
	set, there, err := c.core.CouncilSettings.Council(ctx, council.Global)
	if err != nil {
		return Undo{}, err
	}
	what := "Chats without their own council now have none."
	if on {
		what = "This council is now asked in all chats without their own council."
		if set, _, err = c.held(ctx, conversation); err != nil {
			return Undo{}, err
		}
	} else if !there {
		set = council.Default()
	}
	set.Enabled = on
	return c.change(ctx, what, councilChange{council.Global, &set})
}

// Presets lists the stored councils that can be chosen by name, those that come with Conclave first.
func (c *Council) Presets() ([]view.CouncilPreset, error) { return c.named.presets(c.call()) }

// SavePreset saves a council under a name, in place of the person's preset with that name.
func (c *Council) SavePreset(name string, set council.Council) (Undo, error) {
	ctx := c.call()
	name, err := presetName(name)
	if err != nil {
		return Undo{}, err
	}
	if err := set.Check(); err != nil {
		return Undo{}, err
	}
	c.named.naming.Lock()
	defer c.named.naming.Unlock()
	scope, sentence := council.OfPreset(name), "The preset “"+name+"” was saved."
	if _, there, err := c.core.CouncilSettings.Council(ctx, scope); err != nil {
		return Undo{}, err
	} else if there {
		sentence = "The preset “" + name + "” was replaced."
	}
	set.Name = name
	return c.change(ctx, sentence, councilChange{scope, &set})
}

// AddPreset saves a council as a new preset and returns its name: the given one, with a number where
// another preset has it.
func (c *Council) AddPreset(name string, set council.Council) (string, error) {
	name, err := presetName(name)
	if err != nil {
		return "", err
	}
	if err := set.Check(); err != nil {
		return "", err
	}
	return c.named.addPreset(c.call(), name, set)
}

// RenamePreset gives one of the person's presets another name. The kind is conflict when another
// preset has it.
func (c *Council) RenamePreset(name, to string) error {
	ctx := c.call()
	to, err := presetName(to)
	if err != nil || to == name {
		return err
	}
	c.named.naming.Lock()
	defer c.named.naming.Unlock()
	set, err := c.named.preset(ctx, name)
	if err != nil {
		return err
	}
	all, err := c.named.presets(ctx)
	if err != nil {
		return err
	}
	others := slices.DeleteFunc(all, func(p view.CouncilPreset) bool { return p.Own && p.Name == name })
	if slices.ContainsFunc(others, named(to)) {
		return fault.New(fault.Conflict, "app.council", "There is a preset “"+to+"” already.", "Choose another name.")
	}
	set.Name = to
	if err := c.core.CouncilSettings.PutCouncil(ctx, council.OfPreset(to), &set); err != nil {
		return err
	}
	return c.core.CouncilSettings.PutCouncil(ctx, council.OfPreset(name), nil)
}

// DeletePreset deletes a preset of the person.
func (c *Council) DeletePreset(name string) (Undo, error) {
	ctx := c.call()
	set, err := c.named.preset(ctx, name)
	if err != nil {
		return Undo{}, err
	}
	if err := c.core.CouncilSettings.PutCouncil(ctx, council.OfPreset(name), nil); err != nil {
		return Undo{}, err
	}
	return c.undo.add("The preset “"+name+"” was deleted.", func(ctx context.Context) error {
		_, err := c.named.addPreset(ctx, name, set) // another may have its name by then
		return err
	}), nil
}

// councilPresets are the councils that can be chosen by name.
type councilPresets struct {
	settings council.Settings
	naming   sync.Mutex // held while a preset gets a name that none has
}

// presets returns the stored councils that can be chosen by name.
func (c *councilPresets) presets(ctx context.Context) ([]view.CouncilPreset, error) {
	own, err := c.settings.Presets(ctx)
	return language.Shown(view.NewCouncilPresets(own)), err
}

func (c *councilPresets) addPreset(ctx context.Context, name string, set council.Council) (string, error) {
	c.naming.Lock()
	defer c.naming.Unlock()
	all, err := c.presets(ctx)
	if err != nil {
		return "", err
	}
	set.Name = name
	for n := 2; slices.ContainsFunc(all, named(set.Name)); n++ {
		set.Name = fmt.Sprintf("%s %d", name, n)
	}
	return set.Name, c.settings.PutCouncil(ctx, council.OfPreset(set.Name), &set)
}

// preset reads one of the person's.
func (c *councilPresets) preset(ctx context.Context, name string) (council.Council, error) {
	set, there, err := c.settings.Council(ctx, council.OfPreset(name))
	if err == nil && !there {
		err = fault.New(fault.NotFound, "app.council", "There is no preset “"+name+"” of yours.", "")
	}
	return set, err
}

// presetName returns the name of a preset: one line, without invisible characters.
func presetName(name string) (string, error) {
	name, _ = tool.Strip(strings.Join(strings.Fields(name), " "))
	if name == "" {
		return "", fault.New(fault.Invalid, "app.council", "A preset cannot have an empty name.", "Give it one.")
	}
	return name, nil
}

// named reports whether people read a preset's name as this one.
func named(name string) func(view.CouncilPreset) bool {
	return func(p view.CouncilPreset) bool { return strings.EqualFold(p.Name, name) }
}

// Contexts counts what each member of a council would see of a chat now, by the
// member's id.
func (c *Council) Contexts(conversation string, set council.Council) (map[string]ContextCount, error) {
	all, err := c.core.Councils.Contexts(c.call(), set, id(conversation))
	if err != nil {
		return nil, err
	}
	out := map[string]ContextCount{}
	for member, given := range all {
		count := ContextCount{}
		var why []string
		for _, b := range given.Blocks {
			count.Tokens += b.Tokens
			if b.Why != "" {
				why = append(why, b.Why)
			}
		}
		count.Why = strings.Join(slices.Compact(why), " ")
		out[member] = language.Shown(count)
	}
	return out, nil
}

// Estimate estimates the council of a message in a chat.
func (c *Council) Estimate(conversation string, set council.Council, message Outgoing) (council.Estimate, error) {
	ctx := c.call()
	talk, err := c.talk(ctx, conversation)
	if err != nil {
		return council.Estimate{}, err
	}
	if message.Model == "" {
		message.Model = c.core.Responder.ModelOf(ctx, talk)
	}
	asked := turn.Request{Conversation: talk.ID, Text: message.Text}
	if asked.Model, err = c.core.Models.Open(ctx, message.Model); err != nil {
		return council.Estimate{}, err
	}
	if asked.Attachments, err = c.chats.attachments(ctx, message.Attachments); err != nil {
		return council.Estimate{}, err
	}
	return c.core.Councils.Estimate(ctx, set, asked)
}

// Sample begins a new chat with a question, and has three scripted members of Demo guide
// deliberate with the tools of the shipped plugins.
func (c *Council) Sample() (Sent, error) {
	set, question := council.Sample()
	return c.chats.turns.sample(c.call(), set, question)
}

// MemberFile returns a member as a file.
func (c *Council) MemberFile(member council.Member) (string, error) {
	raw, err := council.WriteMember(member)
	return string(raw) + "\n", err
}

// ReadMember reads a member's file; the id is one that no member of the council has yet.
func (c *Council) ReadMember(text string, set council.Council) (council.Member, error) {
	m, err := council.ReadMember([]byte(text))
	if err != nil {
		return m, err
	}
	if slices.ContainsFunc(set.Members, func(have council.Member) bool { return have.ID == m.ID }) {
		m.ID = ""
	}
	set.Put(m)
	return set.Members[len(set.Members)-1], set.Check()
}

// ReadCouncil reads a council's file, also the council settings of other programs.
func (c *Council) ReadCouncil(text string) (council.Council, error) {
	return council.Read([]byte(text))
}

func councilModels(ctx context.Context, core Core) ([]CouncilModelView, error) {
	known, err := core.Models.Known(ctx)
	if err != nil {
		return []CouncilModelView{}, err
	}
	all := []CouncilModelView{}
	for _, m := range known {
		all = append(all, CouncilModelView{
			Name: m.Name(), Title: cmp.Or(m.Title, m.ID), Tools: m.Can.Tools,
			Local: m.Provider == "ollama" || m.Provider == "demo",
		})
	}
	return all, nil
}

// councilTools lists the tools that members can have, and assigned tools that are missing.
func councilTools(core Core, set council.Council) []CouncilToolView {
	all := []CouncilToolView{}
	for _, t := range deliberation.PromptTools {
		all = append(all, CouncilToolView{
			ID: t.Name, Title: t.Title, PluginName: "Built in", Eligible: true, NeedsHelper: true, Capabilities: []string{},
		})
	}
	enabled := core.Tools.Set()
	for _, s := range core.Host.List() {
		for _, t := range s.Tools {
			all = append(all, councilTool(core, enabled, t, s))
		}
	}
	for _, m := range set.Members {
		for _, assigned := range m.Tools {
			if !slices.ContainsFunc(all, func(v CouncilToolView) bool { return v.ID == assigned }) {
				_, name, _ := strings.Cut(assigned, ":")
				all = append(all, CouncilToolView{
					ID: assigned, Title: cmp.Or(name, assigned), Why: "The tool " + assigned + " is not there.",
					Capabilities: []string{},
				})
			}
		}
	}
	return all
}

// councilTool returns a tool of a plugin as members can be given it.
func councilTool(core Core, enabled *tool.Set, t tool.Tool, s plugin.Status) CouncilToolView {
	v := CouncilToolView{
		ID: t.ID(), Title: t.DisplayName(), Plugin: t.Plugin, PluginName: cmp.Or(s.Manifest.Name, t.Plugin),
		Capabilities: view.List(slices.DeleteFunc(core.Gate.Reach.Can(t), func(can string) bool {
			return can == gate.Compute.Label() // every tool has it
		})),
	}
	v.NeedsHelper = deliberation.NeedsModel(enabled, t.ID(), council.Member{}) != ""
	// As it is published: a tool for members alone is hidden from models, and is not switched off.
	published, ok := enabled.ByID(t.ID())
	if !s.Serving || !ok {
		v.Why = "Its plugin does not run now."
		return v
	}
	v.Eligible, v.Why = council.Eligible(published)
	v.AsksArguments = deliberation.AsksArguments(published)
	return v
}
