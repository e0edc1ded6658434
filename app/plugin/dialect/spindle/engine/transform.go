package engine

import (
	"errors"
	"path"
	"strings"

	"conclave/app/plugin/wire"

	"github.com/evanw/esbuild/pkg/api"
)

// loaders are the endings esbuild has to read before the engine can.
var loaders = map[string]api.Loader{
	".ts": api.LoaderTS, ".mts": api.LoaderTS, ".cts": api.LoaderTS, ".tsx": api.LoaderTSX, ".jsx": api.LoaderJSX,
}

// isTypeScript reports whether the engine cannot read name as it is.
func isTypeScript(name string) bool {
	_, ok := loaders[path.Ext(name)]
	return ok
}

// transform strips types from text and lowers what the engine does not know
// yet. The map leads back to the author's lines. The error is a *Problem
// with the author's place.
func transform(name, text string) (js string, back *sourceMap, err error) {
	if tooDeep(text) {
		return "", nil, &Problem{
			Kind: "script", Type: "SyntaxError", File: name, Line: 1,
			Message: "This file nests too deeply to build.",
			Hint:    "Brackets, arrows or conditions are nested thousands of levels deep.",
		}
	}
	loader, ok := loaders[path.Ext(name)]
	if !ok {
		loader = api.LoaderJS
	}
	result := api.Transform(text, api.TransformOptions{
		Loader:     loader,
		Format:     api.FormatESModule,
		Target:     api.ES2023,
		Supported:  map[string]bool{"top-level-await": true},
		Sourcefile: name,
		Sourcemap:  api.SourceMapExternal,
		// The loader keeps the author's text; a map that repeats it costs as much again.
		SourcesContent: api.SourcesContentExclude,
		TsconfigRaw:    `{"compilerOptions":{"experimentalDecorators":true}}`, // a plugin's own tsconfig may be broken: SP-06
		LogLevel:       api.LogLevelSilent,
	})
	if len(result.Errors) > 0 {
		return "", nil, buildProblem(name, text, result.Errors[0])
	}
	return string(result.Code), newSourceMap(result.Map), nil
}

// checkSyntax asks esbuild what is wrong with JavaScript the engine could not
// read: its sentence and place are better. It returns nil when esbuild can read
// it, which means that the text is newer than the engine.
func checkSyntax(name, text string) *Problem {
	_, _, err := transform(name, text)
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	return nil
}

func buildProblem(name, text string, msg api.Message) *Problem {
	p := &Problem{Kind: "script", Type: "SyntaxError", File: name, Message: "SyntaxError: " + msg.Text}
	if at := msg.Location; at != nil {
		p.Line, p.Column = at.Line, columnOf(at.LineText, at.Column)
		p.Frame = wire.Frame(text, p.Line, p.Column)
	}
	if len(msg.Notes) > 0 {
		p.Hint = msg.Notes[0].Text
	}
	return p
}

// columnOf turns an offset in bytes into a column from 1, in characters.
func columnOf(line string, bytes int) int {
	if bytes > len(line) {
		bytes = len(line)
	}
	return len([]rune(line[:bytes])) + 1
}

// Depths past which esbuild is not asked: it needs stack for every level, and a
// Go stack that overflows ends the process without a sentence. Real bundles stay
// below 200.
const (
	maxBrackets  = 2_000
	maxOperators = 4_000
)

// tooDeep reports whether text nests so deeply that building it could end the
// process. It does not know strings from code, which for real text makes no
// difference at these numbers.
func tooDeep(text string) bool {
	brackets, operators := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '(', '[', '{':
			brackets++
			operators = 0
		case ')', ']', '}':
			brackets = max(brackets-1, 0)
			operators = 0
		case ';', ',', '"', '\'', '`':
			operators = 0
		case '?', '!', '~', '<', '>', '+', '-':
			operators++
		}
		if brackets > maxBrackets || operators > maxOperators {
			return true
		}
	}
	return strings.Count(text, "=>") > maxOperators && longestArrows(text) > maxOperators
}

// longestArrows counts arrows that follow each other with nothing but names
// between them.
func longestArrows(text string) int {
	longest, run := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case ';', ',', '{', '}', '(', ')':
			run = 0
		case '=':
			if i+1 < len(text) && text[i+1] == '>' {
				run++
				longest = max(longest, run)
			}
		}
	}
	return longest
}
