package terminal

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/base/pattern"
	"conclave/app/plugin"
	"conclave/app/plugin/host"
	"conclave/app/tool"
)

// boxForms lists the ways to name a toolbox with -T, for errors.
const boxForms = `Write it as Name, Name(), Name("value"), Name({"setting": "value"}) or ` +
	`Name(setting="value", other=2), with JSON values.`

var (
	boxSpec    = pattern.Lazy(`(?s)^\s*([\pL_][\pL\pN_]*)\s*\((.*)\)\s*$`)
	boxKeyword = pattern.Lazy(`^\s*([\pL_][\pL\pN_]*)\s*=`)
)

// box is a toolbox that was made for this command: the plugin's id, and its name.
type box struct{ plugin, name string }

// isBox reports whether a -T value names a toolbox with settings.
func isBox(spec string) bool { return boxSpec().MatchString(spec) }

// parseBox reads "Name(settings)": an object of settings, or a list of one value
// for the first. Kind invalid names the accepted forms.
func parseBox(spec string) (name string, settings json.RawMessage, err error) {
	match := boxSpec().FindStringSubmatch(spec)
	if match == nil {
		return "", nil, badBox(spec, "it is not a name with brackets")
	}
	name, inside := match[1], strings.TrimSpace(match[2])
	if inside == "" {
		return name, json.RawMessage("{}"), nil
	}
	if !boxKeyword().MatchString(inside) {
		value, rest, err := firstJSON(inside)
		switch {
		case err != nil:
			return "", nil, badBox(spec, "the text in the brackets is not JSON")
		case rest != "":
			return "", nil, badBox(spec, "only one value without a name is allowed")
		case value[0] == '{':
			return name, value, nil
		}
		return name, slices.Concat([]byte{'['}, value, []byte{']'}), nil
	}
	object := map[string]json.RawMessage{}
	for inside != "" {
		keyword := boxKeyword().FindStringSubmatch(inside)
		if keyword == nil {
			return "", nil, badBox(spec, "a value without a name cannot follow one with a name")
		}
		value, rest, err := firstJSON(inside[len(keyword[0]):])
		if err != nil {
			return "", nil, badBox(spec, "the value of "+keyword[1]+" is not JSON")
		}
		if object[keyword[1]] != nil {
			return "", nil, badBox(spec, keyword[1]+" is given twice")
		}
		object[keyword[1]] = value
		if rest != "" && rest[0] != ',' {
			return "", nil, badBox(spec, "settings are separated by commas")
		}
		inside = strings.TrimSpace(strings.TrimPrefix(rest, ","))
	}
	settings, err = json.Marshal(object)
	return name, settings, err
}

// firstJSON returns the JSON value that text begins with, and what follows it.
func firstJSON(text string) (json.RawMessage, string, error) {
	d := json.NewDecoder(strings.NewReader(text))
	var value json.RawMessage
	if err := d.Decode(&value); err != nil {
		return nil, "", err
	}
	rest, err := io.ReadAll(d.Buffered())
	if err != nil {
		return nil, "", err
	}
	return bytes.TrimSpace(value), strings.TrimSpace(string(rest)), nil
}

func badBox(spec, why string) error {
	return fault.New(fault.Invalid, "cli.toolbox", "The toolbox "+strings.TrimSpace(spec)+" cannot be read: "+why+".",
		boxForms)
}

// inBox reports whether a tool belongs to the toolbox of a name.
func inBox(t tool.Tool, name string) bool {
	return t.Instance == name || strings.HasPrefix(t.Instance, name+"(")
}

// boxes returns the names of a plugin's toolboxes: those of its tools, and those in its settings,
// which may have no tools before they are set up.
func boxes(s plugin.Status) []string {
	var names []string
	for _, t := range s.Tools {
		if name, _, _ := strings.Cut(t.Instance, "("); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	var settings struct {
		Properties map[string]struct {
			Type string `json:"type"`
		} `json:"properties"`
	}
	if s.Facts.Toolboxes && json.Unmarshal(s.Options, &settings) == nil {
		for name, of := range settings.Properties {
			if of.Type == "object" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// hasBox reports whether a plugin has a toolbox of that name.
func hasBox(s plugin.Status, name string) bool { return slices.Contains(boxes(s), name) }

// boxOwner returns the plugin that has a toolbox of that name. The kind is not_found when none has.
func boxOwner(app *App, name string) (plugin.Status, error) {
	var have []string
	for _, s := range app.Host.List() {
		names := boxes(s)
		if slices.Contains(names, name) {
			return s, nil
		}
		have = append(have, names...)
	}
	hint := "No plugin has a toolbox."
	if len(have) > 0 {
		slices.Sort(have)
		hint = "There are: " + strings.Join(slices.Compact(have), ", ") + "."
	}
	return plugin.Status{}, fault.New(fault.NotFound, "cli.toolbox", "There is no toolbox named "+name+".", hint)
}

// absoluteBox returns a toolbox with settings with its relative paths, where its plugin declares
// them as paths, made absolute. What is wrong with it is for addToolbox to report.
func (t *promptRun) absoluteBox(spec string) string {
	name, settings, err := parseBox(spec)
	if err != nil {
		return spec
	}
	s, err := boxOwner(t.app, name)
	if err != nil {
		return spec
	}
	options, err := json.Marshal(map[string]json.RawMessage{name: settings})
	if err != nil {
		return spec
	}
	relative := false
	options = host.WithPaths(s.Options, options, func(path string) string {
		if path == "" || filepath.IsAbs(path) || strings.HasPrefix(path, "~") {
			return path
		}
		relative = true
		return t.c.Path(path)
	})
	var boxes map[string]json.RawMessage
	if !relative || json.Unmarshal(options, &boxes) != nil {
		return spec
	}
	return name + "(" + string(boxes[name]) + ")"
}

// addToolbox loads the plugin of a toolbox a second time for this command, with the settings in spec,
// and returns its id and the toolbox's name. Kind not_found when no plugin has one of that name.
func (t *promptRun) addToolbox(ctx context.Context, spec string) (id, name string, err error) {
	name, settings, err := parseBox(spec)
	if err != nil {
		return "", "", err
	}
	s, err := boxOwner(t.app, name)
	switch {
	case err != nil:
		return "", "", err
	case s.State != plugin.Ready:
		return "", "", notServing(s)
	}
	options, err := json.Marshal(map[string]json.RawMessage{name: settings})
	if err != nil {
		return "", "", err
	}
	if id, err = t.app.Host.ThisRun.LoadWith(ctx, s.ID, options); err != nil {
		return "", "", err
	}
	switch s, err = t.app.Host.Status(id); {
	case err != nil:
		return "", "", err
	case s.State != plugin.Ready:
		return "", "", notServing(s)
	}
	// An instance that cannot be made hides its tools, and its notes say why.
	if !slices.ContainsFunc(s.Tools,
		func(one tool.Tool) bool { return inBox(one, name) && one.Visibility != tool.Hidden }) {
		why := strings.Join(slices.DeleteFunc(slices.Clone(s.Notes),
			func(note string) bool { return !strings.Contains(note, name) }), " ")
		return "", "", fault.New(fault.Invalid, "cli.toolbox",
			"The toolbox "+name+" cannot be used with these settings. "+cmp.Or(why,
				"It has no tools with them."), boxForms)
	}
	return id, name, nil
}
