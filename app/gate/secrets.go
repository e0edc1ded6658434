package gate

import (
	"context"
	"slices"
	"strings"

	"conclave/app/base/fault"
)

// GrantSecret lets a plugin have a secret sent to hosts. It replaces the hosts that were granted
// for that secret before. Whoever keeps the secret checks name and hosts.
func (r *Reach) GrantSecret(ctx context.Context, plugin, name string, hosts []string) error {
	rule := Rule{
		Effect: Allow, Plugin: plugin, Permission: lending, Scope: Always,
		Match: []Match{
			{Field: secretField, Op: Equals, Value: name}, {Field: hostField, Op: OneOf, Values: slices.Clone(hosts)},
		},
	}
	if err := r.places.ready(&rule); err != nil {
		return err
	}
	if _, err := r.revokeSecret(ctx, plugin, name); err != nil {
		return err
	}
	_, err := r.rules.Add(ctx, rule)
	return err
}

// RevokeSecret takes the grant of a secret back. The error's kind is not_found if there is none.
func (r *Reach) RevokeSecret(ctx context.Context, plugin, name string) error {
	gone, err := r.revokeSecret(ctx, plugin, name)
	if err == nil && len(gone) == 0 {
		return fault.New(fault.NotFound, "gate.secret", plugin+" was not given a secret "+shown(name)+".",
			"conclave permissions list shows what it was given.")
	}
	return err
}

func (r *Reach) revokeSecret(ctx context.Context, plugin, name string) ([]Rule, error) {
	return r.rules.revokeWhere(ctx, plugin, func(old *Rule) bool {
		l, ok := old.secret()
		return ok && l.Name == name
	})
}

// GrantedSecrets returns the secrets granted to a plugin, by name.
func (r *Reach) GrantedSecrets(plugin string) []GrantedSecret {
	all := []GrantedSecret{}
	for _, rule := range r.rules.permissionRules(plugin) {
		if l, ok := rule.secret(); ok {
			all = append(all, l)
		}
	}
	slices.SortFunc(all, func(a, b GrantedSecret) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// SecretHosts returns the hosts to which a plugin may have a secret sent, none if it was not
// granted.
func (r *Reach) SecretHosts(plugin, name string) []string {
	for _, l := range r.GrantedSecrets(plugin) {
		if l.Name == name {
			return l.Hosts
		}
	}
	return nil
}
