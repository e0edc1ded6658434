// Package pattern makes regular expressions when they are first used. One that is compiled as the program
// starts is paid for by each start, also of commands that never look at it.
package pattern

import (
	"regexp"
	"sync"
)

// Lazy returns a function that returns the compiled expression. It panics at its first use if the
// expression is not valid. It is safe for concurrent use.
func Lazy(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
