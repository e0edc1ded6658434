package engine

import (
	"encoding/hex"
	"encoding/json"
	neturl "net/url"
	"strings"

	"github.com/nlnwa/whatwg-url/url"
)

// urlParts holds the parts that the prelude's URL class shows.
type urlParts struct {
	Href     string `json:"href"`
	Protocol string `json:"protocol"`
	Username string `json:"username"`
	Password string `json:"password"`
	Host     string `json:"host"`
	Hostname string `json:"hostname"`
	Port     string `json:"port"`
	Pathname string `json:"pathname"`
	Search   string `json:"search"`
	Hash     string `json:"hash"`
	Origin   string `json:"origin"`
}

func partsOf(u *url.Url) urlParts {
	p := urlParts{
		Href: u.Href(false), Protocol: u.Protocol(), Username: u.Username(), Password: u.Password(), Host: u.Host(),
		Hostname: u.Hostname(), Port: u.Port(), Pathname: u.Pathname(), Search: u.Search(), Hash: u.Hash(), Origin: "null",
	}
	if u.IsSpecialScheme() && u.Scheme() != "file" {
		p.Origin = u.Scheme() + "://" + u.Host()
	}
	return p
}

// urlSetters change one part, as assigning to a URL does. One that cannot be changed stays. "params" is a
// query that was written by the rules of queries, which SetSearch leaves as it is.
var urlSetters = map[string]func(u *url.Url, value string){
	"protocol": (*url.Url).SetProtocol, "username": (*url.Url).SetUsername, "password": (*url.Url).SetPassword,
	"host": (*url.Url).SetHost, "hostname": (*url.Url).SetHostname, "port": (*url.Url).SetPort,
	"pathname": (*url.Url).SetPathname, "search": (*url.Url).SetSearch, "params": (*url.Url).SetSearch,
	"hash": (*url.Url).SetHash,
}

// maxAddress bounds an address with what it is changed by, in bytes: a data: address has megabytes, and
// reading one takes ten times its memory.
const maxAddress = 8 << 20

// maxFolders bounds the folders of an address, and the characters of its user, password and host: reading
// one takes time by their square, a tenth of a second for so many.
const maxFolders = 10_000

// manyFolders reports whether one of the arguments of an operation has more of them. What follows data: has
// none.
func manyFolders(op string, args []string) bool {
	for i, a := range args {
		whole := i != 2 || op != "url.set" || args[1] == "href"
		if whole && strings.HasPrefix(a, "data:") {
			continue
		}
		_, host, _ := strings.Cut(a, "//")
		if end := strings.IndexAny(host, `/?#\`); end >= 0 {
			host = host[:end]
		}
		if len(host) > maxFolders || strings.Count(a, "/")+strings.Count(a, `\`) > maxFolders {
			return true
		}
	}
	return false
}

// urlOp parses, changes and writes addresses and queries (WHATWG URL Standard), which net/url does not do as the
// web does: `http:\\a\..\b` is an address there.
func urlOp(op, text string) string {
	switch op {
	case "query.parse":
		return toJSON(parseQuery(text))
	case "query.write":
		var pairs [][2]string
		if json.Unmarshal([]byte(text), &pairs) != nil {
			return ""
		}
		return writeQuery(pairs)
	}
	var args []string
	if len(text) > maxAddress || json.Unmarshal([]byte(text), &args) != nil || len(args) == 0 || manyFolders(op, args) {
		return ""
	}
	var u *url.Url
	var err error
	switch {
	case op == "url.set" && len(args) == 3 && args[1] == "href":
		u, err = url.Parse(args[2])
	case op == "url.parse" && len(args) == 2:
		if u, err = url.Parse(args[1]); err == nil {
			u, err = u.Parse(args[0])
		}
	default:
		u, err = url.Parse(args[0])
	}
	if err != nil {
		return ""
	}
	if op == "url.set" && len(args) == 3 && args[1] != "href" {
		if set := urlSetters[args[1]]; set != nil {
			set(u, args[2])
		}
	}
	return toJSON(partsOf(u))
}

// parseQuery reads application/x-www-form-urlencoded text.
func parseQuery(text string) [][2]string {
	pairs := [][2]string{}
	for part := range strings.SplitSeq(text, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		pairs = append(pairs, [2]string{unescapeForm(name), unescapeForm(value)})
	}
	return pairs
}

// unescapeForm reads a name or a value of a query. A % that begins no escape stands for itself.
func unescapeForm(text string) string {
	text = strings.ReplaceAll(text, "+", " ")
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if b, err := hex.DecodeString(text[i+1 : i+3]); err == nil {
				out = append(out, b[0])
				i += 2
				continue
			}
		}
		out = append(out, text[i])
	}
	return strings.ToValidUTF8(string(out), "\uFFFD")
}

// formBytes are the two characters that net/url escapes otherwise than the web.
var formBytes = strings.NewReplacer("~", "%7E", "%2A", "*")

// writeQuery writes application/x-www-form-urlencoded text.
func writeQuery(pairs [][2]string) string {
	written := make([]string, len(pairs))
	for i, pair := range pairs {
		written[i] = neturl.QueryEscape(pair[0]) + "=" + neturl.QueryEscape(pair[1])
	}
	return formBytes.Replace(strings.Join(written, "&"))
}
