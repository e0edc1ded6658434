package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"conclave/app/call"
	"conclave/app/chat"
	"conclave/app/council"
	"conclave/app/fault"
	"conclave/app/limit"
	"conclave/app/permit"
	"conclave/app/tool"

	"github.com/spf13/cobra"
)

func (c *command) toolCallCommand() *cobra.Command {
	var (
		arguments, member, contextFile, approve string
		timeout                                 time.Duration
	)
	cmd := &cobra.Command{
		Use: "call TOOL", Short: "Call one tool, through the gate, without a model", Args: exactly("the name of a tool"),
	}
	flags := cmd.Flags()
	flags.StringVar(&arguments, "args", "{}", "the arguments as JSON; - reads them from standard input")
	flags.StringVar(&member, "member", "", "call it on behalf of a council member")
	flags.StringVar(&contextFile, "context", "", "a JSON file of {role, content, name?}: the messages the tool is told of")
	flags.StringVar(&approve, "approve", "", "ask, always or never, where the window would ask")
	flags.DurationVar(&timeout, "timeout", 0, "how long the call may take")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		asker, err := c.asker(approve)
		if err != nil {
			return err
		}
		// before standard input is read: the command may run elsewhere
		app, err := c.app(cmd.Context(), true, pluginOf(args[0])...)
		if err != nil {
			return err
		}
		defer app.Close()
		if arguments == "-" {
			text, err := c.readIn("cli.tool", "The arguments", limit.CallArguments)
			if err != nil {
				return err
			}
			arguments = string(text)
		}
		if !json.Valid([]byte(arguments)) {
			return usageOf(cmd, "--args is not JSON: %s", cutLine(arguments))
		}
		turn, extra := call.Turn{Asker: asker}, call.Extra{Timeout: timeout}
		turn.Caller = permit.Person
		if member != "" {
			m, err := c.memberNamed(cmd.Context(), app, "", member)
			if fault.KindOf(err) == fault.Usage { // nobody's: the plugin is tried with a member of this name
				one := council.Council{}
				one.Put(council.Member{Name: member, Chance: 100})
				m, err = one.Members[0], nil
			}
			if err != nil {
				return err
			}
			turn.Caller, turn.CallerName = permit.Member(m.ID), m.Name
			extra.Member = council.MemberContext(m)
			if !cmd.Flags().Changed("args") {
				arguments = "" // a member's call has none
			}
		}
		if contextFile != "" {
			if extra.Context, err = c.contextMessages(contextFile); err != nil {
				return err
			}
		}
		approval := c.newApproval(app, asker, args)
		approval.only = pluginOf(args[0])
		defer approval.end()
		if err := approval.plugins(cmd.Context()); err != nil {
			return err
		}
		row, err := findRow(app, args[0])
		if err != nil {
			return err
		}
		turn.Tools = app.Tools.Set()
		if p, err := app.Host.Status(row.Plugin); err != nil || !p.Serving {
			return notServing(p)
		}
		var unkept string // why it is not known what it changed
		turn.OnEvent = func(e call.Event) {
			if e.Kind == call.Answered {
				unkept = e.Record.Unkept
			}
		}
		started := time.Now()
		result, err := app.Calls.Do(cmd.Context(), turn, row.ID, arguments, extra)
		if err != nil {
			return err
		}
		return c.printCallResult(row.ID, result, time.Since(started), unkept)
	}
	return cmd
}

func (c *command) contextMessages(file string) ([]tool.ContextMessage, error) {
	data, err := readFile("cli.context", c.Path(file), file, limit.CallArguments)
	if err != nil {
		return nil, err
	}
	var messages []tool.ContextMessage
	if err := json.Unmarshal(data, &messages); err != nil {
		return nil, fault.Wrap(fault.Usage, "cli.context", "The file "+file+" is not a JSON array of {role, content, name?}.",
			"See conclave tools call --help.", err)
	}
	return messages, nil
}

// printCallResult prints what a call answered, and why it is not known what it changed where that is
// so. A refusal exits 3, a failed call 1.
func (c *command) printCallResult(id string, r tool.Result, took time.Duration, unkept string) error {
	failed := r.Status != chat.CallOK
	if c.json {
		type block struct {
			Type     string `json:"type"`
			Text     string `json:"text,omitempty"`
			MIMEType string `json:"mime_type,omitempty"`
			Media    string `json:"media,omitempty"`
		}
		content := []block{}
		for _, p := range r.Content {
			if p.Kind == chat.PartMedia {
				content = append(content, block{Type: mediaType(p.Media.MIME), MIMEType: p.Media.MIME, Media: p.Media.ID})
				continue
			}
			content = append(content, block{Type: "text", Text: p.Text})
		}
		out := struct {
			Tool    string  `json:"tool"`
			IsError bool    `json:"is_error"`
			Content []block `json:"content"`
			Error   string  `json:"error,omitempty"`
			Status  string  `json:"status"`
			MS      float64 `json:"ms"`
			NotKept string  `json:"not_kept,omitempty"`
		}{id, failed, content, r.Error, string(r.Status), float64(took.Microseconds()) / 1000, unkept}
		if err := c.printJSON(out); err != nil {
			return err
		}
	} else {
		for _, p := range r.Content {
			if p.Kind == chat.PartMedia {
				fmt.Fprintf(c.Out, "[%s, %d bytes, media %s]\n", p.Media.MIME, p.Media.Size, p.Media.ID)
				continue
			}
			fmt.Fprintln(c.Out, strings.TrimRight(p.Text, "\n"))
		}
		if unkept != "" {
			fmt.Fprintln(c.Err, "conclave: "+oneLine(unkept))
		}
		if failed {
			fmt.Fprintln(c.Err, "conclave: "+oneLine(strings.TrimPrefix(r.Error, "Error: ")))
		}
		if strings.HasSuffix(r.Error, permit.ErrNobody.Error()) {
			fmt.Fprintln(c.Err, "Run it at a terminal, where you are asked, or allow it this once with --approve always.")
		}
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
	if !permit.Repeats(raw) { // of what stands there twice, v has the last alone
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false) // < and & are to be read, and no page shows this
		_ = e.Encode(v)        // it was JSON
		out = bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	}
	return strings.ReplaceAll(tool.Indented(out), "\n", "\n"+strings.Repeat(" ", by))
}
