package spindle

import (
	"fmt"
	"slices"
	"strings"

	"conclave/app/gate"
)

// notices say what a person should know of an extension before it runs, one
// sentence each. What it is worth without its window shows once it has run.
func notices(m manifest, entry, frontend string) []string {
	var out []string
	switch {
	case entry == "" && frontend == "":
		out = append(out, "It has no backend, so it offers no tools.")
	case entry == "":
		out = append(out,
			fmt.Sprintf("It has no backend, so it offers no tools; its part for Lumiverse's window (%s) is not run.", frontend))
	case frontend != "":
		out = append(out, fmt.Sprintf("Its part for Lumiverse's window (%s) is not run.", frontend))
	}
	unused := slices.DeleteFunc(slices.Clone(m.Permissions), func(p string) bool { return gate.Describe(p).Supported })
	switch len(unused) {
	case 0:
	case 1:
		out = append(out, fmt.Sprintf("It asks for the permission %s, which is not supported here.", unused[0]))
	default:
		out = append(out,
			fmt.Sprintf("It asks for the permissions %s, which are not supported here.", strings.Join(unused, ", ")))
	}
	if slices.Contains(unused, "image_gen") {
		without := "Conclave makes no pictures"
		if slices.Contains(m.Permissions, gate.Interceptor) {
			without += "; if it tells models to write picture tags, revoke its permission interceptor: the rest of it goes on"
		}
		out = append(out, without+".")
	}
	if slices.Contains(m.Capabilities, "dynamic_code_execution") {
		out = append(out,
			"It asks to run code made from text, which no extension may here; what needs that fails with an error.")
	}
	if len(m.passed) > 0 {
		slices.Sort(m.passed)
		out = append(out,
			fmt.Sprintf("Passed over in its manifest, because the value is of the wrong kind: %s.",
				strings.Join(m.passed, ", ")))
	}
	return out
}
