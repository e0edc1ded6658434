package config

import (
	"bytes"
	"encoding/json"
)

// property is a setting in a JSON Schema.
type property struct {
	Type        string    `json:"type"`
	Title       string    `json:"title,omitempty"`
	Description string    `json:"description,omitempty"`
	Format      string    `json:"format,omitempty"`
	Enum        []any     `json:"enum,omitempty"`
	Minimum     *float64  `json:"minimum,omitempty"`
	Maximum     *float64  `json:"maximum,omitempty"`
	Default     any       `json:"default,omitempty"`
	Items       *property `json:"items,omitempty"`
}

// Form returns the JSON Schema of the server's inputs, as the settings of its plugin, in their order; nil without
// inputs. Secrets have the format "password", files and folders those by which the host lets the plugin read them.
// Nothing in it is required, so that the settings can be given one by one: Fill names what lacks.
func Form(s Server) json.RawMessage {
	if len(s.Inputs) == 0 {
		return nil
	}
	var out bytes.Buffer
	out.WriteString(`{"type":"object","properties":{`)
	for i, input := range s.Inputs {
		if i > 0 {
			out.WriteByte(',')
		}
		name, _ := json.Marshal(input.ID) // a text
		schema, err := json.Marshal(input.property())
		if err != nil { // a default that is no JSON, which Parse never makes
			schema = []byte(`{"type":"string"}`)
		}
		out.Write(name)
		out.WriteByte(':')
		out.Write(schema)
	}
	out.WriteString(`}}`)
	return out.Bytes()
}

func (in Input) property() property {
	p := property{Type: "string", Minimum: in.Min, Maximum: in.Max}
	switch in.Kind {
	case Number:
		p.Type = "number"
	case Boolean:
		p.Type = "boolean"
	case File:
		p.Format = "file-path"
	case Directory:
		p.Format = "directory-path"
	}
	for _, choice := range in.Choices {
		p.Enum = append(p.Enum, choice)
	}
	if in.Secret {
		p = property{Type: "string", Format: "password"} // one text, which is not looked at
	} else if in.Multiple {
		item := p
		p = property{Type: "array", Items: &item}
	}
	p.Title, p.Description = in.Title, in.Description
	if p.Title == "" {
		p.Title = in.ID
	}
	if !in.Secret && fitsKind(in.Default, p.Type) {
		p.Default = in.Default
	}
	return p
}

// fitsKind reports whether a default is of a type of JSON Schema: a form that its own default breaks cannot be saved.
func fitsKind(value any, kind string) bool {
	switch value.(type) {
	case string:
		return kind == "string"
	case float64:
		return kind == "number"
	case bool:
		return kind == "boolean"
	case []any:
		return kind == "array"
	}
	return false
}
