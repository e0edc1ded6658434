package model

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/app/net/loopback"
)

// Server is a model server that answered on this computer.
type Server struct {
	Kind    string   `json:"kind"`  // of the connection it takes: ollama or openai
	Title   string   `json:"title"` // the program, by its own reply
	Version string   `json:"version,omitempty"`
	URL     string   `json:"url"` // what the connection's URL should be
	Models  []string `json:"models"`
	// User is another user of this computer whose program it is, and who may not serve unless
	// the person says so (Connection.ServedBy); empty of all others.
	User string `json:"user,omitempty"`
}

// Name returns the program, and whose it is.
func (s Server) Name() string {
	if s.User == "" {
		return s.Title
	}
	return s.Title + " of " + userWord(s.User)
}

// userWord names a user in a sentence.
func userWord(user string) string {
	if user == unknownUser {
		return "an unknown user"
	}
	return "the user " + user
}

// Scanner looks for model servers on this computer. The zero value looks where
// the known ones listen.
type Scanner struct {
	// Ports to ask; empty is the usual ones: Ollama 11434, LM Studio 1234,
	// llama.cpp 8080, Jan 1337, vLLM 8000, KoboldCpp 5001, GPT4All 4891.
	Ports []int
	// Limit bounds what one port may take; 0 = 400 ms, which a local server that
	// is not busy never needs.
	Limit time.Duration
}

var usualPorts = []int{11434, 1234, 8080, 1337, 8000, 5001, 4891}

// Scan asks the loopback addresses alone, all ports at once, and returns who
// answered as a model server, in the order of the ports. A server is known by
// what it replies: another program on a known port is not taken for one, and a
// known one on another's port is called by its name. The only error is ctx's
// cause.
func (s Scanner) Scan(ctx context.Context) ([]Server, error) {
	ports := s.Ports
	if len(ports) == 0 {
		ports = usualPorts
	}
	limit := cmp.Or(s.Limit, 400*time.Millisecond)
	client := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true, DialContext: (&net.Dialer{}).DialContext}, // no proxy
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	found := make([]*Server, len(ports))
	var wg sync.WaitGroup
	for i, port := range ports {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, limit)
			defer cancel()
			found[i] = askPort(ctx, client, port)
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	servers := []Server{}
	for _, f := range found {
		if f != nil {
			servers = append(servers, *f)
		}
	}
	return servers, nil
}

// askPort asks one port all questions at once; the first connection decides
// whether anybody listens, on IPv4 or else on IPv6.
func askPort(ctx context.Context, client *http.Client, port int) *Server {
	base, user := "", ""
	for _, host := range []string{"127.0.0.1", "[::1]"} {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", fmt.Sprintf("%s:%d", host, port))
		if err == nil {
			if peer := loopback.PeerOf(conn); !admits(peer, "") {
				user = cmp.Or(peer.User(), unknownUser)
			}
			conn.Close()
			base = fmt.Sprintf("http://%s:%d", host, port)
			break
		}
	}
	if base == "" {
		return nil
	}
	paths := []string{
		"/", "/api/version", "/api/tags", "/lmstudio-greeting", "/api/extra/version", "/props", "/version", "/openapi.json",
		"/v1/models",
	}
	replies := make([]reply, len(paths))
	var wg sync.WaitGroup
	for i, path := range paths {
		wg.Go(func() { replies[i] = get(ctx, client, base+path) })
	}
	wg.Wait()
	said := map[string]reply{}
	for i, path := range paths {
		said[path] = replies[i]
	}
	server := recognize(base, said)
	if server != nil {
		server.User = user
		server.Version = line(server.Version, maxTitle)
		server.Models = slices.DeleteFunc(server.Models, func(id string) bool { return !showable(id) })
	}
	return server
}

// reply holds the answer of one path; the zero value is nothing of use.
type reply struct {
	status int
	server string // the Server header
	body   []byte
}

func get(ctx context.Context, client *http.Client, address string) reply {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return reply{}
	}
	response, err := client.Do(request)
	if err != nil {
		return reply{}
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<20)) // more is no greeting
	if err != nil {
		return reply{}
	}
	return reply{response.StatusCode, response.Header.Get("Server"), body}
}

// greeting holds what the programs say of themselves.
type greeting struct {
	Version   string          `json:"version"`    // Ollama /api/version, vLLM /version
	LMStudio  bool            `json:"lmstudio"`   // LM Studio /lmstudio-greeting: {"lmstudio":true}
	Result    string          `json:"result"`     // KoboldCpp /api/extra/version: {"result":"KoboldCpp","version":"1.99"}
	BuildInfo string          `json:"build_info"` // llama.cpp /props
	Settings  json.RawMessage `json:"default_generation_settings"`
	Info      struct {        // Jan /openapi.json: {"info":{"title":"Jan API Server Endpoints"}}
		Title   string `json:"title"`
		Version string `json:"version"`
	} `json:"info"`
	Models []struct { // Ollama /api/tags
		Name string `json:"name"`
	} `json:"models"`
	Data []struct { // the OpenAI list
		ID      string `json:"id"`
		Object  string `json:"object"`
		OwnedBy string `json:"owned_by"`
	} `json:"data"`
	Object string `json:"object"`
}

func (r reply) greeting() greeting {
	var g greeting
	if r.status == http.StatusOK {
		_ = json.Unmarshal(r.body, &g) // what it cannot read stays empty
	}
	return g
}

func recognize(base string, said map[string]reply) *Server {
	list := said["/v1/models"].greeting()
	isList := list.Object == "list" || len(list.Data) > 0 && list.Data[0].Object == "model"
	owner := ""
	models := []string{}
	for _, m := range list.Data {
		models = append(models, m.ID)
		owner = cmp.Or(owner, strings.ToLower(m.OwnedBy))
	}
	slices.Sort(models)
	like := func(title, version string) *Server {
		return &Server{Kind: "openai", Title: title, Version: version, URL: base + "/v1", Models: models}
	}
	props := said["/props"].greeting()
	kobold := said["/api/extra/version"].greeting()
	jan := said["/openapi.json"].greeting().Info
	switch {
	case kobold.Result == "KoboldCpp": // first, since it also plays Ollama
		return like("KoboldCpp", kobold.Version)
	case strings.HasPrefix(string(said["/"].body), "Ollama is running"):
		models = models[:0]
		for _, m := range said["/api/tags"].greeting().Models {
			models = append(models, m.Name)
		}
		slices.Sort(models)
		return &Server{
			Kind: "ollama", Title: "Ollama", Version: said["/api/version"].greeting().Version, URL: base, Models: models,
		}
	case said["/lmstudio-greeting"].greeting().LMStudio:
		return like("LM Studio", "")
	case strings.HasPrefix(jan.Title, "Jan API"):
		return like("Jan", jan.Version)
	case !isList:
		return nil
	case strings.HasPrefix(said["/v1/models"].server, "llama.cpp") || owner == "llamacpp" || len(props.Settings) > 0:
		return like("llama.cpp", props.BuildInfo)
	case owner == "vllm":
		return like("vLLM", said["/version"].greeting().Version)
	case owner == "humanity": // sic: GPT4All's server
		return like("GPT4All", "")
	}
	return like("A model server", "")
}
