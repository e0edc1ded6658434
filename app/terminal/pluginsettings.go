package terminal

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/base/jsonobject"
	"conclave/app/base/limit"
	"conclave/app/plugin"

	"github.com/spf13/cobra"
)

// pluginSetupCommands give plugins their settings, secrets and packages.
type pluginSetupCommands struct{ pluginCommands }

func (c pluginSetupCommands) settingsCommand() *cobra.Command {
	return c.withPlugins("settings ID [KEY VALUE|-]",
		"Show the settings of a plugin, or set one: JSON or text; - reads it from standard input",
		func(_ *cobra.Command, args []string) error {
			if len(args) != 1 && len(args) != 3 {
				return fault.New(fault.Usage, "cli.settings", "Name a plugin, or a plugin, a setting and its value.",
					"conclave plugins settings ID lists the settings.")
			}
			return nil
		}, c.settings)
}

// parallelRow is `plugins parallel --json`.
type parallelRow struct {
	Plugin    string `json:"plugin"`
	AtOnce    int    `json:"at_once"`
	AtOnceSet bool   `json:"at_once_set"` // by the person; false: it is the default
}

func (c pluginSetupCommands) parallelCommand() *cobra.Command {
	var n int
	cmd := c.withPlugins("parallel ID [NUMBER|default]", "Show or set how many calls of a plugin run at once",
		func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 {
				return nil
			}
			return exactly("the id of a plugin")(cmd, args)
		},
		func(ctx context.Context, app *App, args []string) error {
			id, err := app.Host.Find(args[0])
			if err == nil && len(args) == 2 {
				err = app.Host.Settings.SetAtOnce(ctx, id, n)
			}
			if err != nil {
				return err
			}
			s, err := app.Host.Status(id)
			if err != nil {
				return err
			}
			return c.result(parallelRow{s.ID, s.AtOnce, s.AtOnceSet}, "%s runs up to %s.", s.ID, parallelWords(s))
		})
	cmd.Long = "Show or set how many calls of a plugin run at once; others wait for them. The default is 12 where\n" +
		"all its tools are “async def”, else 4. A tool that runs one call at a time keeps to that."
	cmd.PreRunE = func(cmd *cobra.Command, args []string) (err error) {
		if len(args) == 2 && args[1] != "default" {
			if n, err = strconv.Atoi(args[1]); err != nil || n < 1 || n > limit.PluginCalls {
				return usageOf(cmd, "“%s” is not a number from 1 to %d, nor “default”", args[1], limit.PluginCalls)
			}
		}
		return nil
	}
	return cmd
}

// parallelWords returns how many calls of a plugin run at once.
func parallelWords(s plugin.Status) string {
	words := countOf(s.AtOnce, "call") + " at once"
	if s.AtOnceSet {
		return words + ", as you set"
	}
	return words + ", the default"
}

// setting is one setting of a plugin, as `plugins settings` prints it.
type setting struct {
	Key         string          `json:"key"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Type        string          `json:"type"`
	Value       json.RawMessage `json:"value"` // null when neither set nor known; a secret's is never shown
	Set         bool            `json:"set"`
	Secret      bool            `json:"secret"`
}

func (c pluginSetupCommands) settings(ctx context.Context, app *App, args []string) error {
	id, err := app.Host.Find(args[0])
	if err != nil {
		return err
	}
	form, err := app.Host.Settings.Form(ctx, id)
	if err != nil {
		return err
	}
	settings := settingsIn(form.Schema, form.Values, form.Secrets, "")
	if len(args) == 1 {
		return c.printSettings(id, settings)
	}
	i := slices.IndexFunc(settings, func(s setting) bool { return s.Key == args[1] })
	if i < 0 {
		return fault.New(fault.NotFound, "cli.settings", "The plugin "+id+" has no setting "+args[1]+".",
			"conclave plugins settings "+id+" lists them.")
	}
	text := args[2]
	if text == "-" {
		all, err := io.ReadAll(io.LimitReader(c.In, 1<<20))
		if err != nil {
			return err
		}
		text = strings.TrimRight(string(all), "\r\n")
	}
	values, err := withValue(form.Values, strings.Split(args[1], "."), settings[i].read(text))
	if err != nil {
		return err
	}
	if err := app.Host.Settings.Set(ctx, id, values); err != nil {
		return err
	}
	return c.printAfter(ctx, app, id) // a plugin's tools can depend on its settings
}

// read reads text as a value of the setting's type: as JSON where it is JSON of that type, so that
// "Yo" in quotes is Yo, and else as plain text. A secret is never JSON.
func (s setting) read(text string) json.RawMessage {
	var quotes string
	if s.Type == "string" && !s.Secret && strings.HasPrefix(text, `"`) && json.Unmarshal([]byte(text), &quotes) == nil {
		return json.RawMessage(text)
	}
	if s.Type != "string" && !s.Secret && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		return json.RawMessage("null") // never: it is text
	}
	return quoted
}

func (c pluginSetupCommands) printSettings(id string, settings []setting) error {
	if c.json {
		return c.printJSON(settings)
	}
	table := newTable("SETTING", "VALUE", "")
	for _, s := range settings {
		value := string(s.Value)
		switch {
		case s.Secret && s.Set:
			value = "(set)"
		case s.Secret:
			value = "(not set)"
		}
		about, _, _ := strings.Cut(s.Description, "\n")
		table.add(s.Key, value, about)
	}
	return table.print(c.terminal, id+" has no settings.")
}

// settingsIn flattens the schema of an object into its settings, in its order.
func settingsIn(schema, values json.RawMessage, secrets []string, path string) []setting {
	out := []setting{}
	var object struct {
		Properties json.RawMessage `json:"properties"`
	}
	var set map[string]json.RawMessage
	_ = json.Unmarshal(values, &set) // nothing is set
	if json.Unmarshal(schema, &object) != nil {
		return out
	}
	for name, raw := range jsonobject.Fields(object.Properties) {
		var s struct {
			Title       string                     `json:"title"`
			Description string                     `json:"description"`
			Type        string                     `json:"type"`
			Format      string                     `json:"format"`
			WriteOnly   bool                       `json:"writeOnly"`
			Default     json.RawMessage            `json:"default"`
			Properties  map[string]json.RawMessage `json:"properties"`
		}
		if json.Unmarshal(raw, &s) != nil {
			continue
		}
		at := strings.TrimPrefix(path+"."+name, ".")
		if len(s.Properties) > 0 {
			out = append(out, settingsIn(raw, set[name], secrets, at)...)
			continue
		}
		one := setting{
			Key: at, Title: s.Title, Description: s.Description, Type: s.Type, Value: set[name], Set: set[name] != nil,
		}
		if one.Secret = s.Format == "password" || s.WriteOnly; one.Secret {
			one.Set, one.Value = slices.Contains(secrets, at), nil
		} else if one.Value == nil {
			one.Value = s.Default
		}
		if one.Value == nil {
			one.Value = json.RawMessage("null")
		}
		out = append(out, one)
	}
	return out
}

// withValue puts a value at path into an object.
func withValue(object json.RawMessage, path []string, value json.RawMessage) (json.RawMessage, error) {
	values := map[string]json.RawMessage{}
	if len(object) > 0 && string(object) != "null" {
		if err := json.Unmarshal(object, &values); err != nil {
			return nil, err
		}
	}
	if len(path) > 1 {
		inner, err := withValue(values[path[0]], path[1:], value)
		if err != nil {
			return nil, err
		}
		value = inner
	}
	values[path[0]] = value
	return json.Marshal(values)
}
