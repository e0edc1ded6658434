// Package prompt holds texts that a person saved to begin messages with, and their places: {{name}} stands for
// something that is written each time. It knows no store and no window. Read Prompt and Prompt.Places first.
package prompt

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"conclave/app/base/fault"
	"conclave/app/base/pattern"
)

// Prompt is a saved text.
type Prompt struct {
	ID      string    `json:"id"`
	Title   string    `json:"title"`
	Text    string    `json:"text"` // with places
	Updated time.Time `json:"updated"`
}

// Kind is the kind of a place.
type Kind string

// The kinds of places. A place without a kind is a Line.
const (
	Line   Kind = "text"
	Lines  Kind = "lines"
	Number Kind = "number"
	Date   Kind = "date" // 2026-11-28
	Choice Kind = "choice"
)

// Place is a place of a prompt that is filled in.
type Place struct {
	Name    string   `json:"name"`
	Kind    Kind     `json:"kind"`
	Choices []string `json:"choices"` // of a Choice, at least one
}

// Bounds of a prompt.
const (
	maxTitle = 100
	maxText  = 64 << 10
	// Most bounds the saved prompts, and those of a file.
	Most = 1000
)

// written matches {{name}}, {{name:kind}} and {{name:choice(a,b)}}. What looks like a place with an unknown kind is
// text.
var written = pattern.Lazy(
	`\{\{\s*([^\s:{}()][^:{}()]{0,60}?)\s*(?::\s*(text|lines|number|date|choice\(([^(){}]+)\))\s*)?\}\}`)

// Places returns the places of the text in their order, each name once: of several with a name, the first that has a
// kind decides what it is.
func (p Prompt) Places() []Place {
	places := []Place{}
	typed := map[string]bool{}
	for _, m := range written().FindAllStringSubmatch(p.Text, -1) {
		i := slices.IndexFunc(places, func(have Place) bool { return have.Name == m[1] })
		if i < 0 {
			i = len(places)
			places = append(places, Place{Name: m[1], Kind: Line, Choices: []string{}})
		}
		if m[2] == "" || typed[m[1]] {
			continue
		}
		typed[m[1]] = true
		places[i].Kind = Kind(m[2])
		if strings.HasPrefix(m[2], "choice(") {
			places[i].Kind = Choice
			for one := range strings.SplitSeq(m[3], ",") {
				if one = strings.TrimSpace(one); one != "" {
					places[i].Choices = append(places[i].Choices, one)
				}
			}
		}
	}
	return places
}

// Fill returns the text with values in its places, by name; a place without a value becomes nothing. The kind is
// invalid for a value that its place does not take.
func (p Prompt) Fill(values map[string]string) (string, error) {
	for _, place := range p.Places() {
		if value := values[place.Name]; value != "" {
			if err := place.check(value); err != nil {
				return "", err
			}
		}
	}
	return written().ReplaceAllStringFunc(p.Text, func(whole string) string {
		return values[written().FindStringSubmatch(whole)[1]]
	}), nil
}

// check returns a fault for a value that the place does not take.
func (p Place) check(value string) error {
	wrong := func(hint string) error {
		return fault.New(fault.Invalid, "prompt.fill", fmt.Sprintf("“%s” cannot be %q.", p.Name, value), hint)
	}
	switch p.Kind {
	case Number:
		if _, err := strconv.ParseFloat(value, 64); err != nil {
			return wrong("Write a number.")
		}
	case Date:
		if _, err := time.Parse(time.DateOnly, value); err != nil {
			return wrong("Write a date like 2026-11-28.")
		}
	case Choice:
		if !slices.Contains(p.Choices, value) {
			return wrong("Choose one of: " + strings.Join(p.Choices, ", ") + ".")
		}
	case Line, Lines:
	}
	return nil
}

// Check returns a fault of kind invalid for a prompt that cannot be saved, or nil.
func (p Prompt) Check() error {
	wrong := func(message, hint string) error { return fault.New(fault.Invalid, "prompt.save", message, hint) }
	switch {
	case strings.TrimSpace(p.Title) == "":
		return wrong("A prompt needs a name.", "Write a few words by which you find it.")
	case len([]rune(p.Title)) > maxTitle:
		return wrong(fmt.Sprintf("A name may have at most %d characters.", maxTitle), "Shorten it.")
	case strings.TrimSpace(p.Text) == "":
		return wrong("A prompt needs a text.", "Write what the message begins with.")
	case len(p.Text) > maxText:
		return wrong("A prompt may have at most 64 KiB.", "Shorten it, or attach the text as a file.")
	}
	return nil
}

// file is prompts as a file.
type file struct {
	Prompts []saved `json:"conclave_prompts"`
}

type saved struct {
	Title string `json:"title"`
	Text  string `json:"text"`
}

// Write returns prompts as a file.
func Write(prompts []Prompt) ([]byte, error) {
	out := file{Prompts: []saved{}}
	for _, p := range prompts {
		out.Prompts = append(out.Prompts, saved{p.Title, p.Text})
	}
	return json.MarshalIndent(out, "", "  ")
}

// Read returns the prompts of a file, without ids. The kind is invalid for what Write did not write.
func Read(raw []byte) ([]Prompt, error) {
	var in file
	if err := json.Unmarshal(raw, &in); err != nil || in.Prompts == nil {
		return nil, fault.New(fault.Invalid, "prompt.read", "That is no file of prompts.",
			"Choose one that Conclave exported.")
	}
	if len(in.Prompts) > Most {
		return nil, fault.New(fault.Invalid, "prompt.read", fmt.Sprintf("The file has more than %d prompts.", Most),
			"Split it.")
	}
	out := make([]Prompt, 0, len(in.Prompts))
	for _, p := range in.Prompts {
		made := Prompt{Title: p.Title, Text: p.Text}
		if err := made.Check(); err != nil {
			return nil, err
		}
		out = append(out, made)
	}
	return out, nil
}
