package render

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// Drawer draws whole texts for pages outside the window, in light colours. It is stateless.
type Drawer struct{}

// Style returns the rules for the code in what Draw makes.
func (Drawer) Style() string { return HighlightCSS(Light) }

// Draw returns the blocks of a text one after the other. The error is always nil.
func (Drawer) Draw(markdown string) (string, error) {
	var b strings.Builder
	for _, block := range Render(markdown) {
		b.WriteString(block.HTML + "\n")
	}
	return b.String(), nil
}

// Answer draws for another program, which does not link this package: it writes the style, and then what each
// text that it reads is drawn as, until the texts end. Each of them is a JSON string on a line.
func (d Drawer) Answer(texts io.Reader, drawn io.Writer) error {
	in, out := json.NewDecoder(texts), json.NewEncoder(drawn)
	if err := out.Encode(d.Style()); err != nil {
		return err
	}
	for {
		var text string
		switch err := in.Decode(&text); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		html, _ := d.Draw(text)
		if err := out.Encode(html); err != nil {
			return err
		}
	}
}
