package neko

import (
	"errors"
	"fmt"
	"strings"

	"conclave/app/plugin"
	"conclave/app/plugin/python"
	"conclave/app/plugin/safefs"
	"conclave/app/plugin/wire"

	"github.com/BurntSushi/toml"
)

// maxManifest bounds one TOML file, in bytes. The longest manifest seen has
// 12 KB; what is read is handed to the worker on its command line, where one
// argument holds 128 KB.
const maxManifest = 48 << 10

// reader reads a file of a folder: safefs.ReadSource of the plugin's own, or
// safefs.ReadWritable of its storage.
type reader func(folder, name string, limit int64) (data []byte, size int64, err error)

// toml reads the TOML file name as JSON can carry it: dates are text. The error
// is a *plugin.Problem, or wraps os.ErrNotExist.
func (read reader) toml(folder, name string) (map[string]any, error) {
	text, err := read.text(folder, name)
	if err != nil {
		return nil, err
	}
	return parse(name, text)
}

// parse reads the text of a TOML file. The error is a *plugin.Problem.
func parse(name, text string) (map[string]any, error) {
	table, err := python.TOML(text)
	if err != nil {
		return nil, tomlProblem(name, text, err)
	}
	return table, nil
}

// text reads a text of at most maxManifest bytes.
func (read reader) text(folder, name string) (string, error) {
	text, size, err := read(folder, name, maxManifest)
	switch {
	case errors.Is(err, safefs.ErrNotFile):
		return "", &plugin.Problem{Kind: "script", File: name, Message: name + " is no file."}
	case errors.Is(err, safefs.ErrLink):
		return "", &plugin.Problem{
			Kind: "refused", File: name, Message: name + " lies behind a link that the plugin may have made, so it is not read.",
		}
	case err != nil:
		return "", err
	case size > maxManifest:
		return "", &plugin.Problem{
			Kind: "script", File: name,
			Message: fmt.Sprintf("%s is larger than %d KB.", name, maxManifest>>10), Hint: "Keep data in separate files.",
		}
	}
	return strings.TrimPrefix(string(text), "\uFEFF"), nil
}

// tomlProblem returns where a TOML file is wrong.
func tomlProblem(name, text string, err error) *plugin.Problem {
	p := &plugin.Problem{
		Kind: "script", Type: "TOMLError", File: name, Line: 1, Message: "The file is not TOML: " + err.Error() + ".",
	}
	if parse, ok := errors.AsType[toml.ParseError](err); ok {
		p.Line, p.Column = parse.Position.Line, parse.Position.Col
		p.Message = "The file is not TOML: " + strings.TrimSuffix(parse.Message, ".") + "."
		p.Frame = wire.Frame(text, p.Line, 0)
		p.Hint = strings.TrimSpace(parse.Usage)
		if first, _, more := strings.Cut(p.Hint, "\n"); more {
			p.Hint = first
		}
	}
	return p
}

// lineOf returns the first line of text that sets key, or 1.
func lineOf(text, key string) int {
	for i, line := range strings.Split(text, "\n") {
		name, _, ok := strings.Cut(line, "=")
		if ok && strings.TrimSpace(name) == key {
			return i + 1
		}
	}
	return 1
}
