package maibot

import (
	"slices"
	"strings"

	"conclave/app/plugin/python"
)

// groups are the capabilities of MaiBot by their first word, and the permission
// of Conclave's that each needs; "" needs none (contracts/maibot, section 4.5).
var groups = map[string]string{
	"send":       "chat_mutation",
	"llm":        "generation",
	"message":    "chat_mutation", // Conclave gives messages to who may also write them
	"chat":       "chats",
	"maisaka":    "chat_mutation",
	"config":     "",
	"person":     "",
	"database":   "",
	"knowledge":  "",
	"render":     "",
	"emoji":      "",
	"frequency":  "",
	"statistics": "",
	"component":  "",
	"api":        "",
	"tool":       "",
}

func isCapability(name string) bool {
	group, _, dotted := strings.Cut(name, ".")
	_, known := groups[group]
	return dotted && known
}

// permissions returns what the plugin asks for in Conclave's words: what its
// capabilities need, and the ways out that its sources take.
func permissions(capabilities []string, sources map[string][]byte) []string {
	out := []string{}
	for _, c := range capabilities {
		group, _, _ := strings.Cut(c, ".")
		if p := groups[group]; p != "" && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	for _, source := range sources {
		out = python.Reaches(out, source)
	}
	slices.Sort(out)
	return out
}
