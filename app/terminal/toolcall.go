package terminal

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/council"
	"conclave/app/gate"
	"conclave/app/tool"
	"conclave/app/tool/call"
	"conclave/app/view"

	"github.com/spf13/cobra"
)

// callFlags are the flags of `tools call`.
type callFlags struct {
	arguments, member, context, approve string
	timeout                             time.Duration
	bare                                bool // --args was not given
}

func (c toolCommands) callCommand() *cobra.Command {
	var f callFlags
	cmd := &cobra.Command{
		Use: "call TOOL", Short: "Call one tool, through the gate, without a model",
		Args: exactly("the name of a tool"),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.arguments, "args", "{}", "the arguments as JSON; - reads them from standard input")
	flags.StringVar(&f.member, "member", "", "call it on behalf of a council member")
	flags.StringVar(&f.context, "context", "", "a JSON file of {role, content, name?}: the messages that the tool gets")
	flags.StringVar(&f.approve, "approve", "", "ask, always or never, where the window would ask")
	flags.DurationVar(&f.timeout, "timeout", 0, "how long the call may take")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		asker, err := c.person.asker(f.approve)
		if err != nil {
			return err
		}
		// before standard input is read: the command may run elsewhere
		app, err := c.app(cmd.Context(), Folders{NeedsPlugins: true, WaitFor: pluginOf(args[0])})
		if err != nil {
			return err
		}
		defer app.Close()
		if f.arguments == "-" {
			text, err := readAtMost("cli.tool", "The arguments", c.In, limit.CallArguments)
			if err != nil {
				return err
			}
			f.arguments = string(text)
		}
		if !json.Valid([]byte(f.arguments)) {
			return usageOf(cmd, "--args is not JSON: %s", cutLine(f.arguments))
		}
		f.bare = !cmd.Flags().Changed("args")
		return c.call(cmd.Context(), app, args[0], f, asker)
	}
	return cmd
}

// call calls a tool as the person, or as the council member that the flags name.
func (c toolCommands) call(ctx context.Context, app *App, name string, f callFlags, asker gate.Asker) error {
	turn, extra := call.Turn{Asker: asker}, call.Extra{Timeout: f.timeout}
	turn.Caller = gate.Person
	if f.member != "" {
		m, err := c.caller(ctx, app, f.member)
		if err != nil {
			return err
		}
		turn.Caller, turn.CallerName = gate.Member(m.ID), m.Name
		extra.Member = council.MemberContext(m)
		if f.bare {
			f.arguments = "" // members' calls have no default arguments
		}
	}
	if f.context != "" {
		var err error
		if extra.Context, err = contextMessages(c.Path(f.context), f.context); err != nil {
			return err
		}
	}
	approval := newApproval(c.Err, app, asker, []string{name})
	approval.only = pluginOf(name)
	defer approval.end()
	if err := approval.plugins(ctx); err != nil {
		return err
	}
	row, err := findRow(app, name)
	if err != nil {
		return err
	}
	turn.Tools = app.Tools.Set()
	if p, err := app.Host.Status(row.Plugin); err != nil || !p.Serving {
		return notServing(p)
	}
	var unrecorded string // why the files that it changed are not known
	turn.OnEvent = func(e chat.Event) {
		if e.Kind == chat.EventAnswered {
			unrecorded = e.Call.Unkept
		}
	}
	started := time.Now()
	result, err := app.Calls.Do(ctx, turn, row.ID, f.arguments, extra)
	if err != nil {
		return err
	}
	return c.printResult(row.ID, result, time.Since(started), unrecorded)
}

// caller returns the council member of this name or id. A name that nobody has is a new member,
// so that a plugin can be tried without a council.
func (c toolCommands) caller(ctx context.Context, app *App, name string) (council.Member, error) {
	m, err := memberNamed(ctx, c.Session, app, "", name)
	if fault.KindOf(err) == fault.Usage {
		one := council.Council{}
		one.Put(council.Member{Name: name, Chance: 100})
		return one.Members[0], nil
	}
	return m, err
}

func contextMessages(path, name string) ([]tool.ContextMessage, error) {
	data, err := readFile("cli.context", path, name, limit.CallArguments)
	if err != nil {
		return nil, err
	}
	var messages []tool.ContextMessage
	if err := json.Unmarshal(data, &messages); err != nil {
		return nil, fault.Wrap(fault.Usage, "cli.context",
			"The file "+name+" is not a JSON array of {role, content, name?}.",
			"See conclave tools call --help.", err)
	}
	return messages, nil
}

// resultBlock is one part of a tool's result as JSON.
type resultBlock struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	MIMEType string `json:"mime_type,omitempty"`
	Media    string `json:"media,omitempty"`
}

// printResult prints the result of a call. unrecorded, where not empty, says why the files that it
// changed are not known. A refusal exits 3, a failed call 1.
func (c toolCommands) printResult(id string, r tool.Result, took time.Duration, unrecorded string) error {
	failed := r.Status != chat.CallOK
	if c.json {
		content := []resultBlock{}
		for _, p := range r.Content {
			if p.Kind == chat.PartMedia {
				content = append(content, resultBlock{
					Type: mediaType(p.Media.MIME), MIMEType: p.Media.MIME,
					Media: p.Media.ID,
				})
				continue
			}
			content = append(content, resultBlock{Type: "text", Text: p.Text})
		}
		if err := c.printJSON(struct {
			Tool    string        `json:"tool"`
			IsError bool          `json:"is_error"`
			Content []resultBlock `json:"content"`
			Error   string        `json:"error,omitempty"`
			Status  string        `json:"status"`
			MS      float64       `json:"ms"`
			NotKept string        `json:"not_kept,omitempty"`
		}{id, failed, content, r.Error, string(r.Status), view.Milliseconds(took), unrecorded}); err != nil {
			return err
		}
	} else {
		c.printContent(r, failed, unrecorded)
	}
	switch {
	case r.Status == chat.CallRefused:
		return &exitError{ExitNotAllowed}
	case r.Status == chat.CallCancelled:
		return &exitError{ExitStopped}
	case failed:
		return &exitError{ExitFailed}
	}
	return nil
}

func (c toolCommands) printContent(r tool.Result, failed bool, unrecorded string) {
	for _, p := range r.Content {
		if p.Kind == chat.PartMedia {
			fmt.Fprintf(c.Out, "[%s, %d bytes, media %s]\n", p.Media.MIME, p.Media.Size, p.Media.ID)
			continue
		}
		fmt.Fprintln(c.Out, strings.TrimRight(p.Text, "\n"))
	}
	if unrecorded != "" {
		fmt.Fprintln(c.Err, "conclave: "+oneLine(unrecorded))
	}
	if failed {
		fmt.Fprintln(c.Err, "conclave: "+oneLine(c.toType(r.Status.Problem(r.Error))))
	}
	if strings.HasSuffix(r.Error, gate.ErrNobody.Error()) {
		fmt.Fprintln(c.Err, "Run it at a terminal, where you are asked, or allow it this once with --approve always.")
	}
}

func mediaType(mime string) string {
	kind, _, _ := strings.Cut(mime, "/")
	switch kind {
	case "image", "audio":
		return kind
	}
	return "file"
}

func indentJSON(raw json.RawMessage, by int) string {
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber() // which stay as they are written
	if !json.Valid(raw) || d.Decode(&v) != nil {
		return string(raw)
	}
	out := []byte(raw)
	if !gate.Repeats(raw) { // of a repeated name, v has only the last value
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false) // < and & are to be read, and no page shows this
		_ = e.Encode(v)        // it was JSON
		out = bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	}
	return strings.ReplaceAll(tool.Indented(out), "\n", "\n"+strings.Repeat(" ", by))
}
