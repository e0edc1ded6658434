package terminal

import (
	"path/filepath"
	"regexp"
	"strings"

	"conclave/app/plugin"
)

// commandInHint matches a conclave command in a sentence.
func (t *terminal) commandInHint() *regexp.Regexp {
	var names []string
	for _, sub := range (&terminal{Session: t.Session}).root().Commands() { // root gives t's flags their defaults
		names = append(names, sub.Name())
	}
	return regexp.MustCompile(`\bconclave (` + strings.Join(names, "|") + `)\b`)
}

// inTerminal replaces places in the window by commands.
var inTerminal = strings.NewReplacer(
	"Add it in Settings > Models", "Add it with conclave models add",
	"Give its passphrase in Settings > Models, or in the environment", "Give its passphrase in the environment",
	"Choose one in Settings > Models, or give one in the environment", "Give one in the environment",
	"Settings > Models lists", "conclave models list shows",
	"in Settings > Models", "with conclave models",
	"在“设置 > 模型”中添加", "用 conclave models add 添加",
	"在“设置 > 模型”中输入口令，或在环境变量", "在环境变量",
	"在“设置 > 模型”中选择口令，或在环境变量", "在环境变量",
	"现有模型列在“设置 > 模型”中", "现有模型见 conclave models list",
	"以及“设置 > 模型”中的地址", "以及地址（conclave models）",
	"或在“设置 > 模型”中检查其地址", "或用 conclave models 检查其地址",
	"在“设置 > 模型”中", "用 conclave models ",
)

// toType words a sentence for the terminal: places in the window become commands, and commands get
// the --data and --plugins of this command, so that they can be typed as they are.
func (t *terminal) toType(hint string) string {
	hint = inTerminal.Replace(hint)
	// The store's hint ends with a path, which a shell would split at spaces.
	if before, path, ok := strings.Cut(hint, "conclave restore "); ok && filepath.IsAbs(path) {
		hint = before + "conclave restore " + plugin.Quoted(path)
	}
	given := ""
	for _, f := range []struct{ name, value, env string }{
		{"data", t.data, "CONCLAVE_DATA"}, {"plugins", t.plugins, "CONCLAVE_PLUGINS"},
	} {
		if f.value != "" && f.value != t.Env(f.env) {
			given += " --" + f.name + " " + plugin.Quoted(t.Path(f.value))
		}
	}
	if given == "" || strings.HasSuffix(hint, "--help.") || !strings.Contains(hint, "conclave ") {
		return hint
	}
	return t.commandInHint().ReplaceAllStringFunc(hint, func(s string) string {
		return "conclave" + given + strings.TrimPrefix(s, "conclave")
	})
}
