package packages

import (
	"runtime"
	"strings"

	"conclave/app/plugin/python"
)

// markersOf returns the values of the variables of PEP 508 for an interpreter.
func markersOf(p python.Python) map[string]string {
	minor := minorOf(p.Version)
	out := map[string]string{
		"python_version": minor, "python_full_version": p.Version, "implementation_version": p.Version,
		"implementation_name": "cpython", "platform_python_implementation": "CPython", "extra": "",
		"os_name": "posix", "sys_platform": runtime.GOOS, "platform_system": "Linux", "platform_machine": machine(),
		"platform_release": "", "platform_version": "",
	}
	switch runtime.GOOS {
	case "windows":
		out["os_name"], out["sys_platform"], out["platform_system"] = "nt", "win32", "Windows"
	case "darwin":
		out["platform_system"] = "Darwin"
	}
	return out
}

// minorOf returns 3.11 for 3.11.7.
func minorOf(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

func machine() string {
	switch {
	case runtime.GOARCH == "amd64" && runtime.GOOS == "windows":
		return "AMD64"
	case runtime.GOARCH == "amd64":
		return "x86_64"
	case runtime.GOARCH == "arm64" && runtime.GOOS == "linux":
		return "aarch64"
	}
	return runtime.GOARCH
}

// counts reports whether a marker holds here. One that cannot be read counts:
// the installer has the last word.
func counts(marker string, values map[string]string) bool {
	if strings.TrimSpace(marker) == "" {
		return true
	}
	p := markerParser{tokens: markerTokens(marker), values: values}
	holds := p.or()
	return holds || p.broken || p.at < len(p.tokens)
}

// markerParser reads or, and, brackets and comparisons, in that order.
type markerParser struct {
	tokens []string
	at     int
	depth  int
	values map[string]string
	broken bool
}

// maxDepth bounds nested brackets.
const maxDepth = 50

func (p *markerParser) next() string {
	if p.at >= len(p.tokens) {
		p.broken = true
		return ""
	}
	p.at++
	return p.tokens[p.at-1]
}

func (p *markerParser) take(word string) bool {
	if p.at < len(p.tokens) && p.tokens[p.at] == word {
		p.at++
		return true
	}
	return false
}

func (p *markerParser) or() bool {
	holds := p.and()
	for p.take("or") {
		other := p.and()
		holds = holds || other
	}
	return holds
}

func (p *markerParser) and() bool {
	holds := p.term()
	for p.take("and") {
		other := p.term()
		holds = holds && other
	}
	return holds
}

func (p *markerParser) term() bool {
	if p.take("(") {
		if p.depth++; p.depth > maxDepth {
			p.broken = true
			return false
		}
		holds := p.or()
		p.depth--
		if !p.take(")") {
			p.broken = true
		}
		return holds
	}
	left, versioned := p.value()
	operator := p.next()
	if operator == "not" && p.take("in") {
		operator = "not in"
	}
	right, rightVersioned := p.value()
	versioned = versioned || rightVersioned
	switch operator {
	case "in":
		return strings.Contains(right, left)
	case "not in":
		return !strings.Contains(right, left)
	case "==", "!=", "<", "<=", ">", ">=", "~=", "===":
		return compareMarker(left, operator, right, versioned)
	}
	p.broken = true
	return false
}

func compareMarker(left, operator, right string, versioned bool) bool {
	_, isVersion := python.ParseVersion(strings.TrimSuffix(right, ".*"))
	if v, ok := python.ParseVersion(left); ok && isVersion && versioned {
		return v.Fits(operator, right)
	}
	switch operator {
	case "==", "===":
		return left == right
	case "!=":
		return left != right
	case "<":
		return left < right
	case "<=":
		return left <= right
	case ">":
		return left > right
	}
	return left >= right
}

// value returns what the next token stands for, and whether it is a variable
// that holds a version.
func (p *markerParser) value() (text string, versioned bool) {
	token := p.next()
	if token == "" {
		return "", false
	}
	if token[0] == '"' || token[0] == '\'' {
		return token[1 : len(token)-1], false
	}
	value, known := p.values[strings.ReplaceAll(token, ".", "_")]
	if !known {
		p.broken = true
	}
	return value, strings.HasSuffix(token, "_version")
}

// markerTokens parts a marker into words, operators, brackets and quoted texts.
func markerTokens(marker string) []string {
	var tokens []string
	for i := 0; i < len(marker); {
		c := marker[i]
		switch {
		case c == ' ' || c == '\t':
			i++
		case c == '(' || c == ')':
			tokens = append(tokens, marker[i:i+1])
			i++
		case c == '"' || c == '\'':
			end := strings.IndexByte(marker[i+1:], c)
			if end < 0 {
				return append(tokens, "?") // broken: the quote does not end
			}
			tokens = append(tokens, marker[i:i+end+2])
			i += end + 2
		case strings.IndexByte("=<>!~", c) >= 0:
			end := i
			for end < len(marker) && strings.IndexByte("=<>!~", marker[end]) >= 0 {
				end++
			}
			tokens = append(tokens, marker[i:end])
			i = end
		default:
			end := i
			for end < len(marker) && strings.IndexByte(" \t()\"'=<>!~", marker[end]) < 0 {
				end++
			}
			tokens = append(tokens, marker[i:end])
			i = end
		}
	}
	return tokens
}
