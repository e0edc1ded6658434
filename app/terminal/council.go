package terminal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/council"
	"conclave/app/council/deliberation"
	"conclave/app/tool"
	"conclave/app/view"
)

// councilCommands set and show councils. Their runs are the part of runCommands.
type councilCommands struct{ *terminal }

func (c councilCommands) group() *cobra.Command {
	runs := runCommands{promptCommands(c)}
	return group("council", "Set councils, have them deliberate, and look at their runs", append([]*cobra.Command{
		c.showCommand(), c.setCommand(), c.clearCommand(), c.memberCommand(),
		c.withStore("presets", "List the councils that can be chosen by name", noArguments, c.presets),
	}, runs.all()...)...)
}

// scopeFlags are the chat, the project or the preset that a council is for; without them it is for
// all chats.
type scopeFlags struct {
	chat    string
	project bool
	preset  string
}

// add adds the flags; the one for a preset where it has a help text.
func (f *scopeFlags) add(cmd *cobra.Command, presetHelp string) *cobra.Command {
	cmd.Flags().StringVar(&f.chat, "chat", "", "for this chat")
	cmd.Flags().BoolVar(&f.project, "project", false, "for the chats of this folder: those that are started here")
	if presetHelp != "" {
		cmd.Flags().StringVar(&f.preset, "preset", "", presetHelp)
	}
	return cmd
}

// scope returns the scope that the flags name.
func (f *scopeFlags) scope(ctx context.Context, s *Session, app *App) (council.Scope, error) {
	named := 0
	for _, given := range []bool{f.chat != "", f.project, f.preset != ""} {
		if given {
			named++
		}
	}
	switch {
	case named > 1:
		return "", usageError("--chat, --project and --preset exclude each other")
	case f.chat != "":
		v, err := app.Chats.Conversation(ctx, chat.ConversationID(f.chat))
		return council.OfChat(v.ID), err
	case f.project:
		project, err := s.namedProject()
		return council.OfProject(project), err
	case f.preset != "":
		return council.OfPreset(f.preset), nil
	}
	return council.Global, nil
}

// scopeWords returns a scope in words.
func scopeWords(s council.Scope) string {
	switch kind, name, _ := strings.Cut(string(s), " "); kind {
	case "chat":
		return "for the chat " + name
	case "project":
		return "for chats of the project " + name
	case "preset":
		return "as the preset " + name
	}
	return "everywhere"
}

func (c councilCommands) showCommand() *cobra.Command {
	var f scopeFlags
	var member string
	cmd := c.withStore("show", "Show the current council; with --json as a file for council set", noArguments,
		func(ctx context.Context, app *App, _ []string) error {
			set, scope, err := f.current(ctx, c.Session, app)
			if err != nil {
				return err
			}
			switch {
			case member != "":
				m, err := memberOf(set, member)
				if err != nil {
					return err
				}
				raw, err := council.WriteMember(m)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintln(c.Out, string(raw))
				return err
			case c.json:
				return c.printJSON(set)
			}
			return c.print(set, scope)
		})
	cmd.Flags().StringVar(&member, "member", "", "print only this member, as a file for council member")
	return f.add(cmd, "the preset of this name, set or not")
}

// current returns the council that applies to the chat or the folder that the flags name, or to a
// chat that is started here; or the preset that they name.
func (f *scopeFlags) current(ctx context.Context, s *Session, app *App) (council.Council, council.Scope, error) {
	scope, err := f.scope(ctx, s, app)
	if err != nil {
		return council.Council{}, "", err
	}
	if f.preset != "" {
		set, err := preset(ctx, app, f.preset)
		return set, scope, err
	}
	return app.Councils.Council(ctx, chat.ConversationID(f.chat), s.project())
}

func (c councilCommands) print(set council.Council, scope council.Scope) error {
	state := "off"
	if set.Enabled {
		state = "on"
	}
	fmt.Fprintf(c.Out, "%s: %s, mode %s, set %s\n", cmp.Or(tool.OneLine(set.Name), "Council"), state, set.Mode,
		scopeWords(scope))
	table := newTable("ID", "NAME", "ROLE", "MODEL", "CONTEXT", "TOOLS")
	for _, m := range set.Members {
		name := tool.OneLine(m.Name)
		if m.Off {
			name += " (off)"
		}
		policy := m.Context.In(set)
		span := string(policy.Span)
		if policy.Last > 0 && (policy.Span == council.Turns || policy.Span == council.Messages) {
			span = fmt.Sprintf("%d %s", policy.Last, policy.Span)
		}
		table.add(m.ID, name, tool.OneLine(m.Role), cmp.Or(m.Model, set.Helper.Model, "the helper's"), span,
			tool.OneLine(strings.Join(m.Tools, ", ")))
	}
	return table.print(c.terminal, "The council has no members. Add one, or choose a preset: conclave council presets")
}

// memberOf returns the member of a council with this name or id.
func memberOf(set council.Council, name string) (council.Member, error) {
	names, hint := []string{}, "It has none."
	for _, m := range set.Members {
		if m.ID == name || strings.EqualFold(m.Name, name) {
			return m, nil
		}
		names = append(names, oneLine(m.Name))
		hint = "Its members are " + strings.Join(names, ", ") + "."
	}
	return council.Member{}, fault.New(fault.NotFound, "cli.council", "The council has no member "+cutLine(name)+".", hint)
}

// memberNamed returns the member with this name or id of the council of a chat, or of chats that are
// started here. Rules use ids, so an id of a member of another council is accepted, too.
func memberNamed(ctx context.Context, s *Session, app *App, in, name string) (council.Member, error) {
	set, _, err := (&scopeFlags{chat: in}).current(ctx, s, app)
	if err != nil {
		return council.Member{}, err
	}
	if m, err := memberOf(set, name); err == nil {
		return m, nil
	}
	if council.IsMemberID(name) {
		return council.Member{ID: name, Name: name, Chance: 100}, nil
	}
	return council.Member{}, fault.New(fault.Usage, "cli.council",
		"The council has no member "+cutLine(name)+", and this is not the id of one.",
		"conclave council show lists them.")
}

func (c councilCommands) setCommand() *cobra.Command {
	var f scopeFlags
	cmd := c.withPlugins("set FILE", "Set the council in a file, for all chats, one chat or one folder",
		exactly("a file"),
		func(ctx context.Context, app *App, args []string) error {
			raw, err := readCouncilFile(c.Session, args[0], limit.CouncilFile)
			if err != nil {
				return err
			}
			set, err := council.Read(raw)
			if err != nil {
				return err
			}
			return c.put(ctx, app, &f, set)
		})
	return f.add(cmd, "store it as the preset of this name")
}

// put stores a council, and prints what in it will not work.
func (c councilCommands) put(ctx context.Context, app *App, f *scopeFlags, set council.Council) error {
	scope, err := f.scope(ctx, c.Session, app)
	if err != nil {
		return err
	}
	if err := set.Check(); err != nil {
		return err
	}
	if err := app.CouncilSettings.PutCouncil(ctx, scope, &set); err != nil {
		return err
	}
	for _, m := range set.Members {
		for _, id := range m.Tools {
			if why := deliberation.Unusable(app.Tools.Set(), set, id); why != "" {
				fmt.Fprintf(c.Err, "%s goes without a tool: %s\n", tool.OneLine(m.Name), tool.OneLine(why))
			}
		}
	}
	return c.result(set, "The council is set %s: %s, mode %s.", scopeWords(scope), countOf(len(set.Members), "member"),
		set.Mode)
}

// readCouncilFile reads the file of a council, a member or a run.
func readCouncilFile(s *Session, name string, most int64) ([]byte, error) {
	raw, err := readFile("cli.council", s.Path(name), name, most)
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Hint == sendPart {
		full := *f
		full.Hint = "Check that it is the right file."
		return nil, &full
	}
	return raw, err
}

func (c councilCommands) clearCommand() *cobra.Command {
	var f scopeFlags
	cmd := c.withStore("clear", "Remove the council of a chat, a folder or all chats; the more general one applies",
		noArguments, func(ctx context.Context, app *App, _ []string) error {
			scope, err := f.scope(ctx, c.Session, app)
			if err != nil {
				return err
			}
			if err := app.CouncilSettings.PutCouncil(ctx, scope, nil); err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.Out, "No council is set %s.\n", scopeWords(scope))
			return err
		})
	return f.add(cmd, "the preset of this name")
}

func (c councilCommands) memberCommand() *cobra.Command {
	var f scopeFlags
	cmd := c.withPlugins("member FILE", "Add the member of a file to the council, or change the one with its id",
		exactly("a file"), func(ctx context.Context, app *App, args []string) error {
			raw, err := readCouncilFile(c.Session, args[0], limit.CouncilFile)
			if err != nil {
				return err
			}
			m, err := council.ReadMember(raw)
			if err != nil {
				return err
			}
			set, _, err := f.current(ctx, c.Session, app)
			if err != nil {
				return err
			}
			set.Put(m)
			return c.put(ctx, app, &f, set)
		})
	return f.add(cmd, "")
}

func (c councilCommands) presets(ctx context.Context, app *App, _ []string) error {
	own, err := app.CouncilSettings.Presets(ctx)
	if err != nil {
		return err
	}
	rows, table := view.NewCouncilPresets(own), newTable("NAME", "MODE", "MEMBERS")
	for _, p := range rows {
		table.add(tool.OneLine(p.Name), string(p.Mode), tool.OneLine(strings.Join(p.Members, ", ")))
	}
	return c.printTable(rows, table, "There are no presets.")
}

// preset finds a council by its name: one of the person's, or one that comes with Conclave. Case
// does not matter, and dashes stand for spaces.
func preset(ctx context.Context, app *App, name string) (council.Council, error) {
	own, err := app.CouncilSettings.Presets(ctx)
	if err != nil {
		return council.Council{}, err
	}
	same := func(other string) bool {
		plain := strings.NewReplacer("-", " ", "’", "'")
		return strings.EqualFold(plain.Replace(name), plain.Replace(other))
	}
	names := []string{}
	all := view.NewCouncilPresets(own)
	slices.SortStableFunc(all, func(a, b view.CouncilPreset) int { // the person's own first
		return cmp.Compare(fmt.Sprint(b.Own), fmt.Sprint(a.Own))
	})
	for _, p := range all {
		if same(p.Name) {
			return p.Council, nil
		}
		names = append(names, p.Name)
	}
	return council.Council{}, fault.New(fault.NotFound, "cli.council", "There is no preset "+name+".",
		"There are: "+strings.Join(names, ", ")+".")
}
