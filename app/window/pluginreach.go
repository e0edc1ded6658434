package window

import (
	"cmp"
	"context"
	"slices"

	"conclave/app/base/language"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/view"
)

// PluginReach describes what a plugin was given beyond its own folder, one by one.
type PluginReach struct {
	Hosts    []ReachRuleView   `json:"hosts"`
	Ports    []ReachRuleView   `json:"ports"`    // of this computer, on which it may listen
	Programs []string          `json:"programs"` // their files
	Secrets  []ReachSecretView `json:"secrets"`
	// What it can be given: of the others, its processes have no use.
	CanHosts    bool `json:"can_hosts"`
	CanPorts    bool `json:"can_ports"`
	CanFiles    bool `json:"can_files"`
	CanPrograms bool `json:"can_programs"`
	CanSecrets  bool `json:"can_secrets"`
}

// ReachRuleView is a rule about a host or a port.
type ReachRuleView struct {
	Sentence string `json:"sentence" say:"true"`
	Rule     string `json:"rule"`
}

// ReachSecretView is a secret that a plugin has sent and does not see.
type ReachSecretView struct {
	Name  string   `json:"name"`
	Hosts []string `json:"hosts"`
}

// Reach returns what a plugin was given beyond its own folder.
func (p *Plugins) Reach(id string) (PluginReach, error) {
	s, err := p.core.Host.Status(id)
	if err != nil {
		return PluginReach{}, err
	}
	g := p.core.Gate
	usable := func(permission string) bool { return g.Reach.Usable(s.ID, permission) == nil }
	hosts := hostPermission(g, s)
	hostRules, portRules := g.Reach.Single(s.ID)
	rule := func(r gate.Rule) ReachRuleView { return ReachRuleView{gate.Sentence(r, s.Manifest.Name) + ".", r.ID} }
	return language.Shown(PluginReach{
		Hosts: view.Map(hostRules, rule), Ports: view.Map(portRules, rule),
		Programs: view.List(g.Reach.Programs(s.ID)),
		Secrets: view.Map(g.Reach.GrantedSecrets(s.ID), func(l gate.GrantedSecret) ReachSecretView {
			return ReachSecretView{l.Name, l.Hosts}
		}),
		CanHosts: hosts != "", CanPorts: usable(gate.Listen), CanFiles: usable(gate.Filesystem),
		CanPrograms: usable(gate.Programs),
		CanSecrets:  hosts == gate.Web,
	}), nil
}

// hostPermission returns the permission by which a plugin connects to hosts: by itself, or by
// asking Conclave; empty if it has neither way.
func hostPermission(g *gate.Gate, s plugin.Status) string {
	switch {
	case g.Reach.Usable(s.ID, gate.Network) == nil:
		return gate.Network
	case slices.Contains(s.Manifest.Permissions, gate.Web):
		return gate.Web
	}
	return ""
}

// AllowHost lets a plugin connect to a host; with below, to the names below it too.
func (p *Plugins) AllowHost(id, host string, below bool) error {
	op := gate.HostIs
	if below {
		op = gate.HostSuffix
	}
	return p.of(id, func(ctx context.Context, s plugin.Status) error {
		// Without a way out, the gate says what does the same.
		permission := cmp.Or(hostPermission(p.core.Gate, s), gate.Network)
		return p.core.Gate.Reach.AllowHost(ctx, s.ID, permission, gate.Allow, op, host)
	})
}

// AllowPort lets a plugin listen on a port of this computer; 0 is any that is free.
func (p *Plugins) AllowPort(id, port string) error {
	return p.of(id, func(ctx context.Context, s plugin.Status) error {
		return p.core.Gate.Reach.AllowPort(ctx, s.ID, port)
	})
}

// AllowProgram lets a plugin start a program: a name on the person's PATH, or a file.
func (p *Plugins) AllowProgram(id, program string) error {
	return p.of(id, func(ctx context.Context, s plugin.Status) error {
		_, err := p.core.Gate.Reach.AllowProgram(ctx, s.ID, program)
		return err
	})
}

// RevokeProgram takes a program back from a plugin.
func (p *Plugins) RevokeProgram(id, program string) error {
	return p.core.Gate.Reach.RevokeProgram(p.call(), id, program)
}

// GiveSecret lets a plugin have a secret sent to hosts, without seeing it.
func (p *Plugins) GiveSecret(id, name, value string, hosts []string) error {
	return p.of(id, func(ctx context.Context, s plugin.Status) error {
		return p.core.Secrets.Give(ctx, s.ID, name, value, hosts)
	})
}

// ForgetSecret takes a secret back from a plugin, and deletes it.
func (p *Plugins) ForgetSecret(id, name string) error {
	return p.core.Secrets.Forget(p.call(), id, name)
}
