package config

import (
	"slices"
	"strings"
)

// The placeholders that a Server may have in its texts besides those of its inputs.
const (
	userHome  = "${userHome}"
	separator = "${/}"
	dirname   = "${__dirname}" // the folder of a bundle
)

// maxPlaceholder bounds the text between the braces of a placeholder.
const maxPlaceholder = 256

// maxInputs bounds the inputs of one server: a form with more fields nobody fills in.
const maxInputs = 100

// workspace is the id of the input that stands for the folder of a project.
const workspace = "workspaceFolder"

// inputs collects the inputs of one server while its texts are read.
type inputs struct {
	program Program
	known   map[string]Input // that the configuration describes, by their own ids
	project string           // the folder of the project; empty without one
	all     []Input
	tooMany bool
}

// canonical returns a text with the placeholders of its program written as a Server has them, and adds their inputs.
// secret says that the text is one as a whole.
func (in *inputs) canonical(s string, secret bool) string {
	var out strings.Builder
	for s != "" {
		at := strings.IndexAny(s, "${")
		if at < 0 {
			break
		}
		out.WriteString(s[:at])
		s = s[at:]
		inner, rest, doubled, found := in.next(s)
		if !found {
			out.WriteByte(s[0])
			s = s[1:]
			continue
		}
		out.WriteString(in.stands(inner, doubled, secret))
		s = rest
	}
	out.WriteString(s)
	return out.String()
}

// next reads the placeholder that s begins with: ${…}, ${{ … }}, {{…}} of LibreChat, $NAME of Gemini CLI.
func (in *inputs) next(s string) (inner, rest string, doubled, found bool) {
	switch {
	case strings.HasPrefix(s, "${{"):
		inner, rest, found = within(s[3:], "}}")
		return strings.TrimSpace(inner), rest, true, found && inner != ""
	case strings.HasPrefix(s, "${"):
		inner, rest, found = within(s[2:], "}")
		return inner, rest, false, found && inner != "" && !strings.ContainsAny(inner, "\n{\"")
	case strings.HasPrefix(s, "{{") && (in.program == LibreChat || in.program == Continue):
		inner, rest, found = within(s[2:], "}}")
		return strings.TrimSpace(inner), rest, true, found && inner != ""
	case s[0] == '$' && in.program == Gemini:
		end := 1
		for end < len(s) && isNameByte(s[end], end > 1) {
			end++
		}
		return s[1:end], s[end:], false, end > 1
	}
	return "", "", false, false
}

// within is strings.Cut at an end that is near.
func within(s, end string) (inner, rest string, found bool) {
	at := strings.Index(s[:min(len(s), maxPlaceholder)], end)
	if at < 0 {
		return "", s, false
	}
	return s[:at], s[at+len(end):], true
}

func isNameByte(b byte, digits bool) bool {
	return b == '_' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || digits && b >= '0' && b <= '9'
}

// personFolders are the folders of a person that bundles name.
var personFolders = map[string]string{"DESKTOP": "Desktop", "DOCUMENTS": "Documents", "DOWNLOADS": "Downloads"}

// stands returns what a placeholder is in a Server, and adds its input. doubled is for one in two braces.
func (in *inputs) stands(inner string, doubled, secret bool) string {
	kind, name, _ := strings.Cut(inner, ":")
	switch {
	case inner == "userHome" || inner == "HOME" || inner == "env:HOME" || inner == "env:USERPROFILE":
		return userHome
	case inner == "/" || inner == "pathSeparator":
		return separator
	case inner == "__dirname":
		return dirname
	case in.program == Bundle && personFolders[inner] != "":
		return userHome + separator + personFolders[inner]
	case kind == workspace || inner == "workspaceRoot" || inner == "CLAUDE_PROJECT_DIR":
		return in.add(Input{
			ID: workspace, Title: "Project folder", Kind: Directory, Default: anyText(in.project),
			Description: "The folder of the project that this server works on.",
		})
	case kind == "input" && name != "":
		if described, ok := in.known[name]; ok {
			described.Secret = described.Secret || secret
			return in.add(described)
		}
		return in.add(Input{ID: name, Secret: secret || secretName(name)})
	case kind == "env" && name != "":
		return in.variable(name, secret)
	case doubled && strings.HasPrefix(inner, "secrets."):
		return in.add(Input{ID: inner[len("secrets."):], Secret: true, Env: variableName(inner[len("secrets."):])})
	case strings.HasPrefix(inner, "inputs."):
		name = inner[len("inputs."):]
		return in.add(Input{ID: name, Secret: secret || secretName(name)})
	case strings.HasPrefix(inner, "user_config."):
		name = inner[len("user_config."):]
		if described, ok := in.known[name]; ok {
			return in.add(described)
		}
		return in.add(Input{ID: name, Secret: secret || secretName(name)})
	}
	return in.variable(inner, secret)
}

// variable adds the input of a variable of the person's environment: NAME, or NAME:-default.
func (in *inputs) variable(name string, secret bool) string {
	name, otherwise, _ := strings.Cut(name, ":-")
	input := Input{
		ID: name, Secret: secret || secretName(name), Default: anyText(otherwise), Env: variableName(name),
	}
	if input.Env != "" {
		input.Description = "The variable " + name + " of your environment, unless you set it here."
	}
	return in.add(input)
}

// variableName returns a name that is one of an environment's variable, else "".
func variableName(name string) string {
	for i := range len(name) {
		if !isNameByte(name[i], i > 0) {
			return ""
		}
	}
	return name
}

// anyText is a text as a default; none for an empty one.
func anyText(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// add adds an input, once for an id, and returns its placeholder.
func (in *inputs) add(one Input) string {
	one.ID = legal(one.ID)
	at := slices.IndexFunc(in.all, func(other Input) bool { return other.ID == one.ID })
	if at < 0 && len(in.all) >= maxInputs {
		in.tooMany = true
		return ""
	}
	if at < 0 {
		in.all = append(in.all, one)
		return placeholder(one.ID)
	}
	in.all[at].Secret = in.all[at].Secret || one.Secret
	return placeholder(one.ID)
}

func placeholder(id string) string { return "${input:" + id + "}" }

// legal makes a text into the id of an input.
func legal(id string) string {
	id = strings.Map(func(r rune) rune {
		if r < 0x80 && isNameByte(byte(r), true) || r == '-' {
			return r
		}
		return '_'
	}, id)
	if id == "" {
		return "value"
	}
	return id[:min(len(id), 64)]
}

// pieces yields a canonical text piece by piece: literal ones, and the ids of placeholders. The ids of ${userHome} and
// ${/} are themselves.
func pieces(s string, literal func(string), placeholder func(id string)) {
	for s != "" {
		at := strings.Index(s, "${")
		if at < 0 {
			break
		}
		inner, rest, found := within(s[at+2:], "}")
		id, isInput := strings.CutPrefix(inner, "input:")
		whole := "${" + inner + "}"
		switch {
		case found && isInput && legal(id) == id:
			literal(s[:at])
			placeholder(id)
			s = rest
		case found && (whole == userHome || whole == separator || whole == dirname):
			literal(s[:at])
			placeholder(whole)
			s = rest
		default:
			literal(s[:at+2])
			s = s[at+2:]
		}
	}
	literal(s)
}

// only returns the id of the input whose placeholder is the whole text.
func only(s string) (id string, ok bool) {
	id, ok = strings.CutPrefix(s, "${input:")
	if !ok || !strings.HasSuffix(id, "}") {
		return "", false
	}
	id = id[:len(id)-1]
	return id, legal(id) == id
}
