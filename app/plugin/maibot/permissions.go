package maibot

import (
	"regexp"
	"slices"
	"strings"
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

// Ways out of the walls, as the sources show them.
var (
	netImport     = regexp.MustCompile(`(?m)^\s*(?:import|from)\s+(?:httpx|aiohttp|requests|websockets|websocket|socket|ssl|smtplib|ftplib|http\.client|urllib3|urllib\.request|paramiko|redis|pymysql|playwright|uvicorn|fastapi)\b`)
	programImport = regexp.MustCompile(`(?m)^\s*(?:import|from)\s+(?:subprocess|pexpect)\b|asyncio\.create_subprocess|os\.system\(|os\.popen\(`)
)

// permissions are what the plugin asks for in Conclave's words: what its
// capabilities need, and the ways out that its sources take.
func permissions(capabilities []string, sources map[string][]byte) []string {
	out := []string{}
	add := func(p string) {
		if p != "" && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	for _, c := range capabilities {
		group, _, _ := strings.Cut(c, ".")
		add(groups[group])
	}
	for _, source := range sources {
		if netImport.Match(source) {
			add("network")
		}
		if programImport.Match(source) {
			add("programs")
		}
	}
	slices.Sort(out)
	return out
}
