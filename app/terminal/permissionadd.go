package terminal

import (
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"conclave/app/chat"
	"conclave/app/chat/showing"
	"conclave/app/gate"
	"conclave/app/tool"
	"conclave/app/view"

	"github.com/spf13/cobra"
)

// ruleFlags hold the flags that limit a rule about calls.
type ruleFlags struct {
	match   []string
	uses    int
	until   string
	chat    string
	project bool
	member  string
	council bool
	outside string // a program that uses Conclave as its MCP server
	try     bool
}

// ruleCommand makes a rule that allows, denies or asks about calls.
func (c permissionCommands) ruleCommand(effect gate.Effect, short string) *cobra.Command {
	var flags ruleFlags
	cmd := c.withPlugins(string(effect)+" TOOL", short,
		exactly("the name of a tool, or PLUGIN:* for all tools of a plugin"),
		func(ctx context.Context, app *App, args []string) error {
			return c.addRule(ctx, app, effect, args[0], flags)
		})
	cmd.Long = short + `.

A rule can be limited by the arguments of a call: --match 'FIELD COMPARISON VALUE',
where FIELD is the name of an argument (or a JSON Pointer into the arguments), and

  equals VALUE          it is this text, number, true or false
  enum ["a","b"]        it is one of these
  path-under FOLDER     it is an absolute path in this folder, links followed
  host-is HOST          it is an address on this host; HOST:PORT for another port
  host-suffix DOMAIN    it is an address on this domain or below it
  number-max N          it is a number, at most this one
  regex PATTERN         all of it matches

A call whose argument is missing or cannot be compared is never allowed by such a rule,
and always denied or asked about by one.`
	cmd.Example = `  conclave permissions ` + string(effect) + ` notes:write --match 'path path-under ~/Notes'
  conclave permissions ` + string(effect) + ` shop:pay --match 'amount number-max 20' --uses 3 --until 24h`
	set := cmd.Flags()
	set.StringArrayVar(&flags.match, "match", nil, "only while this holds: 'FIELD COMPARISON VALUE'")
	set.IntVar(&flags.uses, "uses", 0, "it ends after so many calls")
	set.StringVar(&flags.until, "until", "", "it ends then: 24h, 2026-12-24 or '2026-12-24 18:30'")
	set.StringVar(&flags.chat, "chat", "", "only in this chat")
	set.BoolVar(&flags.project, "project", false, "only in chats of this folder: those that are started here")
	set.StringVar(&flags.member, "member", "", "when this council member calls: its name, or its id")
	set.BoolVar(&flags.council, "council", false, "when any council member calls")
	set.StringVar(&flags.outside, "outside", "", "when this program calls that uses your tools, see conclave mcp")
	set.BoolVar(&flags.try, "try", false, "only show how it would have decided the calls of the last 7 days")
	return cmd
}

// addRule adds the rule that the flags describe, or with --try says what it would have changed.
func (c permissionCommands) addRule(ctx context.Context, app *App, effect gate.Effect, name string,
	flags ruleFlags,
) error {
	rule, err := c.ruleOf(ctx, app, effect, name, flags)
	if err != nil {
		return err
	}
	if flags.try {
		return c.try(ctx, app, gate.Trial{Add: []gate.Rule{rule}})
	}
	rule, err = app.Gate.Rules.Add(ctx, rule)
	if err != nil && rule.ID == "" {
		return asUsage(err)
	}
	if err != nil {
		return err
	}
	return c.result(rule, "%s: %s.", rule.ID, gate.Sentence(rule, app.pluginName(rule.Plugin)))
}

// ruleOf returns the rule that the flags describe.
func (c permissionCommands) ruleOf(ctx context.Context, app *App, effect gate.Effect, name string,
	flags ruleFlags,
) (gate.Rule, error) {
	rule := gate.Rule{Effect: effect, Scope: gate.Always, MaxUses: flags.uses}
	switch {
	case flags.member != "" && flags.council:
		return rule, usageError("--member and --council exclude each other")
	case flags.outside != "" && (flags.member != "" || flags.council):
		return rule, usageError("--outside excludes --member and --council")
	case flags.chat != "" && flags.project:
		return rule, usageError("--chat and --project exclude each other")
	}
	var err error
	if rule.Plugin, rule.Tool, rule.Digest, err = toolOfRule(app, name); err != nil {
		return rule, err
	}
	for _, text := range flags.match {
		m, err := c.readMatch(text)
		if err != nil {
			return rule, err
		}
		rule.Match = append(rule.Match, m)
	}
	if flags.until != "" {
		if rule.Expires, err = readUntil(flags.until, time.Now()); err != nil {
			return rule, err
		}
	}
	if err := c.narrow(ctx, app, &rule, flags); err != nil {
		return rule, err
	}
	switch {
	case flags.member != "":
		m, err := memberNamed(ctx, c.Session, app, flags.chat, flags.member)
		if err != nil {
			return rule, err
		}
		rule.Callers, rule.CallerName = []gate.Caller{gate.Member(m.ID)}, m.Name
	case flags.outside != "":
		rule.Callers = []gate.Caller{gate.Outside(flags.outside)}
	case flags.council:
		rule.Callers = []gate.Caller{gate.AnyMember}
	case effect == gate.Allow:
		rule.Callers = []gate.Caller{gate.Main}
	}
	return rule, nil
}

// narrow limits a rule to the chat or the project that the flags name.
func (c permissionCommands) narrow(ctx context.Context, app *App, rule *gate.Rule, flags ruleFlags) (err error) {
	switch {
	case flags.chat != "":
		if _, err := app.Chats.Conversation(ctx, chat.ConversationID(flags.chat)); err != nil {
			return err
		}
		rule.Scope, rule.Conversation = gate.ThisChat, chat.ConversationID(flags.chat)
	case flags.project:
		rule.Scope = gate.ThisProject
		rule.Project, err = c.namedProject()
	}
	return err
}

// toolOfRule returns the plugin and the tool of a rule. digest is that of the tool's definition, and
// empty for all tools of a plugin.
func toolOfRule(app *App, name string) (plugin, toolName, digest string, err error) {
	if id, all, _ := strings.Cut(name, ":"); all == "*" {
		p, err := findPlugin(app, id)
		return p.ID, "*", "", err
	}
	t, err := servingTool(app, name)
	return t.Plugin, t.Name, t.Digest, err
}

// servingTool finds a tool that can be called.
func servingTool(app *App, name string) (tool.Tool, error) {
	row, err := findRow(app, name)
	if err != nil {
		return tool.Tool{}, err
	}
	t, ok := app.Tools.Set().ByID(row.ID)
	if !ok {
		p, _ := app.Host.Status(row.Plugin)
		return tool.Tool{}, notServing(p)
	}
	return t, nil
}

// readMatch reads “FIELD COMPARISON VALUE”. A path may be relative to where the command
// runs.
func (c permissionCommands) readMatch(text string) (gate.Match, error) {
	field, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	op, value, _ := strings.Cut(strings.TrimSpace(rest), " ")
	m := gate.Match{Field: field, Op: gate.Op(op), Value: strings.TrimSpace(value)}
	if op == "" {
		return m, usageError("--match takes 'FIELD COMPARISON VALUE', as in 'amount number-max 20', not %q", text)
	}
	switch m.Op {
	case gate.OneOf:
		if err := json.Unmarshal([]byte(m.Value), &m.Values); err != nil {
			return m, usageError(`--match with enum takes a list, as in 'to enum ["ada","bo"]', not %s`, m.Value)
		}
		m.Value = ""
	case gate.PathUnder:
		if m.Value != "" && !filepath.IsAbs(m.Value) && !strings.HasPrefix(m.Value, "~") {
			m.Value = filepath.Join(c.Dir, m.Value)
		}
	}
	return m, nil
}

// readUntil reads a duration from now, a day, to its end, or a minute.
func readUntil(text string, now time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return now.Add(d), nil
	}
	if day, err := time.ParseInLocation(time.DateOnly, text, time.Local); err == nil {
		if end := day.AddDate(0, 0, 1); end.After(now) {
			return end, nil
		}
	}
	if at, err := time.ParseInLocation("2006-01-02 15:04", text, time.Local); err == nil && at.After(now) {
		return at, nil
	}
	return time.Time{},
		usageError("--until takes a time in the future, such as 24h, 2026-12-24 or '2026-12-24 18:30', not %q",
			text)
}

// pluginName returns the name of a plugin as a person reads it, its id if there is no such plugin.
func (a *App) pluginName(id string) string {
	s, err := a.Host.Status(id)
	if err != nil {
		return id
	}
	return cmp.Or(s.Manifest.Name, id)
}

// words returns what the tool and the plugin of a call are called.
func (a *App) words(r chat.CallRecord) showing.Words {
	return view.Words(r, a.Tools.Set(), a.pluginName)
}
