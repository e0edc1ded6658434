package httptools

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"conclave/app/plugin"
)

// from names the pool to the host.
const from = "programs that register tools over HTTP"

// row is the Row of a plugin: what makes it the one that a person approved.
type row struct {
	Source  string `json:"source"`
	Address string `json:"address"` // scheme, address and port of its callbacks
	Role    string `json:"role,omitempty"`
}

// listing is the Tools of a plugin.
type listing struct {
	Program string          `json:"program,omitempty"` // who registered them
	Tools   []*Registration `json:"tools"`
}

// plugin returns the id of the plugin that a registration belongs to: made of source and
// port, and, where these are not all of it, of a hash.
func (r *Registration) plugin() string {
	name, its := strings.CutPrefix(r.Source, "plugin:")
	id := plugin.LegalID(name)
	id = strings.Trim(id[:min(len(id), 32)], "_-")
	plain := id == name && (its || name == defaultSource) && r.Role == "" && r.origin() == "http://127.0.0.1:"+port(r)
	id = cmp.Or(id, "unnamed") + "-" + port(r)
	if plain {
		return id
	}
	return id + "-" + hash(r.Source, r.origin(), r.Role)[:8]
}

func port(r *Registration) string { return strconv.Itoa(int(r.Address.Port())) }

// group is one plugin as the host has it.
type group struct {
	source plugin.Source
	made   string // of what
}

// publish brings built in line with what is registered, and returns the ids of the plugins
// that changed. Unverified registrations are left out, and so are those that a later one of
// their name is in place of. The caller holds mu and working.
func (p *Pool) publish() (changed []string) {
	members := map[string][]*Registration{}
	if p.on {
		best := map[[2]string]*Registration{} // by name and role
		for _, r := range p.all {
			key := [2]string{r.Name, r.Role}
			if have := best[key]; have == nil || r.Order > have.Order {
				best[key] = r
			}
		}
		for _, r := range best {
			if r.live {
				members[r.plugin()] = append(members[r.plugin()], r)
			}
		}
	}
	next := make(map[string]group, len(members))
	for id, all := range members {
		slices.SortFunc(all, func(a, b *Registration) int { return cmp.Compare(a.Order, b.Order) })
		made := &strings.Builder{}
		for _, r := range all {
			fmt.Fprintf(made, "%d ", r.version)
		}
		if have, ok := p.built[id]; ok && have.made == made.String() {
			next[id] = have
			continue
		}
		next[id] = group{sourceOf(id, all), made.String()}
		changed = append(changed, id)
	}
	for id := range p.built {
		if _, still := next[id]; !still {
			changed = append(changed, id)
		}
	}
	p.built = next
	return changed
}

// sourceOf makes a plugin of its registrations.
func sourceOf(id string, all []*Registration) plugin.Source {
	l := listing{Program: all[len(all)-1].Program}
	for _, r := range all {
		one := *r
		one.Order = 0 // registered again as it was, it is the same tool
		l.Tools = append(l.Tools, &one)
	}
	first := all[0]
	what, err := json.Marshal(row{first.Source, first.origin(), first.Role})
	tools, err2 := json.Marshal(l)
	if err != nil || err2 != nil { // what was read as JSON can be written as such
		return plugin.Source{ID: id, Dialect: Name}
	}
	return plugin.Source{ID: id, Display: first.origin(), Dialect: Name, Row: string(what), Tools: string(tools)}
}

// publishTime bounds how long a program waits until the model's tools are what it
// registered (contracts/neko, item 48).
const publishTime = 5 * time.Second

// inform gives the host what there is now, and waits until it has taken what changed. The
// caller holds working.
func (p *Pool) inform(ctx context.Context, changed []string) error {
	if len(changed) == 0 {
		return nil
	}
	p.mu.Lock()
	all := make([]plugin.Source, 0, len(p.built))
	for _, id := range slices.Sorted(maps.Keys(p.built)) {
		all = append(all, p.built[id].source)
	}
	p.mu.Unlock()
	if err := p.o.Host.SetRegistered(from, all); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, publishTime)
	defer cancel()
	if err := p.o.Host.WaitLoaded(ctx, changed...); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}
