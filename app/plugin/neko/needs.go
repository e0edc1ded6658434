package neko

import (
	"regexp"
	"slices"
	"strings"

	"conclave/app/plugin/python"
)

// A N.E.K.O manifest asks for nothing: there, a plugin may do what its user may.
// So what it will want is read from its sources, and asked of the person.
//
// needs says which permission a line of Python is a sign of. It errs towards
// asking: a permission that is not granted costs an error that names it, one that
// is granted and not used costs nothing.
var needs = []struct {
	permission string
	sign       *regexp.Regexp
}{
	{"chat_mutation", regexp.MustCompile(`\.push_message\(`)},
	{"network", regexp.MustCompile(`(?m)^[ \t]*(?:from|import)[ \t]+(?:socket|socketserver|http\.(?:client|server)|urllib\.request|urllib3|requests|httpx|aiohttp|websockets?|openai|ftplib|smtplib|imaplib|telnetlib|paho|zmq|grpc|firecrawl|bilibili_api)\b|\basyncio\.(?:open_connection|start_server)\(|\bcreate_(?:connection|datagram_endpoint|server)\(`)},
	{"programs", regexp.MustCompile(`(?m)^[ \t]*(?:from|import)[ \t]+(?:subprocess|multiprocessing|pexpect|pty)\b|\basyncio\.create_subprocess_|\bos\.(?:system|popen|startfile|spawn\w+|exec\w+|fork)\(|\bProcessPoolExecutor\b`)},
}

// maxScanned bounds the sources that are read for it, in bytes.
const maxScanned = 8 << 20

// permissions returns what the sources of a plugin show it will want, sorted.
func permissions(dir string) []string {
	found := []string{}
	size := 0
	for _, name := range sourceFiles(dir) {
		text, err := python.ReadSource(dir, name)
		if err != nil {
			continue
		}
		if size += len(text); size > maxScanned {
			break
		}
		for _, need := range needs {
			if !slices.Contains(found, need.permission) && need.sign.Match(text) {
				found = append(found, need.permission)
			}
		}
	}
	slices.Sort(found)
	return found
}

// sourceFiles returns the .py files of the plugin's own code: without bundled
// packages, tests and scripts that its maker runs.
func sourceFiles(dir string) []string {
	return slices.DeleteFunc(python.Files(dir), func(name string) bool {
		first, _, nested := strings.Cut(name, "/")
		if !nested {
			return name == "conftest.py" || strings.HasPrefix(name, "test_")
		}
		return first == "vendor" || first == "tests" || first == "test" || first == "docs"
	})
}
