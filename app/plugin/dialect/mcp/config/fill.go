package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Dirname is the value of Fill that holds the folder to which a bundle was unpacked.
const Dirname = "__dirname"

// Unresolved is the error of a server whose placeholders have no value.
type Unresolved struct {
	Inputs []Input // those without a value, in their order
}

// Error names the inputs.
func (u *Unresolved) Error() string {
	var names []string
	for _, input := range u.Inputs {
		name := input.ID
		if input.Title != "" && input.Title != name {
			name += " (" + input.Title + ")"
		}
		names = append(names, name)
	}
	return "it needs settings that are not set: " + strings.Join(names, ", ")
}

// filling resolves the texts of one server.
type filling struct {
	inputs  map[string]Input
	values  map[string][]string // by id; none for an optional input without a value
	lacking map[string]bool
	home    string
	bundle  string
}

// Fill returns the server with values in place of its placeholders, and no Inputs. values are by the ids of inputs:
// texts, numbers, booleans or lists of them; lookupEnv reads the person's environment, and may be nil. An argument that
// is exactly the placeholder of a list becomes several, and in a longer text a list is joined by the system's
// separator of paths. Where an optional input has no value, its argument, variable or header is left out. The error is
// an *Unresolved.
func Fill(s Server, values map[string]any, lookupEnv func(name string) (string, bool)) (Server, error) {
	if lookupEnv == nil {
		lookupEnv = func(string) (string, bool) { return "", false }
	}
	f := filling{inputs: map[string]Input{}, values: map[string][]string{}, lacking: map[string]bool{}}
	for _, name := range []string{"HOME", "USERPROFILE"} {
		if home, ok := lookupEnv(name); ok && f.home == "" {
			f.home = home
		}
	}
	f.bundle, _ = values[Dirname].(string)
	if f.home == "" {
		f.home, _ = os.UserHomeDir()
	}
	for _, input := range s.Inputs {
		f.inputs[input.ID] = input
		f.values[input.ID] = f.chosen(input, values[input.ID], lookupEnv)
	}
	s = s.clone()
	f.into(&s)
	if len(f.lacking) > 0 {
		lacks := &Unresolved{}
		for _, input := range s.Inputs {
			if f.lacking[input.ID] {
				lacks.Inputs = append(lacks.Inputs, input)
				delete(f.lacking, input.ID)
			}
		}
		for _, id := range sorted(f.lacking) { // a placeholder that no input describes
			lacks.Inputs = append(lacks.Inputs, Input{ID: id})
		}
		return s, lacks
	}
	s.Inputs = nil
	return s, nil
}

// into fills the texts of a server.
func (f *filling) into(s *Server) {
	args := make([]string, 0, len(s.Args))
	for _, arg := range s.Args {
		if id, ok := only(arg); ok {
			args = append(args, f.list(id)...)
		} else if filled, ok := f.text(arg); ok {
			args = append(args, filled)
		}
	}
	s.Args = args
	for _, all := range []map[string]string{s.Env, s.Headers} {
		for name, value := range all {
			if filled, ok := f.text(value); ok {
				all[name] = filled
			} else {
				delete(all, name)
			}
		}
	}
	texts := []*string{&s.Command, &s.Dir, &s.EnvFile, &s.URL}
	if s.OAuth != nil {
		texts = append(texts, &s.OAuth.ClientID, &s.OAuth.ClientSecret)
	}
	for _, text := range texts {
		*text, _ = f.text(*text)
	}
	for _, path := range []*string{&s.Command, &s.Dir, &s.EnvFile} {
		if rest, ok := strings.CutPrefix(*path, "~/"); ok {
			*path = filepath.Join(f.home, rest)
		}
	}
}

// chosen returns the value of an input: what is set, else the variable of the environment, else the default.
func (f *filling) chosen(input Input, set any, lookupEnv func(string) (string, bool)) []string {
	if all := asTexts(set); len(all) > 0 {
		return all
	}
	if input.Env != "" {
		if value, ok := lookupEnv(input.Env); ok && value != "" {
			return []string{value}
		}
	}
	all := asTexts(input.Default)
	for i, one := range all {
		one = strings.ReplaceAll(one, userHome, f.home)
		one = strings.ReplaceAll(one, dirname, f.bundle)
		all[i] = strings.ReplaceAll(one, separator, string(filepath.Separator))
	}
	return all
}

// asTexts returns a value as texts; none for an empty one.
func asTexts(value any) []string {
	switch v := value.(type) {
	case nil:
		return nil
	case string:
		if v == "" {
			return nil
		}
		return []string{v}
	case float64:
		return []string{strconv.FormatFloat(v, 'f', -1, 64)}
	case []string:
		return slices.DeleteFunc(slices.Clone(v), func(s string) bool { return s == "" })
	case []any:
		var all []string
		for _, one := range v {
			all = append(all, asTexts(one)...)
		}
		return all
	}
	return []string{fmt.Sprint(value)} // a boolean, a json.Number
}

// list returns the values of an input, and notes where there has to be one.
func (f *filling) list(id string) []string {
	values := f.values[id]
	input, described := f.inputs[id]
	if len(values) == 0 && (!described || !input.Optional) {
		f.lacking[id] = true
	}
	return values
}

// text fills one text; false where it holds the placeholder of an optional input without a value.
func (f *filling) text(s string) (filled string, ok bool) {
	var out strings.Builder
	ok = true
	pieces(s, func(literal string) { out.WriteString(literal) }, func(id string) {
		switch id {
		case userHome:
			out.WriteString(f.home)
		case separator:
			out.WriteByte(filepath.Separator)
		case dirname:
			if f.bundle == "" {
				f.lacking[Dirname] = true
			}
			out.WriteString(f.bundle)
		default:
			values := f.list(id)
			ok = ok && len(values) > 0
			out.WriteString(strings.Join(values, string(filepath.ListSeparator)))
		}
	})
	if !ok {
		return "", false
	}
	return out.String(), true
}
