package gate

import (
	"context"
	"slices"
	"strings"
)

// GrantSecret lets a plugin have a secret sent to hosts. It replaces the hosts that were granted
// for that secret before. Whoever keeps the secret checks name and hosts.
func (r *Reach) GrantSecret(ctx context.Context, plugin, name string, hosts []string) error {
	rule := Rule{
		Effect: Allow, Plugin: plugin, Permission: secretPermission, Scope: Always,
		Match: []Match{
			{Field: secretField, Op: Equals, Value: name}, {Field: hostField, Op: OneOf, Values: slices.Clone(hosts)},
		},
	}
	return r.rules.replace(ctx, rule, ofSecret(name))
}

// RevokeSecret takes the grant of a secret back. The error's kind is not_found if there is none.
func (r *Reach) RevokeSecret(ctx context.Context, plugin, name string) error {
	gone, err := r.rules.revokeWhere(ctx, plugin, ofSecret(name))
	if err == nil && len(gone) == 0 {
		return notGiven(plugin, "a secret "+shown(name))
	}
	return err
}

func ofSecret(name string) func(*Rule) bool {
	return func(rule *Rule) bool {
		l, ok := rule.secret()
		return ok && l.Name == name
	}
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
