package terminal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"conclave/app/plugin"
	"conclave/app/view"

	"github.com/spf13/cobra"
)

// mcpTest holds what a test of a server found.
type mcpTest struct {
	Plugin  string   `json:"plugin"`
	StartMS float64  `json:"start_ms"` // from nothing to a session
	ListMS  float64  `json:"list_ms"`  // of its tools
	Tools   int      `json:"tools"`
	Notes   []string `json:"notes"`
	// The last messages of the protocol, if they were asked for.
	Messages []view.LogLine `json:"messages,omitempty"`
}

func (c mcpCommands) testCommand() *cobra.Command {
	messages := false
	cmd := c.withPlugins("test ID", "Start a server or reach it, list its tools, and say how long that took",
		exactly("the name of a server"), func(ctx context.Context, app *App, args []string) error {
			return c.test(ctx, app, args, messages)
		})
	cmd.Long = "Start an approved MCP server as a call does, or use the one that runs, list its tools, and print how\n" +
		"long each took. No tool is called. --protocol also prints the last messages of the protocol, even if the\n" +
		"server fails: → is one that Conclave sent. Secrets are left out, and long messages are cut."
	cmd.Flags().BoolVar(&messages, "protocol", false, "print the last 50 messages of the protocol too")
	return cmd
}

// again loads a plugin that failed once more, as “Try again” on its card does. The error says why it is not in service.
func again(ctx context.Context, app *App, s plugin.Status) (plugin.Status, error) {
	if s.State == plugin.Failed {
		err := app.Host.Reload(s.ID)
		if err == nil {
			s, err = loaded(ctx, app, s.ID)
		}
		if err != nil {
			return s, err
		}
	}
	if !s.Serving {
		return s, notServing(s)
	}
	return s, nil
}

func (c mcpCommands) test(ctx context.Context, app *App, args []string, messages bool) (err error) {
	s, err := findPlugin(app, args[0])
	if err != nil {
		return err
	}
	if messages && !c.json { // also where it fails, which is when they are wanted
		defer func() { err = errors.Join(err, c.printMessages(s.ID, app.Host.Traffic(s.ID))) }()
	}
	if s, err = again(ctx, app, s); err != nil {
		return err
	}
	began := time.Now()
	backend, release, err := app.Host.Backends.Borrow(ctx, s.ID)
	if err != nil {
		return err
	}
	defer release()
	started := time.Now()
	offer, err := backend.List(ctx)
	if err != nil {
		return err
	}
	found := mcpTest{
		Plugin: s.ID, StartMS: view.Milliseconds(started.Sub(began)), ListMS: view.Milliseconds(time.Since(started)),
		Tools: len(offer.Tools), Notes: view.List(offer.Notes),
	}
	if c.json {
		if messages {
			found.Messages = view.Map(app.Host.Traffic(s.ID),
				func(l plugin.LogLine) view.LogLine { return view.NewLogLine(s.ID, l) })
		}
		return c.printJSON(found)
	}
	fmt.Fprintf(c.Out, "%s answers: started in %.0f ms, %s listed in %.0f ms.\n", s.ID, found.StartMS,
		countOf(found.Tools, "tool"), found.ListMS)
	for _, note := range found.Notes {
		fmt.Fprintln(c.Out, oneLine(note))
	}
	return nil
}
