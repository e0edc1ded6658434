package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Revisions of the protocol that this package speaks, the newest first.
var (
	modernVersions = []string{v2026}
	legacyVersions = []string{v2025b, v2025a, v2025, v2024}
)

const (
	v2026  = "2026-07-28"
	v2025b = "2025-11-25"
	v2025a = "2025-06-18"
	v2025  = "2025-03-26"
	v2024  = "2024-11-05"
)

// feature is something that came with a revision.
type feature string

const (
	elicitation   feature = "elicitation"
	urlQuestions  feature = "url elicitation"
	samplingTools feature = "sampling with tools"
	legacyTasks   feature = "tasks of 2025-11-25"
	inputRequests feature = "input requests in results"
	listenStream  feature = "subscriptions/listen"
	httpHeaders   feature = "headers that repeat the request"
	taskExtension feature = "tasks as an extension"
)

// since names the revision each feature came with.
var since = map[feature]string{
	elicitation: v2025a, urlQuestions: v2025b, samplingTools: v2025b, legacyTasks: v2025b,
	inputRequests: v2026, listenStream: v2026, httpHeaders: v2026, taskExtension: v2026,
}

// until names the last revision of features that were removed.
var until = map[feature]string{legacyTasks: v2025b}

// Has reports whether the revision that the session speaks has the feature.
func (i *Info) has(f feature) bool {
	last, ended := until[f]
	return i.Version >= since[f] && (!ended || i.Version <= last)
}

// Codes of 2026-07-28, basic/index, and of 2025-11-25.
const (
	codeHeaders      = -32020
	codeCapability   = -32021
	codeVersion      = -32022
	codeURLRequired  = -32042
	codeNotFound     = -32002
	codeUserRejected = -1
)

// modernError reports whether only a modern server sends err.
func modernError(err *jsonrpc.Error) bool { return err.Code <= codeHeaders && err.Code >= codeVersion }

var errSilent = errors.New("no answer to the first question")

// handshake begins a session, or begins it again.
type handshake struct{ *Session }

// greet does the handshake over a stream.
func (s handshake) greet(ctx context.Context, began <-chan struct{}) error {
	if s.o.Era == Legacy {
		err := s.initialize(ctx)
		if e := rpcError(err); e != nil && e.Code != jsonrpc.CodeInternalError {
			return cmpError(s.discover(ctx), err) // it may have become modern
		}
		return err
	}
	probe, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s.work.start(func() { s.limitProbe(probe, began, stop) }) // ends with probe
	err := s.discover(probe)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, ErrVersion):
		return err
	case s.Err() != nil:
		if _, junk := errors.AsType[*JunkError](s.Err()); junk {
			return s.Err()
		}
		return fmt.Errorf("%w: %w", ErrStartAgain, s.Err())
	}
	return s.initialize(ctx)
}

// cmpError returns nil when first is, else second.
func cmpError(first, second error) error {
	if first == nil {
		return nil
	}
	return second
}

// limitProbe ends the first question: old servers that do not know it may never answer.
func (s handshake) limitProbe(ctx context.Context, began <-chan struct{}, stop context.CancelCauseFunc) {
	limit := time.NewTimer(s.o.Limits.FirstByte)
	defer limit.Stop()
	select {
	case <-began:
	case <-limit.C:
	case <-ctx.Done():
		return
	}
	limit.Reset(s.o.Limits.Probe)
	select {
	case <-limit.C:
		stop(errSilent)
	case <-ctx.Done():
	}
}

// discover asks a modern server what it is.
func (s handshake) discover(ctx context.Context) error {
	before := s.speaks()
	version := modernVersions[0]
	for attempt := 0; ; attempt++ {
		s.server.Store(&Info{Era: Modern, Version: version, Transport: before.Transport})
		raw, err := s.request(ctx, sending{method: "server/discover"})
		if err == nil {
			if err = s.discovered(raw, before.Transport); err == nil {
				return nil
			}
		}
		s.server.Store(before)
		e := rpcError(err)
		if e == nil || e.Code != codeVersion || attempt == 2 {
			return err
		}
		supported := supportedVersions(e.Data)
		if version = firstOf(modernVersions, supported); version == "" {
			if firstOf(legacyVersions, supported) == "" && len(supported) > 0 {
				return versionError(supported)
			}
			return err
		}
	}
}

func supportedVersions(data json.RawMessage) []string {
	var d struct {
		Supported []string `json:"supported"`
	}
	_ = json.Unmarshal(data, &d) // what cannot be read names no version
	return d.Supported
}

func firstOf(ours, theirs []string) string {
	for _, v := range ours {
		if slices.Contains(theirs, v) {
			return v
		}
	}
	return ""
}

func versionError(theirs []string) error {
	return fmt.Errorf("%w: the server speaks %s, and Conclave %s", ErrVersion, strings.Join(theirs, ", "),
		strings.Join(slices.Concat(modernVersions, legacyVersions), ", "))
}

// implementation describes a server.
type implementation struct {
	Name       string `json:"name"`
	Title      string `json:"title"`
	Version    string `json:"version"`
	WebsiteURL string `json:"websiteUrl"`
	Icons      Icons  `json:"icons"`
}

// describe fills i with what a server reports about itself.
func (i *Info) describe(server, capabilities json.RawMessage) {
	var d implementation
	_ = json.Unmarshal(server, &d) // a description that cannot be read is left out
	i.Name, i.Title, i.ServerVersion, i.Website, i.Icons = d.Name, d.Title, d.Version, d.WebsiteURL, d.Icons
	i.Implementation = server
	var c struct {
		Tools     *struct{ ListChanged bool } `json:"tools"`
		Prompts   *struct{ ListChanged bool } `json:"prompts"`
		Resources *struct {
			ListChanged, Subscribe bool
		} `json:"resources"`
		Completions *struct{}                  `json:"completions"`
		Logging     *struct{}                  `json:"logging"`
		Tasks       json.RawMessage            `json:"tasks"`
		Extensions  map[string]json.RawMessage `json:"extensions"`
	}
	_ = json.Unmarshal(capabilities, &c)
	i.Capabilities = Capabilities{
		Tools: c.Tools != nil, Resources: c.Resources != nil, Prompts: c.Prompts != nil,
		Completions: c.Completions != nil, Logging: c.Logging != nil,
		Subscribe:       c.Resources != nil && c.Resources.Subscribe,
		ToolsChange:     c.Tools != nil && c.Tools.ListChanged,
		PromptsChange:   c.Prompts != nil && c.Prompts.ListChanged,
		ResourcesChange: c.Resources != nil && c.Resources.ListChanged,
		Raw:             capabilities,
	}
	_, extension := c.Extensions[tasksExtension]
	i.Capabilities.Tasks = i.has(taskExtension) && extension || i.has(legacyTasks) && c.Tasks != nil
}

func (s handshake) discovered(raw json.RawMessage, transport string) error {
	var r struct {
		Versions     []string                   `json:"supportedVersions"`
		Capabilities json.RawMessage            `json:"capabilities"`
		Instructions string                     `json:"instructions"`
		ServerInfo   json.RawMessage            `json:"serverInfo"`
		Meta         map[string]json.RawMessage `json:"_meta"`
	}
	if err := json.Unmarshal(raw, &r); err != nil || len(r.Versions) == 0 {
		return errors.New("the server's description of itself cannot be read")
	}
	version := firstOf(modernVersions, r.Versions)
	if version == "" {
		if firstOf(legacyVersions, r.Versions) == "" {
			return versionError(r.Versions)
		}
		return errors.New("the server speaks only versions with a handshake")
	}
	i := &Info{Era: Modern, Transport: transport, Version: version, Instructions: r.Instructions}
	server := r.Meta[metaServer]
	if server == nil {
		server = r.ServerInfo
	}
	i.describe(server, r.Capabilities)
	s.server.Store(i)
	return nil
}

// initialize does the handshake of a legacy server.
func (s handshake) initialize(ctx context.Context) error {
	transport := s.speaks().Transport
	s.server.Store(&Info{Era: Legacy, Transport: transport})
	raw, err := s.request(ctx, sending{method: "initialize", params: map[string]any{
		"protocolVersion": v2025b, "clientInfo": s.o.Client,
		"capabilities": s.capabilities(&Info{Era: Legacy, Version: v2025b}),
	}})
	if err != nil {
		if e := rpcError(err); e != nil && e.Code == codeVersion {
			if theirs := supportedVersions(e.Data); firstOf(modernVersions, theirs) == "" {
				return versionError(theirs)
			}
		}
		return err
	}
	var r struct {
		Version      string          `json:"protocolVersion"`
		Capabilities json.RawMessage `json:"capabilities"`
		ServerInfo   json.RawMessage `json:"serverInfo"`
		Instructions string          `json:"instructions"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return fmt.Errorf("the server's description of itself cannot be read: %w", err)
	}
	if !slices.Contains(legacyVersions, r.Version) {
		return versionError([]string{r.Version})
	}
	i := &Info{Era: Legacy, Transport: transport, Version: r.Version, Instructions: r.Instructions}
	i.describe(r.ServerInfo, r.Capabilities)
	s.server.Store(i)
	s.notify("notifications/initialized", nil)
	if i.Capabilities.Logging {
		s.work.start(func() { // ends with its answer
			if err := s.SetLogLevel(s.ctx, s.level.Load().(string)); err != nil {
				s.logf("debug", "the server did not set the level of its log: %v", err)
			}
		})
	}
	return nil
}

// tasksExtension is the name of the extension for tasks.
const tasksExtension = "io.modelcontextprotocol/tasks"

// capabilities returns what this client can do, in the words of a revision.
func (s *Session) capabilities(speaks *Info) map[string]any {
	none := map[string]any{}
	all := map[string]any{}
	questions := map[string]any{}
	if s.o.Form {
		questions["form"] = none
	}
	if s.o.URL {
		questions["url"] = none
	}
	if len(questions) > 0 {
		all["elicitation"] = questions
	}
	if s.o.Sampling {
		all["sampling"] = map[string]any{"tools": none}
	}
	if s.o.Roots != nil {
		all["roots"] = none
		if speaks.Era == Legacy {
			all["roots"] = map[string]any{"listChanged": true}
		}
	}
	if speaks.has(taskExtension) {
		all["extensions"] = map[string]any{tasksExtension: none}
	}
	return all
}
