package view

import (
	"net/url"
	"slices"
	"strconv"

	"conclave/app/gate"
	"conclave/app/plugin"
)

// Plugin is one plugin.
type Plugin struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Version     string `json:"version"`
	Description string `json:"description"`
	Author      string `json:"author"`
	Homepage    string `json:"homepage"`
	Dialect     string `json:"contract"`
	Path        string `json:"path"` // of a program that registered its tools, its address
	Remote      bool   `json:"remote"`
	// Where it was added from and can be updated from: an address or a path; "" = not known.
	Origin  string       `json:"origin"`
	State   plugin.State `json:"state"`
	Enabled bool         `json:"enabled"`
	Problem *Problem     `json:"problem,omitempty"`
	Serving bool         `json:"serving"` // its tools can be called now
	// An older version than the newest save serves.
	LastGood bool `json:"last_good"`
	// When the version that serves was loaded, while it has a problem or a newer one waits; else "".
	ServingSince Time            `json:"serving_since"`
	Tools        []string        `json:"tools"` // ids of those it lists
	About        []plugin.Fact   `json:"about"` // what else its card says that it is
	Permissions  PermissionNames `json:"permissions"`
	Asks         []Permission    `json:"permission_details"`      // what it asks for, has, or was denied
	Folders      []gate.Folder   `json:"folders"`                 // outside its own that it may use
	Hosts        []string        `json:"hosts" say:"true"`        // rules about hosts, as sentences
	Ports        []string        `json:"ports" say:"true"`        // rules about ports, as sentences
	Programs     []string        `json:"programs"`                // that it may start; no others
	Refused      []Refusal       `json:"refused"`                 // the newest last
	Capabilities []string        `json:"capabilities" say:"true"` // what it can do, in words
	Isolation    string          `json:"isolation"`               // process+landlock, process or none
	// “Runs as you, not isolated.” when the sandbox is not the best; else "".
	IsolationNote string  `json:"isolation_note" say:"true"`
	FoundNote     string  `json:"found_note" say:"true"` // what it can find out of files that it may not read
	LoadMS        float64 `json:"load_ms"`
	Generation    uint64  `json:"generation"`
	Loaded        Time    `json:"loaded"`
	LastUsed      Time    `json:"last_used"`
	Running       bool    `json:"running"`
	Health        Health  `json:"health"`
	// What of it does not run here, and what its tools could be taken for.
	Notices []string `json:"notices" say:"true"`
	// The notices, what each call sends it, and what is odd about its tools.
	Warnings   []string `json:"warnings" say:"true"`
	OwnFiles   bool     `json:"own_files"`  // it consists of files, which a person can edit
	Developing bool     `json:"developing"` // the person edits it: own edits keep their approval
	Shipped    bool     `json:"shipped"`    // comes with Conclave
	Digest     string   `json:"digest"`     // of its newest files
	// Digest of the version that waits, which an approval names; "" while none waits.
	Shown    string    `json:"shown"`
	Packages *Packages `json:"packages"` // Python packages that it needs; null when none
	Settings bool      `json:"settings"` // there is something to set
	// The service where the person is signed in for it; "": none.
	SignedIn string `json:"signed_in"`
	// The page of a sign-in that waits for the person; "": none does.
	SignInPage string `json:"sign_in_page"`
	// The sign-in services that the person has to choose from; missing where there is nothing to choose.
	SignInServices []string `json:"sign_in_services,omitempty"`
	AtOnce         int      `json:"at_once"` // how many of its calls run at once
	// The person set that number; false: it is the default.
	AtOnceSet bool `json:"at_once_set"`
	// After how many minutes without a call it is ended; 0: never, whatever keep_running says.
	IdleMinutes int  `json:"idle_minutes"`
	KeepRunning bool `json:"keep_running"` // it is not ended then
	// What waits differs from what was approved in words for models alone: one can keep those.
	OnlyWords bool `json:"only_words"`
	// Models get the words about its tools that were approved, whatever it says now.
	KeepWords bool `json:"keep_words"`
}

// Health holds the calls and the resources of a plugin since the program started.
type Health struct {
	Running bool    `json:"running"`
	Calls   uint64  `json:"calls"`
	Errors  uint64  `json:"errors"`
	Memory  int64   `json:"memory_bytes"` // 0 when it does not run or the system does not say
	CPUMS   float64 `json:"cpu_ms"`
}

// PermissionNames are the permissions of a plugin by name.
type PermissionNames struct {
	Asked   []string `json:"asked"`
	Granted []string `json:"granted"`
	Denied  []string `json:"denied"`
}

// PermissionState is the person's decision about a permission of a plugin.
type PermissionState string

// The states of a permission.
const (
	PermissionAsked   PermissionState = "asked"
	PermissionGranted PermissionState = "granted"
	PermissionDenied  PermissionState = "denied"
)

// Permission is one permission that a plugin asks for, has, or was denied.
type Permission struct {
	Name      string          `json:"name"`
	Sentence  string          `json:"sentence" say:"true"` // what the plugin may do with it
	Without   string          `json:"without" say:"true"`  // what stops working without it; "" = nothing
	Risk      gate.Risk       `json:"risk"`
	Supported bool            `json:"supported"` // Conclave has what it is about
	State     PermissionState `json:"state"`
	ByHand    bool            `json:"by_hand"` // approving the plugin does not grant it
}

// Refusal is something that a plugin was refused, which a grant would allow. Its name comes from the
// plugin: the person decides about what is shown.
type Refusal struct {
	Permission string `json:"permission"`
	Path       string `json:"path"` // of filesystem: the folder or file
	Write      bool   `json:"write"`
	Listing    bool   `json:"listing,omitempty"` // a folder was to be listed
	Command    string `json:"command"`           // that allows it
}

// Problem is why a plugin did not load.
type Problem struct {
	Kind    string   `json:"kind"`
	Message string   `json:"message" say:"true"`
	Type    string   `json:"type"`
	File    string   `json:"file"`
	Line    int      `json:"line"` // from 1; 0 when there is no place
	Column  int      `json:"column"`
	Frame   string   `json:"frame"` // a few lines of source with the place marked
	Hint    string   `json:"hint" say:"true"`
	Missing []string `json:"missing"` // packages that are not installed
	Stderr  string   `json:"stderr"`

	Program     string   `json:"program"`     // a command that was not found, for which a person can choose one
	Install     string   `json:"install"`     // the command of this system that installs what is missing
	Permissions []string `json:"permissions"` // what it lacks
}

// NewProblem returns the view of a problem, without hidden characters; nil of nil.
func NewProblem(p *plugin.Problem) *Problem {
	if p == nil {
		return nil
	}
	v := Problem(*p)
	v.Message, v.Frame, v.Stderr = clean(v.Message), clean(v.Frame), clean(v.Stderr)
	v.Missing, v.Permissions = List(v.Missing), List(v.Permissions)
	return &v
}

// Place returns “file:line: ”, with as much of the place as is known.
func (p *Problem) Place() string {
	switch {
	case p.File == "":
		return ""
	case p.Line == 0:
		return p.File + ": "
	}
	return p.File + ":" + strconv.Itoa(p.Line) + ": "
}

// Remote reports whether a plugin is a program that registered its tools: it has an address in
// place of a path.
func Remote(s plugin.Status) bool {
	at, err := url.Parse(s.Path)
	return err == nil && at.Host != ""
}

// NewPlugin returns the view of a plugin. about is what the gate knows of it.
func NewPlugin(s plugin.Status, about gate.About) Plugin {
	m := s.Manifest
	v := Plugin{
		ID: s.ID, Name: m.Name, Version: m.Version, Description: m.Description, Author: m.Author,
		Homepage: m.Homepage, Dialect: m.Dialect, Path: s.Path, Remote: Remote(s), State: s.State,
		Enabled: s.State != plugin.Disabled, Problem: NewProblem(s.Problem), Serving: s.Serving,
		LastGood: s.LastGood, Tools: []string{}, About: List(s.About),
		Permissions: PermissionNames{List(m.Permissions), List(s.Granted), List(s.Denied)},
		Asks:        permissions(m.Permissions, s.Granted, s.Denied),
		Folders:     List(s.Folders), Hosts: List(s.Hosts), Ports: List(s.Ports), Programs: List(s.Programs),
		Capabilities: List(about.Capabilities), Isolation: s.Isolation.Level,
		IsolationNote: s.IsolationNote(), FoundNote: s.FoundNote(), LoadMS: Milliseconds(s.Load),
		Generation: s.Generation, Loaded: Time{s.Loaded}, LastUsed: Time{s.LastUsed},
		Running: s.Running, Health: Health{s.Running, s.Calls, s.Errors, s.Usage.Memory, Milliseconds(s.Usage.CPU)},
		Notices:  List(slices.Concat(m.Notices, s.Notes, about.Shadowing)),
		OwnFiles: s.OwnFiles, Developing: about.Developing, Shipped: about.Shipped, Digest: s.Digest, Shown: s.Shown,
		Packages: NewPackages(s), Settings: len(s.Options) > 0, SignedIn: s.SignedIn,
		SignInPage: s.SignInPage, SignInServices: s.SignInServices, AtOnce: s.AtOnce, AtOnceSet: s.AtOnceSet,
		IdleMinutes: int(s.Facts.Idle.Minutes()), KeepRunning: s.KeepRunning,
		OnlyWords: s.OnlyWords, KeepWords: s.KeepWords,
	}
	if !m.WorkingCopy {
		v.Origin = clean(s.Origin)
	}
	v.Refused = Map(s.Refused, func(r plugin.Refusal) Refusal {
		return Refusal{r.Permission, r.Path, r.Write, r.Listing, r.Command(s.ID)}
	})
	// What waits may lie in the same files: a server says other things of its tools at its next start.
	if s.Serving && (s.Problem != nil || s.LastGood || s.State == plugin.Quarantined) {
		v.ServingSince = v.Loaded
	}
	v.Warnings = slices.Clone(v.Notices)
	if disclosure := s.Disclosure(); disclosure != "" {
		v.Warnings = append(v.Warnings, disclosure)
	}
	for _, t := range s.Tools {
		v.Tools = append(v.Tools, t.ID())
		for _, w := range t.Warnings {
			v.Warnings = append(v.Warnings, t.Name+": "+w)
		}
	}
	return v
}

// permissions are the permissions that a plugin asks for, in its order, and the others that were
// granted or denied. No manifest asks for addresses of the person's network: they come with those of
// the web.
func permissions(asked, granted, denied []string) []Permission {
	names := slices.Clone(asked)
	if slices.Contains(asked, gate.Web) {
		names = append(names, gate.LocalNetwork)
	}
	names = slices.Concat(names, granted, denied)
	out := []Permission{}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			continue
		}
		state := PermissionAsked
		switch {
		case slices.Contains(granted, name):
			state = PermissionGranted
		case slices.Contains(denied, name):
			state = PermissionDenied
		}
		f := gate.Describe(name)
		out = append(out, Permission{
			name, f.Sentence, f.Without, f.Risk, f.Supported, state, gate.ManualOnly(name),
		})
	}
	return out
}

// PluginDetail is a plugin with all that a person reads before they approve it.
type PluginDetail struct {
	Plugin
	// As they would reach a model: whole descriptions, hidden characters removed.
	Details []Tool `json:"tool_details"`
	// false: the tools were read from the files; there may be more when it runs.
	Listed        bool          `json:"listed"`
	Files         []string      `json:"files"`
	Imports       []string      `json:"imports"`
	Changes       []gate.Change `json:"changes"`        // quarantined: what differs from what was approved
	HiddenRemoved int           `json:"hidden_removed"` // hidden characters removed from the texts of its tools
	Marks         []gate.Mark   `json:"marks"`          // where those stood
}

// NewPluginDetail returns a plugin with its tools and the names of its files.
func NewPluginDetail(s plugin.Status, v Plugin, tools []Tool, files []string) PluginDetail {
	d := PluginDetail{
		Plugin: v, Details: tools, Listed: s.Listed, Files: List(files),
		Imports: List(s.Imports), Changes: List(s.Changes), Marks: []gate.Mark{},
	}
	for _, t := range s.Tools {
		d.HiddenRemoved += t.Hidden
		for _, line := range t.Marked {
			d.Marks = append(d.Marks, gate.Mark{Where: t.Name, Text: line})
		}
	}
	return d
}

// LogLine is one line of a plugin's log.
type LogLine struct {
	N      uint64   `json:"n"` // growing within one start of Conclave
	Plugin string   `json:"plugin,omitempty"`
	Time   Time     `json:"time"`
	Level  LogLevel `json:"level"`
	Text   string   `json:"text"`           // without hidden characters
	Call   string   `json:"call,omitempty"` // the call that wrote it
}

// LogLevel is the importance of a line of a log.
type LogLevel string

// The levels of a log.
const (
	LogDebug LogLevel = "debug"
	LogInfo  LogLevel = "info"
	LogWarn  LogLevel = "warn"
	LogError LogLevel = "error"
)

// NewLogLine returns the view of a line that a plugin wrote.
func NewLogLine(of string, l plugin.LogLine) LogLine {
	return LogLine{l.N, of, Time{l.Time}, LogLevel(l.Level), clean(l.Text), l.Call}
}
