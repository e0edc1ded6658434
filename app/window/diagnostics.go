package window

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"

	"conclave/app/base/pattern"
	"conclave/app/base/settings"
	"conclave/app/base/shorten"
	"conclave/app/chat"
	"conclave/app/tool"
)

// Diagnostics holds facts about this Conclave for a bug report, without what was said in chats,
// titles, keys, and names of the home folder.
type Diagnostics struct {
	Name  string            `json:"name"` // suggested for the file
	Parts []DiagnosticsPart `json:"parts"`
}

// DiagnosticsKind names a group of facts.
type DiagnosticsKind string

// The groups of facts.
const (
	ProgramFacts  DiagnosticsKind = "program"
	SettingsFacts DiagnosticsKind = "settings"
	PluginFacts   DiagnosticsKind = "plugins"
	Counts        DiagnosticsKind = "counts"
	LogFacts      DiagnosticsKind = "log"
)

// DiagnosticsPart holds a group of facts.
type DiagnosticsPart struct {
	Kind DiagnosticsKind `json:"kind"`
	Text string          `json:"text"` // lines
}

// Limits of the log in a report.
const (
	maxReportedLines = 200
	maxReportedRunes = 400       // of one line
	maxReportedLog   = 512 << 10 // bytes from the end of the file
)

// Diagnostics returns what a bug report needs. Nothing of it is sent anywhere.
func (w *Window) Diagnostics() (Diagnostics, error) {
	ctx := w.call()
	set, err := w.core.Settings.Settings(ctx)
	if err != nil {
		return Diagnostics{}, err
	}
	mask, err := w.core.Mask(ctx)
	if err != nil {
		return Diagnostics{}, err
	}
	home, _ := os.UserHomeDir() // without one nothing is replaced
	counts, err := w.counts(ctx, set)
	if err != nil {
		return Diagnostics{}, err
	}
	return Diagnostics{Name: "conclave-diagnostics.txt", Parts: []DiagnosticsPart{
		{ProgramFacts, w.programFacts()},
		{SettingsFacts, reportedSettings(set)},
		{PluginFacts, w.pluginFacts()},
		{Counts, counts},
		{LogFacts, reportedLog(filepath.Join(w.core.Info.Logs, "conclave.log"), func(text string) string {
			return withoutHome(mask(text), home)
		})},
	}}, nil
}

func (w *Window) programFacts() string {
	lines := []string{
		"Conclave " + w.core.Info.Version, goruntime.Version() + " " + goruntime.GOOS + "/" + goruntime.GOARCH,
		fmt.Sprintf("%d processors", goruntime.NumCPU()), "sandbox: " + w.core.Info.Isolation,
	}
	for _, name := range []string{"XDG_CURRENT_DESKTOP", "XDG_SESSION_TYPE", "LANG"} {
		if value := os.Getenv(name); value != "" {
			lines = append(lines, name+"="+value)
		}
	}
	return strings.Join(lines, "\n")
}

// reported are the settings that say nothing about a person or a place.
var reported = []string{
	"chain_limit", "dock_open", "dock_tab", "dock_width", "follow", "http_port", "http_token", "http_tools", "language",
	"mode", "model_titles", "notify_answers", "plugin_spend", "plugin_tokens", "reading_font", "scan_at_start",
	"send_key", "sidebar_open", "sidebar_width", "text_size", "theme", "tool_share", "zoom",
}

func reportedSettings(set settings.Settings) string {
	var all map[string]json.RawMessage
	raw, err := json.Marshal(set)
	if err == nil {
		err = json.Unmarshal(raw, &all)
	}
	if err != nil {
		return "could not be written"
	}
	var lines []string
	for _, name := range reported {
		lines = append(lines, name+": "+string(all[name]))
	}
	return strings.Join(lines, "\n")
}

// pluginFacts names each plugin by its id, as its folder is called, and not what it was given.
func (w *Window) pluginFacts() string {
	var lines []string
	for _, p := range w.core.Host.List() {
		lines = append(lines, fmt.Sprintf("%s %s: %s, %d tools, %d calls, %d errors", p.ID, p.Manifest.Version, p.State,
			len(p.Tools), p.Calls, p.Errors))
	}
	return strings.Join(lines, "\n")
}

func (w *Window) counts(ctx context.Context, set settings.Settings) (string, error) {
	chats := 0
	days, err := w.core.Store.Days(ctx, chat.ListOptions{})
	if err != nil {
		return "", err
	}
	for _, day := range days {
		chats += day.Count
	}
	kinds := map[string]int{}
	for _, c := range set.Connections {
		kinds[c.Kind]++
	}
	lines := []string{fmt.Sprintf("chats: %d", chats)}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		lines = append(lines, fmt.Sprintf("connections of the kind %s: %d", kind, kinds[kind]))
	}
	return strings.Join(lines, "\n"), nil
}

// reportedLog returns the last warnings and errors of the log: of each its time, its message and
// its cause, in which quoted words, that may be a person's, are left out.
func reportedLog(path string, clean func(string) string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return "there is none"
	}
	data = data[max(0, len(data)-maxReportedLog):]
	var lines []string
	for raw := range bytes.Lines(data) {
		var line struct{ Time, Level, Msg, Ref, Err string }
		if json.Unmarshal(raw, &line) != nil || line.Level != "WARN" && line.Level != "ERROR" {
			continue
		}
		text := strings.Join([]string{line.Time, line.Level, line.Msg, line.Ref, line.Err}, " ")
		text, _ = tool.Strip(clean(quotedWords().ReplaceAllString(text, "“…”")))
		lines = append(lines, shorten.To(strings.Join(strings.Fields(text), " "), maxReportedRunes))
	}
	return strings.Join(lines[max(0, len(lines)-maxReportedLines):], "\n")
}

var quotedWords = pattern.Lazy("“[^”]*”|\"[^\"]*\"|`[^`]*`")

// withoutHome writes ~ for the home folder.
func withoutHome(text, home string) string {
	if len(home) < 2 { // "/" is in every path
		return text
	}
	return strings.ReplaceAll(text, home, "~")
}
