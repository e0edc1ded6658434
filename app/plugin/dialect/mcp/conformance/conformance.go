// Package conformance is the client that the protocol's conformance suite
// (@modelcontextprotocol/conformance) starts: it does at a server what a scenario asks for, with the
// session and the sign-in that plugins have. Read Run first.
package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"conclave/app/base/fault"
	"conclave/app/plugin/dialect/mcp/auth"
	"conclave/app/plugin/dialect/mcp/client"
	"conclave/app/tool/elicit"
)

// document is the client ID metadata document that the suite expects.
const document = "https://conformance-test.local/client-metadata.json"

// Scenario names what the suite wants done. Its third variable, MCP_CONFORMANCE_PROTOCOL_VERSION, is not
// read: the client finds out itself what a server speaks, as it does for a person.
type Scenario struct {
	Name    string          // MCP_CONFORMANCE_SCENARIO
	Context json.RawMessage // MCP_CONFORMANCE_CONTEXT; may be empty
}

// FromEnvironment returns the scenario of the environment.
func FromEnvironment(getenv func(string) string) Scenario {
	return Scenario{
		Name: getenv("MCP_CONFORMANCE_SCENARIO"), Context: json.RawMessage(getenv("MCP_CONFORMANCE_CONTEXT")),
	}
}

// facts are the parts of a scenario's context that a client needs.
type facts struct {
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	ToolCalls    []struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"toolCalls"`
}

// Run does what s asks for at the server at address, and writes what happened to log, a line each. The
// error is that of the first thing that did not work.
func Run(ctx context.Context, address string, s Scenario, log io.Writer) error {
	var known facts
	if len(s.Context) > 0 {
		if err := json.Unmarshal(s.Context, &known); err != nil {
			return fmt.Errorf("read MCP_CONFORMANCE_CONTEXT: %w", err)
		}
	}
	account, err := signer(address, known)
	if err != nil {
		return err
	}
	var writing sync.Mutex
	o := client.Options{
		Form: true, URL: true, Sampling: true,
		Roots: func() []client.Root { return []client.Root{} },
		Ask: func(_ context.Context, q client.Question) (client.Reply, error) {
			if q.Kind == client.Sampling {
				return client.Reply{Action: client.Accept, Generated: &client.Generated{
					Model: "none", Reason: "endTurn", Blocks: []client.Block{{Type: client.TextBlock, Text: "A text."}},
				}}, nil
			}
			return client.Reply{Action: client.Accept, Values: agreed(q.Fields)}, nil
		},
		Log: func(level, text string) {
			writing.Lock()
			defer writing.Unlock()
			_, _ = fmt.Fprintln(log, level, text)
		},
		ToolsChanged: func() {},
	}
	session, err := client.OverHTTP(ctx, address, &http.Client{Transport: account}, o)
	if err != nil {
		return err
	}
	defer session.Close()
	return visit(ctx, session, s, known)
}

// agreed returns true for each required boolean; other fields are left to their defaults.
func agreed(fields []client.Field) map[string]any {
	values := map[string]any{}
	for _, f := range fields {
		if f.Type == "boolean" && f.Default == nil {
			values[f.Name] = true
		}
	}
	values, _ = elicit.Check(fields, values) // as the desk does
	return values
}

// signer returns the account that signs in at the server, without a person.
func signer(address string, known facts) (*auth.Account, error) {
	o := auth.Options{Server: address, Keys: &memory{values: map[string]string{}}, Document: document}
	if known.ClientID != "" {
		o.Client = &auth.Client{ID: known.ClientID, Secret: known.ClientSecret}
	}
	var account *auth.Account
	o.Ask = func(ctx context.Context, _ *auth.NeedsSignIn) error {
		return account.SignIn(ctx, auth.Person{Open: open})
	}
	account, err := auth.New(o)
	return account, err
}

// open is a browser of a person who agrees: it follows the redirects, in the background.
func open(ctx context.Context, address string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	go func() { // ends with ctx, which ends with the sign-in
		if response, err := http.DefaultClient.Do(request); err == nil {
			_ = response.Body.Close()
		}
	}()
	return nil
}

// visit lists everything, and makes the calls of the scenario.
func visit(ctx context.Context, session *client.Session, s Scenario, known facts) error {
	tools, _, err := session.Tools(ctx)
	if err != nil {
		return err
	}
	if len(known.ToolCalls) > 0 {
		for _, c := range known.ToolCalls {
			if _, err := session.Call(ctx, client.Call{Tool: c.Name, Arguments: c.Arguments}); err != nil {
				return err
			}
		}
		return nil
	}
	for range calls(s.Name) {
		for _, t := range tools {
			_, err := session.Call(ctx, client.Call{Tool: t.Name, Arguments: arguments(t, tools), Task: t.Task})
			if err != nil {
				return err
			}
		}
	}
	return look(ctx, session)
}

// calls returns how often each tool is called: a sign-in service changes between two calls.
func calls(scenario string) int {
	if scenario == "auth/authorization-server-migration" {
		return 2
	}
	return 1
}

// arguments returns arguments for a tool of the suite.
func arguments(t client.Tool, all []client.Tool) json.RawMessage {
	if strings.Contains(string(t.Schema), `"schema"`) && !strings.Contains(string(t.Schema), "$defs") {
		for _, other := range all {
			if strings.Contains(string(other.Schema), "$defs") {
				return json.RawMessage(`{"schema":` + string(other.Schema) + `}`)
			}
		}
	}
	if t.Name == "add_numbers" {
		return json.RawMessage(`{"a":5,"b":3}`)
	}
	return nil
}

// look reads a resource and a prompt of each kind that the server lists.
func look(ctx context.Context, session *client.Session) error {
	resources, err := session.Resources(ctx)
	if err != nil {
		return err
	}
	for _, r := range resources {
		if _, err := session.Read(ctx, r.URI); err != nil {
			return err
		}
	}
	prompts, err := session.Prompts(ctx)
	if err != nil {
		return err
	}
	for _, p := range prompts {
		if _, err := session.Prompt(ctx, p.Name, nil); err != nil {
			return err
		}
	}
	return nil
}

// memory keeps secrets for one run.
type memory struct {
	mu     sync.Mutex // guards values
	values map[string]string
}

var errNone = fault.New(fault.NotFound, "conformance", "There is no such key.", "")

// Get implements auth.Keys.
func (m *memory) Get(_ context.Context, name string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, ok := m.values[name]
	if !ok {
		return "", errNone
	}
	return value, nil
}

// Set implements auth.Keys.
func (m *memory) Set(_ context.Context, name, secret string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values[name] = secret
	return nil
}

// Delete implements auth.Keys.
func (m *memory) Delete(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.values, name)
	return nil
}
