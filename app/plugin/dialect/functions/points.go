package functions

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"conclave/app/base/pattern"
	"conclave/app/plugin"
	"conclave/app/plugin/python"

	"github.com/BurntSushi/toml"
)

// pointGroup is the group of entry points by which an installed package is a
// plugin of the llm program (contracts/llm-functions, section 3.1).
const pointGroup = "llm"

// modulePaths are the folders of a plugin's folder that its modules are looked
// for in, as packaging tools have them.
var modulePaths = []string{"", "src", "lib", "python"}

// project is a folder that is packaged as a plugin of the llm program.
type project struct {
	points                                   []string // "module" or "module:object", sorted by the name they were given
	path                                     string   // of modulePaths, where the first is
	entry                                    string   // the file of the first, relative with slashes
	name, version, description, author, home string
}

// readProject reads what the packaging files of dir say of entry points for llm.
// ok is false for a folder without any. The error is a *plugin.Problem for a
// pyproject.toml that is no TOML or names a module that is not there.
func readProject(dir string) (p project, ok bool, err error) {
	file := "pyproject.toml"
	if text, problem := python.ReadSource(dir, file); problem == nil {
		if p, err = fromPyproject(text); err != nil {
			if !strings.Contains(string(text), pointGroup) {
				return project{}, false, nil // not ours to complain about
			}
			return project{}, false, err
		}
	}
	if len(p.points) == 0 {
		file = "setup.cfg"
		if text, problem := python.ReadSource(dir, file); problem == nil {
			p.points = fromSetupCfg(string(text))
		}
	}
	if len(p.points) == 0 {
		file = "setup.py"
		if text, problem := python.ReadSource(dir, file); problem == nil {
			p.points = fromSetupPy(string(text))
		}
	}
	if len(p.points) == 0 {
		return project{}, false, nil
	}
	module, _, _ := strings.Cut(p.points[0], ":")
	inner := filepath.FromSlash(strings.ReplaceAll(module, ".", "/"))
	for _, path := range modulePaths {
		for _, name := range []string{inner + ".py", filepath.Join(inner, "__init__.py")} {
			if info, err := os.Stat(filepath.Join(dir, path, name)); err == nil && info.Mode().IsRegular() {
				p.path, p.entry = path, filepath.ToSlash(filepath.Join(path, name))
				return p, true, nil
			}
		}
	}
	return project{}, false, &plugin.Problem{
		Kind: "script", File: file,
		Message: file + " names the module " + module + " as a plugin of llm, and there is no such file.",
		Hint:    "Put it next to " + file + " or into src/, or correct the entry point.",
	}
}

// pyproject holds the fields of a pyproject.toml that count.
type pyproject struct {
	Project struct {
		Name        string
		Version     string
		Description string
		Authors     []struct{ Name, Email string }
		URLs        map[string]string
		EntryPoints map[string]map[string]string `toml:"entry-points"`
	}
	Tool struct {
		Poetry struct {
			Name, Version, Description string
			Plugins                    map[string]map[string]any
		}
	}
}

func fromPyproject(text []byte) (project, error) {
	var all pyproject
	if _, err := toml.Decode(string(text), &all); err != nil {
		wrong := &plugin.Problem{
			Kind: "script", File: "pyproject.toml", Message: "pyproject.toml cannot be read: " + err.Error() + ".",
		}
		if parse, ok := err.(toml.ParseError); ok { //nolint:errorlint // the decoder returns it bare
			wrong.Line, wrong.Message = parse.Position.Line, "pyproject.toml is no TOML: "+parse.Message+"."
		}
		return project{}, wrong
	}
	points := map[string]string{}
	for name, value := range all.Tool.Poetry.Plugins[pointGroup] {
		if module, ok := value.(string); ok {
			points[name] = module
		}
	}
	maps.Copy(points, all.Project.EntryPoints[pointGroup])
	p := project{
		points: sortedPoints(points), name: all.Project.Name, version: all.Project.Version,
		description: all.Project.Description,
	}
	if p.name == "" {
		p.name, p.version, p.description = all.Tool.Poetry.Name, all.Tool.Poetry.Version, all.Tool.Poetry.Description
	}
	if len(all.Project.Authors) > 0 {
		p.author = all.Project.Authors[0].Name
	}
	for name, url := range all.Project.URLs {
		if strings.EqualFold(name, "homepage") {
			p.home = url
		}
	}
	return p, nil
}

var cfgPoint = pattern.Lazy(`^\s*([\w.-]+)\s*=\s*([\w.:]+)`)

// fromSetupCfg reads the option llm of the section [options.entry_points].
func fromSetupCfg(text string) []string {
	points := map[string]string{}
	section, option := "", ""
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || trimmed[0] == '#' || trimmed[0] == ';':
		case trimmed[0] == '[':
			section, option = trimmed, ""
		case line[0] != ' ' && line[0] != '\t':
			var value string
			option, value, _ = strings.Cut(trimmed, "=")
			option = strings.TrimSpace(option)
			if match := cfgPoint().FindStringSubmatch(value); match != nil && option == pointGroup &&
				section == "[options.entry_points]" {
				points[match[1]] = match[2]
			}
		case section == "[options.entry_points]" && option == pointGroup:
			if match := cfgPoint().FindStringSubmatch(trimmed); match != nil {
				points[match[1]] = match[2]
			}
		}
	}
	return sortedPoints(points)
}

var (
	setupGroup = pattern.Lazy(`(?s)entry_points\s*=.*?["']llm["']\s*:\s*[\[(]?(.*?)[\])}]`)
	setupPoint = pattern.Lazy(`["']\s*([\w.-]+)\s*=\s*([\w.:]+)\s*["']`)
)

// fromSetupPy finds entry points that are written out in a setup.py, which is
// not run.
func fromSetupPy(text string) []string {
	points := map[string]string{}
	if group := setupGroup().FindStringSubmatch(text); group != nil {
		for _, match := range setupPoint().FindAllStringSubmatch(group[1], -1) {
			points[match[1]] = match[2]
		}
	}
	return sortedPoints(points)
}

func sortedPoints(points map[string]string) []string {
	var sorted []string
	for _, name := range slices.Sorted(maps.Keys(points)) {
		// "module:object [extra]" is what packaging allows.
		module, _, _ := strings.Cut(points[name], "[")
		if module = strings.TrimSpace(module); module != "" && !slices.Contains(sorted, module) {
			sorted = append(sorted, module)
		}
	}
	return sorted
}
