package config

import "strings"

// ParseEnv reads an env file: lines NAME=value, with "export", comments and quotes as such files have them. Lines that
// are none are passed over.
func ParseEnv(data []byte) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(decoded(data)) {
		line = strings.TrimSpace(line)
		line = strings.TrimSpace(strings.TrimPrefix(line, "export "))
		name, value, ok := strings.Cut(line, "=")
		name = strings.TrimSpace(name)
		if !ok || variableName(name) == "" {
			continue
		}
		value = strings.TrimSpace(value)
		switch {
		case len(value) > 1 && value[0] == '"' && strings.LastIndexByte(value, '"') > 0:
			value = value[1:strings.LastIndexByte(value, '"')]
			value = strings.NewReplacer(`\n`, "\n", `\"`, `"`, `\\`, `\`).Replace(value)
		case len(value) > 1 && value[0] == '\'' && strings.LastIndexByte(value, '\'') > 0:
			value = value[1:strings.LastIndexByte(value, '\'')]
		default:
			value, _, _ = strings.Cut(value, " #")
			value = strings.TrimSpace(value)
		}
		all[name] = value
	}
	return all
}
