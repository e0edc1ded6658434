package config

import (
	"strconv"
	"strings"
)

// Folders returns a name for each server that may be that of a folder of the plugins folder: its own name, made
// [a-zA-Z0-9_-], and one that no other server of the list has.
func Folders(servers []Server) []string {
	taken := map[string]bool{}
	var names []string
	for _, s := range servers {
		name := strings.Trim(legal(s.Name), "_-")
		if name == "" {
			name = strings.Trim(legal(SuggestedName(s)), "_-")
		}
		if name == "" {
			name = "server"
		}
		name = name[:min(len(name), 56)]
		free := name
		if slashed := strings.Split(strings.ReplaceAll(s.Scope, `\`, "/"), "/"); taken[strings.ToLower(free)] && s.Scope != "" {
			free = legal(name + "-" + strings.Trim(legal(slashed[len(slashed)-1]), "_-"))
		}
		for n := 2; taken[strings.ToLower(free)]; n++ {
			free = name + "-" + strconv.Itoa(n)
		}
		taken[strings.ToLower(free)] = true
		names = append(names, free)
	}
	return names
}
