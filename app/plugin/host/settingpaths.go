package host

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/base/jsonobject"
	"conclave/app/gate"
)

// A setting that is declared as a path lets the plugin read what the person fills
// in. Any other text is a text, even when it happens to name a folder.

// pathFormats are the formats of a JSON Schema by which a setting is a path.
var pathFormats = []string{"path", "file-path", "directory-path"}

// namedPaths makes the paths that are set the real ones, in object, and returns them
// with the settings that name them: "server.folder". ~/ is the person's home. The
// error is a fault that names the setting.
//
// A value among before is passed over: nobody filled it in now. The plugin may have
// put it there as a default, or have turned a text into a path since.
func (s *Settings) namedPaths(schema, object map[string]any, before map[setPath]bool) ([]gate.Folder, error) {
	var found []gate.Folder
	var problem error
	eachPath(schema, object, "", 0, func(name, value string) string {
		if problem != nil || value == "" || before[setPath{name, value}] {
			return value
		}
		real, err := s.h.o.Gate.Reach.GrantablePath(value)
		if err != nil {
			f := fault.Of(err)
			problem = fault.Wrap(f.Kind, "plugin.options", "The setting "+name+": "+f.Message, f.Hint, err)
			return value
		}
		found = append(found, gate.Folder{Path: real, Setting: name})
		return real
	})
	return found, problem
}

// setPath is a path that a setting has.
type setPath struct{ setting, path string }

// pathsBefore returns what the settings that are paths have without the person, now
// that they are set again: what they were, but for what the person let the plugin read
// for their sake.
func (s *Settings) pathsBefore(id string, schema map[string]any, form, set json.RawMessage) map[setPath]bool {
	before := map[setPath]bool{}
	for _, values := range []json.RawMessage{set, currentValues(form)} {
		var object map[string]any
		if decodeNumbers(values, &object) == nil {
			eachPath(schema, object, "", 0, func(name, value string) string {
				before[setPath{name, value}] = true
				return value
			})
		}
	}
	for _, f := range slices.Concat(s.h.o.Gate.Reach.Folders(id), s.h.o.Gate.Reach.Opened(id)) {
		delete(before, setPath{f.Setting, f.Path})
	}
	return before
}

// eachPath calls do with the name and the text of each setting that is a path, in
// order, and puts what it returns in its place.
func eachPath(schema, object map[string]any, path string, depth int, do func(name, value string) string) {
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		property, ok := properties[name].(map[string]any)
		if !ok || depth > maxOptionDepth {
			continue
		}
		at := strings.TrimPrefix(path+"."+name, ".")
		switch value := object[name].(type) {
		case string:
			if isPath(property) {
				object[name] = do(at, value)
			}
		case []any:
			items, _ := property["items"].(map[string]any)
			for i, one := range value {
				if text, ok := one.(string); ok && isPath(items) {
					value[i] = do(at, text)
				}
			}
		case map[string]any:
			eachPath(property, value, at, depth+1, do)
		}
	}
}

// WithPaths returns settings of toolboxes, as LoadWith takes them, with what do makes
// of each that schema declares as a path. What cannot be read stays as it is.
func WithPaths(schema, options json.RawMessage, do func(path string) string) json.RawMessage {
	var form, object map[string]any
	if decodeNumbers(schema, &form) != nil || decodeNumbers(byName(schema, options), &object) != nil {
		return options
	}
	eachPath(form, object, "", 0, func(_, value string) string { return do(value) })
	out, err := json.Marshal(object)
	if err != nil {
		return options // it was JSON
	}
	return out
}

// checkPaths returns an error for a path among the options that no plugin is given.
func (s *Settings) checkPaths(schema, options json.RawMessage) error {
	var form, object map[string]any
	if decodeNumbers(schema, &form) != nil || decodeNumbers(options, &object) != nil {
		return nil // the plugin says what does not fit
	}
	_, err := s.namedPaths(form, object, nil)
	return err
}

// byName gives the settings of toolboxes that are a list, as -T 'Name("x")' has
// them, the names that the schema has at their places, so that those that are
// paths are known for it. What the schema has no name for stays as it is: the
// plugin says what does not fit.
func byName(schema, options json.RawMessage) json.RawMessage {
	var form struct {
		Properties map[string]struct {
			Properties json.RawMessage `json:"properties"`
		} `json:"properties"`
	}
	var boxes map[string]json.RawMessage
	if json.Unmarshal(schema, &form) != nil || json.Unmarshal(options, &boxes) != nil {
		return options
	}
	for box, raw := range boxes {
		var names []string
		for name := range jsonobject.Fields(form.Properties[box].Properties) {
			names = append(names, name)
		}
		var given []json.RawMessage
		if json.Unmarshal(raw, &given) != nil || len(given) > len(names) {
			continue
		}
		named := map[string]json.RawMessage{}
		for i, value := range given {
			named[names[i]] = value
		}
		if object, err := json.Marshal(named); err == nil {
			boxes[box] = object
		}
	}
	out, err := json.Marshal(boxes)
	if err != nil {
		return options // it was JSON
	}
	return out
}

func isPath(property map[string]any) bool {
	format, _ := property["format"].(string)
	return slices.Contains(pathFormats, format)
}

// namedNow returns the options that are set, and the folders that those of a plugin
// offered for this run name: whoever wrote the command named them, and nothing of
// it is kept.
func (r *runner) namedNow(set savedState) (json.RawMessage, []gate.Folder) {
	if !r.e.temporary || len(set.Options) == 0 {
		return set.Options, nil
	}
	form := r.version().options
	if settingsOf := r.h.entry(r.e.settingsOf); settingsOf != nil {
		form, _ = settingsOf.options() // it has run, this one perhaps not yet
	}
	var schema, object map[string]any
	if decodeNumbers(form, &schema) != nil || decodeNumbers(set.Options, &object) != nil {
		return set.Options, nil
	}
	named, err := r.h.Settings.namedPaths(schema, object, nil)
	if err != nil {
		r.e.logs("warning", fault.Of(err).Message)
	}
	options, err := json.Marshal(object)
	if err != nil {
		return set.Options, nil // it was JSON
	}
	return options, named
}
