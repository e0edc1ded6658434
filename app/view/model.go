package view

import (
	"cmp"
	"slices"
	"strings"

	"conclave/app/model"
)

// Model is one model that can be chosen.
type Model struct {
	Name       string `json:"name"` // “connection/model”
	Connection string `json:"connection"`
	ID         string `json:"id"`
	Title      string `json:"title"`
	Provider   string `json:"provider"` // the kind of the connection
	Default    bool   `json:"default"`  // of new chats
	Tools      bool   `json:"tools"`
	Vision     bool   `json:"vision"`
	Reasoning  bool   `json:"reasoning"`
	Context    int64  `json:"context_tokens"` // 0 = not known
	// In US dollars for a million tokens; null = not known.
	Price *model.Price `json:"price"`
}

// NewModels returns models by connection, then title; chosen is the name of the default, and price returns
// what a model costs.
func NewModels(all []model.Info, chosen string, price func(model.Info) *model.Price) []Model {
	out := []Model{}
	for _, m := range all {
		out = append(out, Model{
			m.Name(), m.Connection, m.ID, m.Title, m.Provider, m.Name() == chosen, m.Can.Tools, m.Can.Vision,
			m.Can.Reasoning, m.Context, price(m),
		})
	}
	slices.SortStableFunc(out, func(a, b Model) int {
		return cmp.Or(cmp.Compare(a.Connection, b.Connection),
			cmp.Compare(strings.ToLower(a.Title), strings.ToLower(b.Title)))
	})
	return out
}

// LocalServer is a model server that answered on this computer.
type LocalServer struct {
	Kind       string `json:"kind"`
	Title      string `json:"title"`
	Name       string `json:"name"` // the title, with the other user of this computer who runs it
	Version    string `json:"version"`
	URL        string `json:"url"`
	Models     int    `json:"models"`
	User       string `json:"user"`       // another user of this computer who runs it; or ""
	Connection string `json:"connection"` // name of the connection that already uses it, or ""
}

// NewLocalServers returns the servers that a scan found; used are the connections of the person.
func NewLocalServers(servers []model.Server, used []model.Connection) []LocalServer {
	out := []LocalServer{}
	for _, s := range servers {
		v := LocalServer{s.Kind, s.Title, s.Name(), s.Version, s.URL, len(s.Models), s.User, ""}
		for _, c := range used {
			if strings.TrimRight(c.URL, "/") == strings.TrimRight(s.URL, "/") {
				v.Connection = c.Name
			}
		}
		out = append(out, v)
	}
	return out
}
