// Package language knows in which language a person reads.
package language

import "strings"

// Language is the code of a language that Conclave has, or [System]. The page has
// the same (frontend/src/messages).
type Language string

// The languages, and the choice of the system's.
const (
	System  Language = "system"
	English Language = "en"
	Chinese Language = "zh" // as it is written in mainland China
)

// Of returns the language that a person reads who chose one. For [System] it asks
// the environment and the system, and returns "" where neither says.
func Of(chosen Language, env func(string) string) Language {
	if chosen != System && chosen != "" {
		return chosen
	}
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if locale := env(name); locale != "" {
			return known(locale)
		}
	}
	if name := preferred(); name != "" {
		return known(name)
	}
	return ""
}

// known returns the language of a locale ("zh_CN.UTF-8", "zh-Hans-CN"), English
// where Conclave does not have it.
func known(locale string) Language {
	if code, _, _ := strings.Cut(strings.ToLower(locale), "_"); strings.HasPrefix(code, string(Chinese)) {
		return Chinese
	}
	return English
}
