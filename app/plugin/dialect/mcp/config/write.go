package config

import (
	"encoding/json"
	"fmt"
	"strings"
)

// written is an entry as Write and Export write it: VS Code's form, with members of Conclave's after the first line.
type written struct {
	Type    string            `json:"type,omitempty"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	EnvFile string            `json:"envFile,omitempty"`
	Dir     string            `json:"cwd,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`

	OAuth   *writtenOAuth `json:"oauth,omitempty"`
	Start   int64         `json:"startTimeoutMs,omitempty"`
	Call    int64         `json:"callTimeoutMs,omitempty"`
	Off     bool          `json:"disabled,omitempty"`
	Include []string      `json:"includeTools,omitempty"`
	Exclude []string      `json:"excludeTools,omitempty"`
}

type writtenOAuth struct {
	ClientID     string   `json:"clientId,omitempty"`
	ClientSecret string   `json:"clientSecret,omitempty"`
	Scopes       []string `json:"scopes,omitempty"`
	Enabled      *bool    `json:"enabled,omitempty"`
}

// writtenInput is an input in VS Code's form, with members of Conclave's after the first line.
type writtenInput struct {
	Type        string   `json:"type"`
	ID          string   `json:"id"`
	Description string   `json:"description,omitempty"`
	Password    bool     `json:"password,omitempty"`
	Options     []string `json:"options,omitempty"`
	Default     any      `json:"default,omitempty"`

	Title    string    `json:"title,omitempty"`
	Kind     InputKind `json:"kind,omitempty"`
	Optional bool      `json:"optional,omitempty"`
	Multiple bool      `json:"multiple,omitempty"`
	Min      *float64  `json:"min,omitempty"`
	Max      *float64  `json:"max,omitempty"`
	Env      string    `json:"env,omitempty"`
}

// Write returns the text of a mcp.json with this one server: what is kept in its folder. Parse reads the same Server
// of it, but for Program, Scope, Line and Warnings.
func Write(s Server) ([]byte, error) {
	whole := struct {
		Servers map[string]written `json:"servers"`
		Inputs  []writtenInput     `json:"inputs,omitempty"`
	}{map[string]written{s.Name: s.written()}, s.writtenInputs()}
	return indented(whole)
}

func indented(value any) ([]byte, error) {
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(value)
	return []byte(out.String()), err
}

func (s Server) written() written {
	w := written{
		Type: string(s.Transport), Command: s.Command, Args: s.Args, Env: s.Env, EnvFile: s.EnvFile, Dir: s.Dir,
		URL: s.URL, Headers: s.Headers, Start: s.StartTimeout.Milliseconds(), Call: s.CallTimeout.Milliseconds(),
		Off: s.Off, Include: s.Include, Exclude: s.Exclude,
	}
	if s.OAuth != nil {
		w.OAuth = &writtenOAuth{ClientID: s.OAuth.ClientID, ClientSecret: s.OAuth.ClientSecret, Scopes: s.OAuth.Scopes}
		if s.OAuth.Off {
			w.OAuth.Enabled = ptr(false)
		}
	}
	return w
}

func (s Server) writtenInputs() []writtenInput {
	var all []writtenInput
	for _, in := range s.Inputs {
		w := writtenInput{
			Type: "promptString", ID: in.ID, Description: in.Description, Password: in.Secret, Options: in.Choices,
			Default: in.Default, Title: in.Title, Kind: in.Kind, Optional: in.Optional, Multiple: in.Multiple,
			Min: in.Min, Max: in.Max, Env: in.Env,
		}
		if len(in.Choices) > 0 {
			w.Type = "pickString"
		}
		all = append(all, w)
	}
	return all
}

// Export returns the configuration of a server in the form of another program, with placeholders for secrets (MC-97):
// that of ClaudeDesktop and ClaudeCode, of VSCode, or of Cursor.
func Export(s Server, program Program) ([]byte, error) {
	s, _ = TakeSecrets(s)
	s.StartTimeout, s.CallTimeout, s.Off, s.Include, s.Exclude, s.OAuth = 0, 0, false, nil, nil, nil
	if program == VSCode {
		whole := struct {
			Servers map[string]written `json:"servers"`
			Inputs  []writtenInput     `json:"inputs,omitempty"`
		}{map[string]written{s.Name: s.typed()}, s.writtenInputs()}
		for i, in := range whole.Inputs {
			whole.Inputs[i] = writtenInput{
				Type: in.Type, ID: in.ID, Description: orID(in.Description, in.ID), Password: in.Password,
				Options: in.Options, Default: in.Default,
			}
		}
		return indented(whole)
	}
	before := "${"
	switch program {
	case ClaudeDesktop, ClaudeCode:
	case Cursor:
		before = "${env:"
	default:
		return nil, fmt.Errorf("there is no form for %s", program)
	}
	s = s.rewritten(func(id string) string { return before + id + "}" })
	w := s.written()
	if s.Remote() {
		w = s.typed()
	} else {
		w.Type = ""
	}
	return indented(map[string]any{"mcpServers": map[string]written{s.Name: w}})
}

func orID(description, id string) string {
	if description == "" {
		return id
	}
	return description
}

// typed is written with a type, which the programs need for an address.
func (s Server) typed() written {
	w := s.written()
	if w.Type == "" {
		w.Type = string(HTTP)
	}
	return w
}

// rewritten returns the server with its inputs' placeholders as another program writes them.
func (s Server) rewritten(placeholder func(id string) string) Server {
	s = s.clone()
	change := func(text string) string {
		var out strings.Builder
		pieces(text, func(literal string) { out.WriteString(literal) }, func(id string) {
			if strings.HasPrefix(id, "${") {
				out.WriteString(id)
				return
			}
			out.WriteString(placeholder(id))
		})
		return out.String()
	}
	for i, arg := range s.Args {
		s.Args[i] = change(arg)
	}
	for _, all := range []map[string]string{s.Env, s.Headers} {
		for name, value := range all {
			all[name] = change(value)
		}
	}
	s.Command, s.Dir, s.EnvFile, s.URL = change(s.Command), change(s.Dir), change(s.EnvFile), change(s.URL)
	return s
}
