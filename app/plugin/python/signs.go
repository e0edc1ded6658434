package python

import (
	"regexp"
	"slices"
	"sync"
)

// signs say which permission a line of Python is a sign of, for plugins whose
// manifest does not ask for it. They err towards asking: a permission that is not
// granted costs an error that names it, one that is granted and not used costs
// nothing. Their patterns are compiled when the first source is read, as not every command reads one.
var signs = sync.OnceValue(func() []sign {
	return []sign{
		{"network", regexp.MustCompile(`(?m)^\s*(?:from|import)\s+(?:socket|ssl|http\.client|urllib\.request|urllib3|requests|` +
			`httpx|aiohttp|websockets?|openai|ftplib|smtplib|imaplib|telnetlib|paramiko|paho|zmq|grpc|redis|pymysql|playwright|fastapi|` +
			`firecrawl|bilibili_api)\b|\basyncio\.open_connection\(|\bcreate_(?:connection|datagram_endpoint)\(`)},
		{"listen", regexp.MustCompile(`(?m)^\s*(?:from|import)\s+(?:socketserver|http\.server|uvicorn|flask|aiohttp\.web|wsgiref|xmlrpc\.server)\b|` +
			`\bhttp\.server\b|\basyncio\.start_server\(|\bcreate_server\(|\.listen\(\d*\)`)},
		{"programs", regexp.MustCompile(`(?m)^\s*(?:from|import)\s+(?:subprocess|multiprocessing|pexpect|pty)\b|\basyncio\.create_subprocess|` +
			`\bos\.(?:system|popen|startfile|spawn\w+|exec\w+|fork)\(|\bProcessPoolExecutor\b`)},
	}
})

// sign is a line of Python that wants a permission.
type sign struct {
	permission string
	line       *regexp.Regexp
}

// Reaches adds to found the permissions to open the sandbox that a source shows its plugin
// will want.
func Reaches(found []string, source []byte) []string {
	for _, sign := range signs() {
		if !slices.Contains(found, sign.permission) && sign.line.Match(source) {
			found = append(found, sign.permission)
		}
	}
	return found
}
