// Package limit lists the bounds on what comes from outside: from plugins, models, servers, files and
// people. Each bound is a constant of limits.go with its reason; the code that enforces it has the
// sentence for the person or the model, and a test that goes one over.
//
// Deadlines that only one package knows stay in that package. So do sizes of buffers, which nobody
// outside meets.
package limit

import (
	"fmt"
	"strconv"
	"strings"
)

// ToolsLeftOut returns the sentence on the card of a plugin that offers n tools over PluginTools or
// ToolDefinition.
func ToolsLeftOut(n int) string {
	some := "1 of its tools is"
	if n != 1 {
		some = fmt.Sprintf("%d of its tools are", n)
	}
	return fmt.Sprintf("%s not offered: a plugin may offer %s tools of at most %s each, with a name that "+
		"can be shown. Its log has the names.", some, Number(PluginTools), Size(ToolDefinition))
}

// Counted returns a number of things as a person reads it: "1 file", "3 files".
func Counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// Listed joins names as a person reads them: "Ada, Bo and Cy".
func Listed(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// Size returns a number of bytes as a person reads it: "512 bytes", "64 KiB", "1.5 MiB".
func Size(n int64) string {
	for _, unit := range []struct {
		name string
		size int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n < unit.size {
			continue
		}
		if n%unit.size == 0 {
			return fmt.Sprintf("%d %s", n/unit.size, unit.name)
		}
		return fmt.Sprintf("%.1f %s", float64(n)/float64(unit.size), unit.name)
	}
	return Number(n) + " bytes"
}

// Number returns n with a comma between groups of three digits.
func Number(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
