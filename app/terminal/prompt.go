package terminal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/chat/responder"
	"conclave/app/chat/turn"
	"conclave/app/council/deliberation"
	"conclave/app/gate"
	"conclave/app/model"
	"conclave/app/tool"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
)

// promptFlags are the flags that prompt and chat share.
type promptFlags struct {
	model        string
	system       string
	tools        []string
	noTools      bool
	functions    []string
	toolsApprove bool
	chainLimit   int
	approve      string
	attach       []string
	goOn         bool
	conversation string
	noSave       bool
	council      string
	debug        bool
}

func (f *promptFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVarP(&f.model, "model", "m", "", "CONNECTION/MODEL; the chosen default without it")
	flags.StringVarP(&f.system, "system", "s", "", "the system text")
	flags.StringArrayVarP(&f.tools, "tool", "T", nil,
		"offer this tool: a name, a plugin's id, * for all, or a .py, .js or .ts file (repeatable)")
	flags.BoolVar(&f.noTools, "no-tools", false, "offer the model no tools; hooks run all the same")
	flags.StringArrayVar(&f.functions, "functions", nil,
		"offer the functions in this Python code, or in a .py file (repeatable)")
	flags.BoolVar(&f.toolsApprove, "ta", false, "short for --approve ask")
	flags.BoolVar(&f.toolsApprove, "tools-approve", false, "short for --approve ask")
	flags.IntVar(&f.chainLimit, "chain-limit", -1, "model requests with tools in one turn; 0 is no limit (default 10)")
	flags.IntVar(&f.chainLimit, "cl", -1, "short for --chain-limit")
	flags.StringVar(&f.approve, "approve", "",
		"ask, always or never, where the window would ask (default ask on a terminal, never otherwise)")
	flags.StringArrayVarP(&f.attach, "attach", "a", nil, "a file to send along (repeatable)")
	flags.BoolVarP(&f.goOn, "continue", "c", false, "continue the last chat")
	flags.StringVar(&f.conversation, "conversation", "", "continue this chat")
	flags.BoolVar(&f.noSave, "no-save", false, "a temporary chat: nothing is stored")
	flags.StringVar(&f.council, "council", "", "deliberate first, with the council that is set or --council=PRESET")
	flags.Lookup("council").NoOptDefVal = councilAsSet
	flags.BoolVar(&f.debug, "td", false, "show every tool call and result on standard error")
	flags.BoolVar(&f.debug, "tools-debug", false, "the same")
}

// promptCommands send messages to models.
type promptCommands struct{ *terminal }

func (c promptCommands) promptCommand() *cobra.Command {
	f := &promptFlags{}
	cmd := &cobra.Command{
		Use: "prompt [flags] TEXT|-", Short: "Send one message; the reply streams to standard output",
		Args: cobra.ArbitraryArgs,
	}
	f.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usageError("prompt needs a text, or - to read it from standard input")
		}
		text := strings.Join(args, " ")
		if strings.TrimSpace(text) == "" {
			return usageError("there is nothing to send: the text is empty")
		}
		return c.converse(cmd.Context(), f, func(ctx context.Context, run *promptRun) error {
			if text == "-" { // read only now: the command may run elsewhere
				read, err := readAtMost("cli.prompt", "The text", c.In, limit.MessageText)
				if err != nil {
					return err
				}
				text = string(read)
			}
			if strings.TrimSpace(text) == "" {
				return usageError("there is nothing to send: the text is empty")
			}
			return run.say(ctx, text)
		})
	}
	return cmd
}

// promptRun is a chat in the terminal, for the messages of one command.
type promptRun struct {
	c          *terminal
	app        *App
	f          *promptFlags
	model      model.Model
	chat       chat.Conversation // without an ID until the first message
	log        turn.Log          // nil is the store
	asker      gate.Asker
	digests    map[string]string // of files among its tools, as the person allowed them last
	loaded     []string          // plugins that were loaded for this command
	boxes      []box             // toolboxes that were
	attach     []chat.Part
	chainLimit int
	temporary  func() // removes what --functions wrote
	approval   *approval
	how        deliberation.How // of the next answer, in addition to the flags
}

// converse prepares a chat as the flags say and runs do in it.
func (c promptCommands) converse(ctx context.Context, f *promptFlags,
	do func(context.Context, *promptRun) error,
) error {
	if f.toolsApprove && f.approve == "" {
		f.approve = "ask"
	}
	asker, err := c.person.asker(f.approve)
	if err != nil {
		return err
	}
	switch {
	case f.noTools && (len(f.tools) > 0 || len(f.functions) > 0):
		return usageError("--no-tools and -T exclude each other")
	case f.goOn && f.conversation != "":
		return usageError("-c and --conversation exclude each other")
	case f.noSave && (f.goOn || f.conversation != ""):
		return usageError("--no-save cannot continue a stored chat")
	}
	// without tools, too: hooks check messages
	app, err := c.app(ctx, Folders{NeedsPlugins: true, Chat: len(f.tools) == 0})
	if err != nil {
		return err
	}
	defer app.Close()
	t := &promptRun{
		c: c.terminal, app: app, f: f, asker: asker, temporary: func() {},
		approval: newApproval(c.Err, app, asker, f.tools),
	}
	t.approval.chat = len(f.tools) == 0
	defer func() { t.temporary(); t.approval.end() }()
	if err := t.prepare(ctx); err != nil {
		return err
	}
	return do(ctx, t)
}

func (t *promptRun) prepare(ctx context.Context) error {
	set, err := t.app.Settings.Settings(ctx)
	if err != nil {
		return err
	}
	t.chainLimit = set.ChainLimit
	if t.f.chainLimit >= 0 {
		t.chainLimit = t.f.chainLimit
	}
	switch {
	case t.f.conversation != "":
		if t.chat, err = t.app.Chats.Conversation(ctx, chat.ConversationID(t.f.conversation)); err != nil {
			return err
		}
	case t.f.goOn:
		recent, err := t.app.Chats.List(ctx, chat.ListOptions{Limit: 1})
		if err != nil {
			return err
		}
		if len(recent.Conversations) == 0 {
			return fault.New(fault.NotFound, "cli.prompt", "There is no chat to continue.", "Start one without -c.")
		}
		t.chat = recent.Conversations[0]
	}
	if t.chat.ID != "" {
		missing, err := t.app.Chats.MissingMedia(ctx, t.chat.ID)
		if err != nil {
			return err
		}
		if missing > 0 {
			fmt.Fprintf(t.c.Err, "This chat has %s that cannot be found, so the model does not get them: "+
				"pictures or other files that were sent or received.\n", countOf(missing, "attached file"))
		}
	}
	if err := t.openModel(ctx); err != nil {
		return err
	}
	if t.attach, err = t.attachments(); err != nil {
		return err
	}
	if t.f.noTools {
		t.c.printWaiting(t.app, "It does not run.", "They do not run.")
		return nil
	}
	if err := t.askAboutChanged(ctx); err != nil {
		return err
	}
	if err := t.approval.plugins(ctx); err != nil {
		return err
	}
	if err := t.addFiles(ctx, t.chat.Tools); err != nil {
		return err
	}
	t.c.printWaiting(t.app, "Its tools are not offered.", "Their tools are not offered.")
	return nil
}

// openModel opens the model that the flags name, or that of the chat, or the default.
func (t *promptRun) openModel(ctx context.Context) (err error) {
	name := t.f.model
	if name == "" && t.chat.ID != "" {
		name = t.app.Responder.ModelOf(ctx, t.chat)
	}
	t.model, err = t.app.Models.Open(ctx, name)
	return err
}

// begin changes a stored chat as the flags say, or returns a new one, with its title, that is to be written
// with its first message. For a council the chat is created before: its members see it.
func (t *promptRun) begin(ctx context.Context, text string, council bool) (begins *chat.Conversation, err error) {
	id := chat.ConversationID(uuid.Must(uuid.NewV7()).String())
	switch {
	case t.chat.ID != "":
		system, model := cmp.Or(t.f.system, t.chat.System), cmp.Or(t.f.model, t.chat.Model)
		if system == t.chat.System && model == t.chat.Model && len(t.digests) == 0 {
			return nil, nil
		}
		t.chat.System, t.chat.Model = system, model
		digests := t.digests
		t.digests = nil
		return nil, t.app.Chats.UpdateConversation(ctx, t.chat.ID, func(v *chat.Conversation) {
			v.System, v.Model = system, model
			if v.Digests == nil {
				v.Digests = map[string]string{}
			}
			maps.Copy(v.Digests, digests)
		})
	case t.f.noSave:
		t.chat = chat.Conversation{
			ID: id, Model: t.model.Info().Name(), System: t.f.system, Project: t.c.project(),
		}
		t.log = turn.NewMemoryLog(t.chat)
		return nil, nil
	}
	made := chat.Conversation{
		ID: id, Title: turn.Title(text), System: t.f.system, Tools: t.fileSpecs(), Digests: t.digests,
		Project: t.c.project(),
	}
	if council {
		err = t.app.Responder.Create(ctx, &made, t.model.Info())
		t.chat = made
		return nil, err
	}
	responder.AnsweredBy(&made, t.model.Info())
	return &made, nil
}

func (t *promptRun) attachments() ([]chat.Part, error) {
	var parts []chat.Part
	for _, name := range t.f.attach {
		data, err := readFile("cli.attach", t.c.Path(name), name, limit.Attachment)
		if err != nil {
			return nil, err
		}
		media, err := turn.NewAttachment(filepath.Base(name), data)
		if err != nil {
			return nil, err
		}
		parts = append(parts, chat.Part{Kind: chat.PartMedia, Media: &media})
	}
	return parts, nil
}

// say runs a turn that answers text, and prints it.
func (t *promptRun) say(ctx context.Context, text string) error { return t.turn(ctx, text, nil) }

// turn runs a turn that answers text, or the message parent, and prints it.
func (t *promptRun) turn(ctx context.Context, text string, parent *chat.MessageSeq) error {
	how, err := t.howOf(ctx, text)
	if err != nil {
		return err
	}
	set, explicit, err := t.set()
	if err != nil {
		return err
	}
	var newest func(uint64) *tool.Set
	if !explicit && set != nil {
		newest = t.app.Tools.Newest
	}
	begins, err := t.begin(ctx, text, !how.Skip)
	if err != nil {
		return notSaved(err, "Your message was not saved.", "Your text is printed above.")
	}
	id := t.chat.ID
	if begins != nil {
		id = begins.ID
	}
	p := &printer{c: t.c, debug: t.f.debug, waits: !how.Skip, council: !how.Skip}
	watch := t.watch(p)
	how.OnEvent = func(e deliberation.Event) { watch.event(ctx, e) }
	outcome, err := t.app.Councils.Run(ctx, turn.Request{
		Conversation: id, Begins: begins, Text: text, Parent: parent, Attachments: t.attach, Model: t.model,
		Tools: set, Newest: newest, Explicit: explicit, ChainLimit: t.chainLimit, Asker: t.asker, Log: t.log,
	}, how, p.event)
	t.attach = nil
	if begins != nil && begins.Last > 0 {
		t.chat = *begins
	}
	watch.end()
	if err != nil {
		return notSaved(err, "Your message was not saved.", "Your text is printed above.")
	}
	p.end()
	watch.timeline.box()
	if p.err != nil {
		return p.err
	}
	switch outcome.Reason {
	case chat.EndStopped:
		return &exitError{ExitStopped}
	case chat.EndError:
		if t.c.json {
			return &exitError{exitOf(outcome.Err)} // it is in the turn_ended line
		}
		return notSaved(outcome.Err, "The answer was not saved completely.",
			"It is printed above as far as it was written; copy it if you need it.")
	}
	return nil
}

// notSaved adds to an error of the store about writing what was not saved and where it still is.
// Other errors are returned as they are.
func notSaved(err error, what, where string) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Kind != fault.Unavailable || !strings.HasPrefix(f.Op, "store.") {
		return err
	}
	full := *f
	full.Message += " " + what
	full.Hint = where + " " + f.Hint
	return &full
}
