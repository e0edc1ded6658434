package terminal

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/record/activity"
	"conclave/app/view"

	"github.com/spf13/cobra"
)

// permissionCommands make, list, explain and revoke rules about what is allowed.
type permissionCommands struct{ *terminal }

func (c permissionCommands) group() *cobra.Command {
	plugins := false
	list := c.withPlugins("list", "List what you allowed and denied", noArguments,
		func(ctx context.Context, app *App, _ []string) error {
			if plugins {
				return c.printMatrix(app)
			}
			return c.list(ctx, app)
		})
	list.Flags().BoolVar(&plugins, "by-plugin", false, "what each plugin may do, by caller, instead of the rules")
	return group("permissions", "Make, list, explain and revoke rules about calls",
		list,
		c.withPlugins("explain CALL", "Show why a call was allowed or refused",
			exactly("the id of a call (see conclave logs --json)"), c.explain),
		c.withPlugins("revoke ID", "Revoke a rule", exactly("the id of a rule"), c.revoke),
		c.simulateCommand(),
		c.modeCommand(),
		c.trustCommand(),
		c.ruleCommand(gate.Allow, "Allow calls of a tool from now on"),
		c.ruleCommand(gate.Ask, "Ask before each call of a tool, even if another rule allows it"),
		c.ruleCommand(gate.Deny, "Deny calls of a tool, even if another rule allows them"),
	)
}

// simulateFlags are the flags of `permissions simulate`.
type simulateFlags struct{ arguments, member, chat, mode string }

func (c permissionCommands) simulateCommand() *cobra.Command {
	var f simulateFlags
	cmd := c.withPlugins("simulate TOOL", "Show how a call of the tool would be decided, without calling it",
		func(cmd *cobra.Command, args []string) error {
			if f.mode == "" {
				return exactly("the name of a tool")(cmd, args)
			}
			if modeWords(f.mode) == "" {
				return usageOf(cmd, "--mode is careful or standard, not %q", f.mode)
			}
			return noArguments(cmd, args)
		}, func(ctx context.Context, app *App, args []string) error {
			if f.mode != "" {
				return c.try(ctx, app, gate.Trial{Mode: gate.Mode(f.mode)})
			}
			return c.simulate(ctx, app, args[0], f)
		})
	cmd.Long = `Show how a call of the tool would be decided, without calling it.

With --mode and no tool, show how that mode would have decided the calls of the last 7 days.
"conclave permissions allow", "ask" and "deny" with --try do the same for a rule.`
	cmd.Flags().StringVar(&f.mode, "mode", "", "careful or standard: try it on the calls of the last 7 days")
	cmd.Flags().StringVar(&f.arguments, "args", "{}", "the arguments as JSON")
	cmd.Flags().StringVar(&f.chat, "chat", "", "as if it were called in this chat")
	cmd.Flags().StringVar(&f.member, "member", "", "as if a council member called it")
	return cmd
}

// simulate prints the steps by which a call of the tool would be decided.
func (c permissionCommands) simulate(ctx context.Context, app *App, name string, f simulateFlags) error {
	t, err := servingTool(app, name)
	if err != nil {
		return err
	}
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(f.arguments), &object) != nil || object == nil {
		return usageError("--args takes an object of JSON, as in '{\"text\": \"a\"}', not %s", f.arguments)
	}
	call := gate.Call{Caller: gate.Main, Tool: t, Arguments: json.RawMessage(f.arguments)}
	if f.member != "" {
		m, err := memberNamed(ctx, c.Session, app, f.chat, f.member)
		if err != nil {
			return err
		}
		call.Caller = gate.Member(m.ID)
	}
	if f.chat != "" {
		call.Conversation = chat.ConversationID(f.chat)
		if err := withChat(ctx, app, &call); err != nil {
			return err
		}
	}
	return c.printSteps(app.Gate.Decisions.Explain(call))
}

func (c permissionCommands) printSteps(steps []gate.Step) error {
	if c.json {
		return c.printJSON(steps)
	}
	for i, s := range steps {
		mark := " "
		if i == len(steps)-1 {
			mark = ">"
		}
		if _, err := fmt.Fprintf(c.Out, "%s %s\n", mark, s); err != nil {
			return err
		}
	}
	return nil
}

func (c permissionCommands) list(ctx context.Context, app *App) error {
	rules, err := app.Gate.Rules.List(ctx)
	if err != nil {
		return err
	}
	now := time.Now()
	out, table := make([]view.Rule, 0, len(rules)), newTable("ID", "LAST USED", "RULE")
	for _, r := range rules {
		row := view.NewRule(r, app.pluginName(r.Plugin), now)
		out = append(out, row)
		used := ""
		switch {
		case !r.LastUsed.IsZero():
			used = r.LastUsed.Local().Format(time.DateOnly)
		case r.Counted():
			used = "never"
		}
		table.add(r.ID, used, ruleWords(row))
	}
	return c.printTable(out, table, "Nothing has been allowed yet.")
}

// explanation is the record of one call and why it was decided so.
type explanation struct {
	recorded bool // the record of activity has it
	entry    activity.Entry
	detail   *activity.Detail
	call     chat.CallRecord
}

// explanationOf reads the records of a call. A call whose chat was deleted is in the record of
// activity alone.
func explanationOf(ctx context.Context, app *App, id uint64) (explanation, error) {
	row, err := app.Activity.ActivityOf(ctx, id)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return explanation{}, err
	}
	x := explanation{recorded: err == nil}
	x.entry, x.detail, err = row.Read()
	if x.recorded && err != nil {
		return x, fault.Wrap(fault.Damaged, "cli.explain", "The record of the call cannot be read.",
			"See conclave activity --verify.", err)
	}
	x.call, err = app.Chats.Call(ctx, id)
	if err == nil {
		return x, nil
	}
	if e := x.entry; x.recorded && fault.KindOf(err) == fault.NotFound {
		x.call = chat.CallRecord{ToolID: e.Tool, Caller: e.Caller, Decision: e.Effect, DecidedBy: e.By}
		return x, nil
	}
	return x, err
}

func (c permissionCommands) explain(ctx context.Context, app *App, args []string) error {
	id, err := strconv.ParseUint(args[0], 10, 64)
	if err != nil {
		return usageError("%q is not the number of a call", args[0])
	}
	x, err := explanationOf(ctx, app, id)
	if err != nil {
		return err
	}
	if c.json {
		return c.printJSON(x.facts(args[0]))
	}
	_, err = io.WriteString(c.Out, x.text())
	return err
}

// facts returns the explanation of the call with this id as JSON.
func (x explanation) facts(id string) map[string]any {
	r, e := x.call, x.entry
	facts := map[string]any{
		"call": id, "tool": r.ToolID, "caller": r.Caller, "decision": r.Decision, "decided_by": r.DecidedBy,
	}
	if x.recorded {
		facts["entry"], facts["sentences"] = e.N, activity.Sentences(e, x.detail)
		facts["by"], facts["rule"], facts["waited_ms"] = e.By, e.Rule, e.Waited
		if x.detail != nil {
			facts["path"] = x.detail.Path
		}
	}
	if len(r.Origins) > 0 {
		facts["origins"] = r.Origins
	}
	return facts
}

func (x explanation) text() string {
	var b strings.Builder
	r := x.call
	fmt.Fprintf(&b, "%s, called by %s: %s (%s)\n", r.ToolID, r.Caller, r.Decision, strings.TrimSpace(r.DecidedBy))
	if len(r.Origins) > 0 {
		fmt.Fprintf(&b, "It was asked about because the chat contained %s.\n", gate.OriginWords(r.Origins))
	}
	steps := []string{
		"The steps of the decision are not recorded: the call has not ended, or is older than that record.",
	}
	if x.recorded {
		steps = activity.Sentences(x.entry, x.detail)
	}
	for _, line := range steps {
		fmt.Fprintln(&b, "  "+line)
	}
	return b.String()
}

func (c permissionCommands) revoke(ctx context.Context, app *App, args []string) error {
	if _, err := app.Gate.Rules.Revoke(ctx, args[0]); err != nil {
		return err
	}
	return c.result(map[string]string{"revoked": args[0]}, "The rule was revoked.")
}
