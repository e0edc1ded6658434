package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"conclave/app/activity"
	"conclave/app/chat"
	"conclave/app/fault"
	"conclave/app/permit"

	"github.com/spf13/cobra"
)

func (c *command) permissionsCommand() *cobra.Command {
	var arguments, member, in, mode string
	simulate := c.simple("simulate TOOL", "Say what would happen if the tool were called, without calling it",
		func(cmd *cobra.Command, args []string) error {
			if mode == "" {
				return exactly("the name of a tool")(cmd, args)
			}
			if !isMode(mode) {
				return usageOf(cmd, "--mode is careful or standard, not %q", mode)
			}
			return noArguments(cmd, args)
		}, func(ctx context.Context, app *App, args []string) error {
			if mode != "" {
				return c.try(ctx, app, permit.Trial{Mode: permit.Mode(mode)})
			}
			row, err := findRow(app, args[0])
			if err != nil {
				return err
			}
			t, ok := app.Tools.Set().ByID(row.ID)
			if !ok {
				p, _ := app.Host.Status(row.Plugin)
				return notServing(p)
			}
			var object map[string]json.RawMessage
			if json.Unmarshal([]byte(arguments), &object) != nil || object == nil {
				return usageError("--args takes an object of JSON, as in '{\"text\": \"a\"}', not %s", arguments)
			}
			caller := permit.Main
			if member != "" {
				m, err := c.memberNamed(ctx, app, in, member)
				if err != nil {
					return err
				}
				caller = permit.Member(m.ID)
			}
			call := permit.Call{Caller: caller, Tool: t, Arguments: json.RawMessage(arguments)}
			if in != "" {
				call.Conversation = chat.ConversationID(in)
				if err := withChat(ctx, app, &call); err != nil {
					return err
				}
			}
			steps := app.Gate.Explain(call)
			return c.printSteps(steps)
		})
	simulate.Long = `Say what would happen if the tool were called, without calling it.

With --mode, no tool is named: it says what that mode would have made of the calls of the
last 7 days. What a rule would have made of them, say "conclave permissions allow", "ask"
and "deny" with --try.`
	simulate.Flags().StringVar(&mode, "mode", "", "careful or standard: try it on the calls of the last 7 days")
	simulate.Flags().StringVar(&arguments, "args", "{}", "the arguments as JSON")
	simulate.Flags().StringVar(&in, "chat", "", "as if it were called in this chat, with what that holds")
	simulate.Flags().StringVar(&member, "member", "", "as if a council member called it")
	plugins := false
	list := c.simple("list", "List what you allowed and denied", noArguments,
		func(ctx context.Context, app *App, _ []string) error {
			if plugins {
				return c.printMatrix(app)
			}
			return c.listRules(ctx, app)
		})
	list.Flags().BoolVar(&plugins, "by-plugin", false, "what each plugin may do, by who calls, instead of the rules")
	return group("permissions", "Make, list, explain and take back rules about what is allowed",
		list,
		c.simple("explain CALL", "Say why a call was allowed or refused",
			exactly("the id of a call (see conclave logs --json)"), c.explainCall),
		c.simple("revoke ID", "Take a rule back", exactly("the id of a rule"), c.revokeGrant),
		simulate,
		c.modeCommand(),
		c.trustCommand(),
		c.permissionRuleCommand(permit.Allow, "Allow calls of a tool from now on"),
		c.permissionRuleCommand(permit.Ask, "Ask before each call of a tool, whatever else allows it"),
		c.permissionRuleCommand(permit.Deny, "Deny calls of a tool, whatever allows them"),
	)
}

func (c *command) printSteps(steps []permit.Step) error {
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

func (c *command) listRules(ctx context.Context, app *App) error {
	rules, err := app.Gate.Rules(ctx)
	if err != nil {
		return err
	}
	now := time.Now()
	out, table := make([]listedRule, 0, len(rules)), newTable("ID", "LAST USED", "RULE")
	for _, r := range rules {
		row := listed(r, pluginTitle(app, r.Plugin), now)
		out = append(out, row)
		used := ""
		switch {
		case !r.LastUsed.IsZero():
			used = r.LastUsed.Local().Format(time.DateOnly)
		case r.Counted():
			used = "never"
		}
		table.add(r.ID, used, row.words())
	}
	if c.json {
		return c.printJSON(out)
	}
	return table.print(c, "Nothing has been allowed yet.")
}

func (c *command) explainCall(ctx context.Context, app *App, args []string) error {
	id, err := strconv.ParseUint(args[0], 10, 64)
	if err != nil {
		return usageError("%q is not the number of a call", args[0])
	}
	row, err := app.Activity.ActivityOf(ctx, id)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return err
	}
	kept := err == nil
	e, d, err := row.Read()
	if kept && err != nil {
		return fault.Wrap(fault.Damaged, "cli.explain", "What is on record of the call cannot be read.",
			"conclave activity --verify says more.", err)
	}
	r, err := app.Chats.Call(ctx, id)
	switch {
	case err != nil && (!kept || fault.KindOf(err) != fault.NotFound):
		return err
	case err != nil: // its chat was deleted for good
		r = chat.CallRecord{ToolID: e.Tool, Caller: e.Caller, Decision: e.Effect, DecidedBy: e.By}
	}
	if c.json {
		out := map[string]any{
			"call": args[0], "tool": r.ToolID, "caller": r.Caller, "decision": r.Decision, "decided_by": r.DecidedBy,
		}
		if kept {
			out["entry"], out["sentences"] = e.N, activity.Sentences(e, d)
			out["by"], out["rule"], out["waited_ms"] = e.By, e.Rule, e.Waited
			if d != nil {
				out["path"] = d.Path
			}
		}
		if len(r.Origins) > 0 {
			out["origins"] = r.Origins
		}
		return c.printJSON(out)
	}
	if _, err := fmt.Fprintf(c.Out, "%s, called by %s: %s (%s)\n", r.ToolID, r.Caller, r.Decision,
		strings.TrimSpace(r.DecidedBy)); err != nil {
		return err
	}
	if len(r.Origins) > 0 {
		if _, err := fmt.Fprintf(c.Out, "It was asked about because the chat contained %s.\n",
			permit.OriginWords(r.Origins)); err != nil {
			return err
		}
	}
	told := []string{"By which steps is not on record: it has not ended, or was made before they were kept."}
	if kept {
		told = activity.Sentences(e, d)
	}
	for _, line := range told {
		if _, err := fmt.Fprintln(c.Out, "  "+line); err != nil {
			return err
		}
	}
	return nil
}

func (c *command) revokeGrant(ctx context.Context, app *App, args []string) error {
	if _, err := app.Gate.RevokeRule(ctx, args[0]); err != nil {
		return err
	}
	if c.json {
		return c.printJSON(map[string]string{"revoked": args[0]})
	}
	_, err := fmt.Fprintln(c.Out, "The rule is gone.")
	return err
}
