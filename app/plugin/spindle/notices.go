package spindle

import (
	"fmt"
	"slices"
	"strings"
)

// knownPermissions are the permissions of the ecosystem (contract section 14).
// Which of them do something here is in docs/COMPATIBILITY.md; one that is not
// among them has no effect and blocks nothing (SP-03).
var knownPermissions = []string{
	"tools", "generation", "interceptor", "context_handler", "macro_interceptor", "cors_proxy", "app_manipulation", "characters", "chats",
	"personas", "presets", "world_books", "regex_scripts", "regex_scripts_unrestricted", "databanks", "images", "image_gen", "push_notification",
	"web_search", "unsafe_eval", "final_response", "chat_mutation", "memories", "ui_panels", "ephemeral_storage", "event_tracking",
	"generation_parameters", "oauth", "media",
}

// notices say what a person should know of an extension before and while it
// runs, one sentence each.
func notices(m manifest, entry, frontend string) []string {
	var out []string
	switch {
	case entry == "" && frontend == "":
		out = append(out, "It has no backend, so it offers no tools.")
	case entry == "":
		out = append(out, fmt.Sprintf("It has no backend, so it offers no tools; its part for Lumiverse's window (%s) is not run.", frontend))
	case frontend != "":
		out = append(out, fmt.Sprintf("Its part for Lumiverse's window (%s) is not run; its tools work without it.", frontend))
	}
	var unknown []string
	for _, p := range m.Permissions {
		if !slices.Contains(knownPermissions, p) {
			unknown = append(unknown, p)
		}
	}
	switch len(unknown) {
	case 0:
	case 1:
		out = append(out, fmt.Sprintf("It asks for the permission %s, which is not supported here.", unknown[0]))
	default:
		out = append(out, fmt.Sprintf("It asks for the permissions %s, which are not supported here.", strings.Join(unknown, ", ")))
	}
	if slices.Contains(m.Capabilities, "dynamic_code_execution") {
		out = append(out, "It asks to run code made from text, which no extension may here; what needs that fails with an error.")
	}
	if len(m.passed) > 0 {
		slices.Sort(m.passed)
		out = append(out, fmt.Sprintf("Passed over in its manifest, because the value is of the wrong kind: %s.", strings.Join(m.passed, ", ")))
	}
	return out
}
