package host

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/plugin"
	"conclave/app/tool"
)

// A plugin's settings are an object that fits a JSON Schema which the plugin
// gives: its dialect by reading (Listing.Options), or its process when it lists
// its tools (docs/WIRE.md, section 2). The person fills it in; Conclave keeps it
// with what else they set for the plugin and passes it to the dialect as
// StartOptions.Options. A change starts the plugin again.
//
// A text with "format": "password" or "writeOnly": true is a secret. It goes to
// Secrets, never to the store, never back to the window and never on a command
// line: the process gets its name (StartOptions.Secrets) and asks for it when it needs
// it, with options.secret. Secrets may lie in objects in objects, and are named
// by the path to them: "server.token".

// maxOptions bounds what a person sets for one plugin, and the schema of it.
const maxOptions = 256 << 10

// maxOptionDepth bounds objects in objects that are looked through for secrets.
const maxOptionDepth = 8

// Secrets keeps secret settings, which do not belong in the store, by name; keys.Store
// is the real one. A missing secret is a fault of kind not_found.
type Secrets interface {
	Get(ctx context.Context, name string) (string, error)
	Set(ctx context.Context, name, secret string) error
	Delete(ctx context.Context, name string) error
}

// SettingsForm describes the settings of a plugin and holds their values.
type SettingsForm struct {
	Schema   json.RawMessage `json:"schema"`   // JSON Schema of an object; null when there is nothing to set
	Values   json.RawMessage `json:"values"`   // what is set, an object, without secrets
	Secrets  []string        `json:"secrets"`  // the paths of the secrets that are set: "server.token"
	Problems []string        `json:"problems"` // why the values do not fit the schema as it is now, one line each
}

// Settings holds what persons fill in for plugins. Its methods are safe for concurrent use.
type Settings struct{ h *Host }

// ChooseProgram has the command that a plugin was not started for (Problem.Program) be the program at path, and
// starts the plugin again. Kind conflict where it lacks none, invalid for what is no program.
func (s *Settings) ChooseProgram(id, path string) error {
	const op = "plugin.program"
	e, err := s.h.known(id)
	if err != nil {
		return err
	}
	now := e.now().status
	dialect, ok := s.h.Dialects.named(now.Manifest.Dialect).(plugin.ProgramChooser)
	if !ok || now.Problem == nil || now.Problem.Program == "" {
		return fault.New(fault.Conflict, op, "The plugin "+id+" lacks no program.", "Look at it again.")
	}
	if err := dialect.ChooseProgram(now.Problem.Program, path); err != nil {
		return fault.New(fault.Invalid, op, strings.ToUpper(err.Error()[:1])+err.Error()[1:]+".", "Choose another file.")
	}
	e.reloadForced()
	return nil
}

// Form returns the settings of a plugin. Kind not_found when there is none of that
// id.
func (s *Settings) Form(ctx context.Context, id string) (SettingsForm, error) {
	e, err := s.h.known(id)
	if err != nil {
		return SettingsForm{}, err
	}
	if err := e.memory.recall(ctx); err != nil {
		return SettingsForm{}, err
	}
	schema, set := e.options()
	if current := currentValues(schema); current != nil {
		set.Options = current
	}
	f := SettingsForm{
		Schema: schema, Values: set.values(), Secrets: append([]string{}, set.Secrets...), Problems: []string{},
	}
	if len(schema) > 0 {
		f.Problems = append(f.Problems, misfits(schema, f.Values, f.Secrets)...)
	}
	return f, nil
}

// Set replaces the settings of a plugin, stores them, and restarts the plugin
// with them. A secret that values do not name stays; null or "" deletes it. Kind
// invalid when the values do not fit the schema, not_found when there are no settings;
// or the error of storing a secret.
func (s *Settings) Set(ctx context.Context, id string, values json.RawMessage) error {
	const op = "plugin.options"
	e, err := s.h.known(id)
	if err != nil {
		return err
	}
	if err := e.memory.recall(ctx); err != nil {
		return err
	}
	schema, was := e.options()
	if len(schema) == 0 {
		return fault.New(fault.NotFound, op, "The plugin "+id+" has no settings.", "")
	}
	var object map[string]any
	if len(values) > maxOptions || decodeNumbers(values, &object) != nil || object == nil {
		return fault.New(fault.Invalid, op, "The settings of "+id+" are not a JSON object of at most 256 KiB.", "")
	}
	var declared map[string]any
	_ = decodeNumbers(schema, &declared) // it was usable when it was kept
	named, err := s.namedPaths(declared, object, s.pathsBefore(id, declared, schema, was.Options))
	if err != nil {
		return err
	}
	given := map[string]*string{}
	takeSecrets(object, secretPaths(schema), given)
	kept := slices.Clone(was.Secrets)
	for path, secret := range given {
		kept = slices.DeleteFunc(kept, func(p string) bool { return p == path })
		if secret != nil {
			kept = append(kept, path)
		}
	}
	slices.Sort(kept)
	clean, err := json.Marshal(object)
	if err != nil {
		return err
	}
	if wrong := misfits(schema, clean, kept); len(wrong) > 0 {
		return fault.New(fault.Invalid, op, "These settings do not fit "+id+": "+strings.Join(wrong, "; ")+".", "")
	}
	if err := s.putSecrets(ctx, id, given); err != nil {
		return err
	}
	if err := s.h.o.Gate.Reach.SetFolders(ctx, id, named); err != nil {
		return err
	}
	return e.memory.change(ctx, len(given) > 0, func(s *savedState) { s.Options, s.Secrets = clean, kept })
}

// AtOnce returns how many calls of a plugin run at once: as the person set it, else as tool.CallsAtOnce has it.
func (s *Settings) AtOnce(id string) int {
	if e := s.h.entry(id); e != nil {
		now := e.now()
		return now.atOnce()
	}
	return tool.CallsAtOnce(nil)
}

func (l *life) atOnce() int {
	if n := l.state.AtOnce; n > 0 {
		return min(n, limit.PluginCalls) // a newer Conclave may allow more
	}
	return tool.CallsAtOnce(l.status.Tools)
}

// SetAtOnce sets how many calls of a plugin run at once, durably, for calls from now on; 0 is the default. Kind
// invalid for a number that cannot be, not_found when there is no plugin of that id.
func (s *Settings) SetAtOnce(ctx context.Context, id string, n int) error {
	e, err := s.h.known(id)
	if err != nil {
		return err
	}
	if n < 0 || n > limit.PluginCalls {
		return fault.New(fault.Invalid, "plugin.at_once",
			fmt.Sprintf("%s cannot run %d calls at once.", id, n),
			fmt.Sprintf("Choose a number from 1 to %d, or none for the default.", limit.PluginCalls))
	}
	return e.memory.change(ctx, false, func(s *savedState) { s.AtOnce = n })
}

// SetKeepRunning sets whether a plugin goes on running while nobody uses it, durably. Kind not_found when there is
// no plugin of that id.
func (s *Settings) SetKeepRunning(ctx context.Context, id string, keep bool) error {
	e, err := s.h.known(id)
	if err != nil {
		return err
	}
	return e.memory.change(ctx, false, func(s *savedState) { s.KeepRunning = keep })
}

// putSecrets keeps the secrets given; nil forgets one.
func (s *Settings) putSecrets(ctx context.Context, id string, given map[string]*string) error {
	for _, path := range slices.Sorted(maps.Keys(given)) {
		if s.h.o.Secrets == nil {
			return fault.New(fault.Unavailable, "plugin.options", "There is no place for the secret "+path+" of "+id+".", "")
		}
		var err error
		if secret := given[path]; secret == nil {
			err = forgetSecret(ctx, s.h.o.Secrets, id, path)
		} else {
			err = s.h.o.Secrets.Set(ctx, secretName(id, path), *secret)
		}
		if err != nil && fault.KindOf(err) != fault.NotFound {
			return err
		}
	}
	return nil
}

// options returns the schema of the newest version that is known, and what is
// set.
func (e *entry) options() (json.RawMessage, savedState) {
	now := e.now()
	return now.status.Options, now.state
}

// settings names what is set for the plugin, without telling it; empty for nothing.
func (e *entry) settings() string {
	_, set := e.options()
	if len(set.Secrets) == 0 && (len(set.Options) == 0 || string(set.Options) == "{}") {
		return ""
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %q", set.Options, set.Secrets))
	return hex.EncodeToString(sum[:])
}

// currentValues returns the defaults of a schema that says "x-conclave-current":
// true: its plugin keeps its settings in its own file, which a person may
// edit, and lists what that file says as the defaults. It returns nil for any
// other schema.
func currentValues(schema json.RawMessage) json.RawMessage {
	var root map[string]any
	if len(schema) == 0 || decodeNumbers(schema, &root) != nil || root["x-conclave-current"] != true {
		return nil
	}
	raw, err := json.Marshal(defaultsOf(root, 0))
	if err != nil {
		return nil
	}
	return raw
}

// defaultsOf returns the defaults of an object's properties, objects in objects
// included.
func defaultsOf(schema map[string]any, depth int) map[string]any {
	out := map[string]any{}
	properties, _ := schema["properties"].(map[string]any)
	for name, value := range properties {
		property, ok := value.(map[string]any)
		if !ok || depth > maxOptionDepth {
			continue
		}
		if value, ok := property["default"]; ok {
			out[name] = value
		} else if inner := defaultsOf(property, depth+1); len(inner) > 0 {
			out[name] = inner
		}
	}
	return out
}

// values returns what is set, {} for nothing.
func (s savedState) values() json.RawMessage {
	if len(s.Options) == 0 {
		return json.RawMessage("{}")
	}
	return s.Options
}

// secret answers options.secret {name}: the value of one of the plugin's own
// secret settings, or not_found.
func (r *runner) secret(ctx context.Context, raw json.RawMessage) (any, error) {
	var args struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal(raw, &args); err != nil || args.Name == "" {
		return nil, hostError("invalid", "options.secret needs the name of a setting.")
	}
	value, err := r.settingSecret(ctx, args.Name)
	if err != nil {
		return nil, asServiceError(err)
	}
	return map[string]string{"value": value}, nil
}

// settingSecret returns one of the plugin's own secret settings, and masks it from then on in what the plugin says.
func (r *runner) settingSecret(ctx context.Context, name string) (string, error) {
	_, set := r.e.options()
	if !slices.Contains(set.Secrets, name) || r.e.h.o.Secrets == nil {
		return "", hostError("not_found", "The setting "+name+" is not set.")
	}
	value, err := readSecret(ctx, r.e.h.o.Secrets, r.e.grantee(), name)
	if err == nil {
		r.e.redactor.add(value)
	}
	return value, err
}

// mergeOptions returns over, with what base has besides.
func mergeOptions(base, over json.RawMessage) (json.RawMessage, error) {
	var merged, more map[string]json.RawMessage
	if json.Unmarshal(base, &merged) != nil || json.Unmarshal(over, &more) != nil {
		return nil, fault.New(fault.Invalid, "plugin.options", "The settings are not a JSON object.", "")
	}
	if merged == nil {
		merged = map[string]json.RawMessage{}
	}
	maps.Copy(merged, more)
	return json.Marshal(merged)
}

// secretName is the name under which a plugin's secret setting is kept. No id
// holds a slash, so two plugins never share one.
func secretName(id, path string) string { return "plugin/" + id + "/option/" + path }

// oldSecretName is the name that earlier versions used; ok is false where it could
// be another plugin's just as well.
func oldSecretName(id, path string) (name string, ok bool) {
	const separator = "-option-"
	name = "plugin-" + id + separator + path
	return name, strings.Count(name, separator) == 1
}

// readSecret returns a secret setting. One that an earlier version kept is moved to
// the name it has now.
func readSecret(ctx context.Context, secrets Secrets, id, path string) (string, error) {
	value, err := secrets.Get(ctx, secretName(id, path))
	old, clear := oldSecretName(id, path)
	if fault.KindOf(err) != fault.NotFound || !clear {
		return value, err
	}
	value, err = secrets.Get(ctx, old)
	if err != nil {
		return "", err
	}
	if err := secrets.Set(ctx, secretName(id, path), value); err != nil {
		return "", err
	}
	return value, secrets.Delete(ctx, old)
}

// forgetSecret deletes a secret setting, under its earlier name too.
func forgetSecret(ctx context.Context, secrets Secrets, id, path string) error {
	if old, clear := oldSecretName(id, path); clear {
		if err := secrets.Delete(ctx, old); err != nil && fault.KindOf(err) != fault.NotFound {
			return err
		}
	}
	return secrets.Delete(ctx, secretName(id, path))
}

// misfits returns why values do not fit schema, one line each. Secrets count as
// texts that are there.
func misfits(schema, values json.RawMessage, secrets []string) []string {
	var object map[string]any
	if decodeNumbers(values, &object) != nil || object == nil {
		return []string{"they are no JSON object"}
	}
	for _, path := range secrets {
		fill(object, strings.Split(path, "."))
	}
	whole, err := json.Marshal(object)
	if err != nil {
		return []string{"they are no JSON object"}
	}
	_, err = tool.Check(loosened(schema), whole)
	if wrong, ok := errors.AsType[*tool.ArgumentError](err); ok {
		return wrong.Problems
	}
	return nil
}

// fill puts a text where a secret is, without replacing anything.
func fill(object map[string]any, path []string) {
	for _, step := range path[:len(path)-1] {
		next, ok := object[step].(map[string]any)
		if !ok {
			next = map[string]any{}
			object[step] = next
		}
		object = next
	}
	object[path[len(path)-1]] = "secret"
}

// loosened returns schema without what only the secret itself could fulfil (its
// length, its pattern): the secret is not looked at.
func loosened(schema json.RawMessage) json.RawMessage {
	var value map[string]any
	if decodeNumbers(schema, &value) != nil {
		return schema
	}
	eachSecret(value, "", 0, func(_ string, s map[string]any) {
		for _, key := range []string{"pattern", "minLength", "maxLength", "enum", "const", "format"} {
			delete(s, key)
		}
	})
	out, err := json.Marshal(value)
	if err != nil {
		return schema
	}
	return out
}

// secretPaths returns the paths of the secrets that a schema knows.
func secretPaths(schema json.RawMessage) []string {
	var value map[string]any
	if decodeNumbers(schema, &value) != nil {
		return nil
	}
	var paths []string
	eachSecret(value, "", 0, func(path string, _ map[string]any) { paths = append(paths, path) })
	return paths
}

// eachSecret calls do with the path and the schema of each secret of an object's
// schema.
func eachSecret(schema map[string]any, path string, depth int, do func(path string, schema map[string]any)) {
	properties, _ := schema["properties"].(map[string]any)
	for name, value := range properties {
		property, ok := value.(map[string]any)
		if !ok || depth > maxOptionDepth || strings.Contains(name, ".") {
			continue
		}
		at := strings.TrimPrefix(path+"."+name, ".")
		if property["format"] == "password" || property["writeOnly"] == true {
			do(at, property)
			continue
		}
		eachSecret(property, at, depth+1, do)
	}
}

// takeSecrets moves the secrets at paths out of object into given: nil for one
// that is to be forgotten. What is no text counts as none.
func takeSecrets(object map[string]any, paths []string, given map[string]*string) {
	for _, path := range paths {
		steps := strings.Split(path, ".")
		inner := object
		for _, step := range steps[:len(steps)-1] {
			inner, _ = inner[step].(map[string]any) // a nil map is empty
		}
		last := steps[len(steps)-1]
		value, there := inner[last]
		if !there {
			continue
		}
		delete(inner, last)
		given[path] = nil
		if text, ok := value.(string); ok && text != "" {
			given[path] = &text
		}
	}
}

// decodeNumbers is json.Unmarshal that keeps numbers as they are written.
func decodeNumbers(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(into)
}

// usable returns the schema of settings that a plugin gave, or nil when it is no
// schema of an object, or too large.
func usable(schema json.RawMessage) json.RawMessage {
	var object map[string]json.RawMessage
	if len(schema) > maxOptions || json.Unmarshal(schema, &object) != nil || object["properties"] == nil {
		return nil
	}
	return schema
}
