package config

import (
	"encoding/json"
	"errors"
	"strings"
)

// Unresolved is the error of a server whose placeholders have no value.
type Unresolved struct {
	Inputs []Input // those without a value, in their order
}

// Error names the inputs.
func (u *Unresolved) Error() string {
	var names []string
	for _, input := range u.Inputs {
		names = append(names, input.ID)
	}
	return "it needs settings that are not set: " + strings.Join(names, ", ")
}

// Fill returns the server with values in place of its placeholders, and no Inputs. values are by the ids of inputs:
// texts, numbers, booleans or lists of them; lookupEnv reads the person's environment, and may be nil. An argument that
// is exactly the placeholder of a list becomes several, and in a longer text a list is joined by the system's
// separator of paths. Where an optional input has no value, its argument, variable or header is left out. The error is
// an *Unresolved.
func Fill(s Server, values map[string]any, lookupEnv func(name string) (string, bool)) (Server, error) {
	return s, errors.New("placeholders cannot be filled yet")
}

// Form returns the JSON Schema of the server's inputs, as the settings of its plugin; nil without inputs. Secrets have
// the format "password".
func Form(s Server) json.RawMessage { return nil }

// TakeSecrets returns the server with a placeholder and a secret Input for each literal value that looks like a secret
// (MC-92), and those values by the ids of the inputs.
func TakeSecrets(s Server) (kept Server, secrets map[string]string) { return s, nil }

// Write returns the text of a mcp.json with this one server: what is kept in its folder. Parse reads the same Server
// of it, but for Program, Line and Warnings.
func Write(s Server) ([]byte, error) { return nil, errors.New("configurations cannot be written yet") }
