package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"conclave/app/base/jsonobject"
	"conclave/app/tool/elicit"
)

// maxFields bounds the fields of a form.
const maxFields = 100

// property is the schema of a field, 2026-07-28 client/elicitation.
type property struct {
	Type        string         `json:"type"`
	Title       string         `json:"title"`
	Description string         `json:"description"`
	Format      string         `json:"format"`
	Pattern     string         `json:"pattern"`
	MinLength   *int           `json:"minLength"`
	MaxLength   *int           `json:"maxLength"`
	Minimum     *float64       `json:"minimum"`
	Maximum     *float64       `json:"maximum"`
	MinItems    *int           `json:"minItems"`
	MaxItems    *int           `json:"maxItems"`
	Default     any            `json:"default"`
	Enum        []string       `json:"enum"`
	EnumNames   []string       `json:"enumNames"`
	OneOf       []titledChoice `json:"oneOf"`
	AnyOf       []titledChoice `json:"anyOf"`
	Items       *property      `json:"items"`
}

type titledChoice struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

// readForm reads the fields of a form in their order. The error says why nobody can fill it.
func readForm(schema json.RawMessage) ([]Field, error) {
	var form struct {
		Type       string          `json:"type"`
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if err := json.Unmarshal(schema, &form); err != nil || form.Type != "object" {
		return nil, errors.New("its schema is not that of an object")
	}
	fields := []Field{}
	for name, raw := range jsonobject.Fields(form.Properties) {
		var p property
		if err := json.Unmarshal(raw, &p); err != nil {
			return nil, fmt.Errorf("the field %q has an unknown schema", name)
		}
		f, ok := p.field()
		if !ok {
			return nil, fmt.Errorf("the field %q has an unknown schema", name)
		}
		f.Name, f.Required, f.Secret = name, slices.Contains(form.Required, name), looksSecret(name, p.Title)
		if fields = append(fields, f); len(fields) > maxFields {
			return nil, fmt.Errorf("it has more than %d fields", maxFields)
		}
	}
	return fields, nil
}

func (p *property) field() (Field, bool) {
	f := Field{
		Title: p.Title, Description: p.Description, Type: p.Type, Default: p.Default, Format: p.Format,
		Pattern: p.Pattern, MinLength: p.MinLength, MaxLength: p.MaxLength, Minimum: p.Minimum, Maximum: p.Maximum,
	}
	switch p.Type {
	case "string":
		if f.Choices = p.choices(); f.Choices != nil {
			f.Type = elicit.One
		}
	case "number", "integer", "boolean":
	case "array":
		if p.Items == nil {
			return f, false
		}
		f.Type, f.Choices, f.MinChoices, f.MaxChoices = elicit.Several, p.Items.choices(), p.MinItems, p.MaxItems
		return f, f.Choices != nil
	default:
		return f, false
	}
	return f, true
}

// choices returns the values of an enumeration in each of its spellings; nil for none.
func (p *property) choices() []Choice {
	var all []Choice
	for i, value := range p.Enum {
		c := Choice{Value: value, Title: value}
		if i < len(p.EnumNames) {
			c.Title = p.EnumNames[i]
		}
		all = append(all, c)
	}
	for _, titled := range slices.Concat(p.OneOf, p.AnyOf) {
		c := Choice{Value: titled.Const, Title: titled.Title}
		if c.Title == "" {
			c.Title = c.Value
		}
		all = append(all, c)
	}
	return all
}

// looksSecret reports whether a field is named like a secret.
func looksSecret(names ...string) bool {
	for _, name := range names {
		name = strings.ToLower(name)
		for _, word := range []string{
			"password", "passwd", "passphrase", "secret", "token", "apikey", "api_key", "api-key", "api key",
			"private key", "privatekey", "private_key", "credential", "card number", "cardnumber", "card_number",
			"cvv", "cvc", "credit card", "creditcard", "credit_card",
		} {
			if strings.Contains(name, word) {
				return true
			}
		}
	}
	return false
}

// filled returns the values of fields; nil values are the defaults.
func filled(fields []Field, values map[string]any) map[string]any {
	content := map[string]any{}
	for _, f := range fields {
		value := values[f.Name]
		if values == nil {
			value = f.Default
		}
		if value != nil {
			content[f.Name] = value
		}
	}
	return content
}
