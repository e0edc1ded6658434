package render

import "strings"

// Theme is a set of colours.
type Theme string

// The themes that HighlightCSS knows.
const (
	Light Theme = "light"
	Dark  Theme = "dark"
)

// codeColours gives each class of package syntax its colour in the light and
// the dark theme. They are the colours of the window (frontend/src/styles/tokens.css),
// so each has a contrast of 4.5 or more on the surface that code stands on,
// #ECE9E2 and #100F0E; a test measures it.
var codeColours = []struct{ class, light, dark, more string }{
	{"k", "#5B3FA0", "#B9A3F2", ""},
	{"kc", "#8A4B00", "#F0B95A", ""},
	{"kt", "#12606B", "#7CCBD6", ""},
	{"nb", "#8C2560", "#EE9CC9", ""},
	{"nf", "#1F5FA8", "#8DBBF2", ""},
	{"nv", "#8A3B12", "#F2A67A", ""},
	{"na", "#1F5FA8", "#8DBBF2", ""},
	{"nt", "#2F5D50", "#7FC4AE", ""},
	{"nd", "#8C2560", "#EE9CC9", ""},
	{"s", "#2B6B36", "#86CC8F", ""},
	{"m", "#8A4B00", "#F0B95A", ""},
	{"c", "#6B665C", "#9B968A", "font-style:italic"},
	{"gh", "#1E1D1A", "#EDEBE4", "font-weight:650"},
	{"gs", "#1E1D1A", "#EDEBE4", "font-weight:650"},
	{"gi", "#2B6B36", "#86CC8F", ""},
	{"gd", "#A8231C", "#F5988F", ""},
}

// HighlightCSS returns the rules for the classes inside code figures, one a line, in
// the given theme; of an unknown one the light rules. Their selectors begin with
// "figure.code", and they set only the colour and the face of letters.
func HighlightCSS(theme Theme) string {
	var b strings.Builder
	for _, c := range codeColours {
		b.WriteString("figure.code ." + c.class + "{color:" + pick(theme == Dark, c.dark, c.light))
		if c.more != "" {
			b.WriteString(";" + c.more)
		}
		b.WriteString("}\n")
	}
	return b.String()
}
