package gate

import (
	"context"
	"slices"
	"strings"

	"conclave/app/base/fault"
)

// LendSecret lets a plugin have a secret sent to hosts, and to no others that it was lent
// that secret for before. Whoever keeps the secret checks name and hosts.
func (r *Reach) LendSecret(ctx context.Context, plugin, name string, hosts []string) error {
	rule := Rule{
		Effect: Allow, Plugin: plugin, Permission: lending, Scope: Always,
		Match: []Match{
			{Field: secretField, Op: Equals, Value: name}, {Field: hostField, Op: OneOf, Values: slices.Clone(hosts)},
		},
	}
	if err := r.places.ready(&rule); err != nil {
		return err
	}
	if _, err := r.takeSecret(ctx, plugin, name); err != nil {
		return err
	}
	_, err := r.rules.Add(ctx, rule)
	return err
}

// TakeSecret takes a lent secret back. The kind is not_found when the plugin was not lent it.
func (r *Reach) TakeSecret(ctx context.Context, plugin, name string) error {
	gone, err := r.takeSecret(ctx, plugin, name)
	if err == nil && len(gone) == 0 {
		return fault.New(fault.NotFound, "permit.secret", plugin+" was not given a secret "+shown(name)+".",
			"conclave permissions list shows what it was given.")
	}
	return err
}

func (r *Reach) takeSecret(ctx context.Context, plugin, name string) ([]Rule, error) {
	return r.rules.revokeWhere(ctx, plugin, func(old *Rule) bool {
		l, ok := old.secret()
		return ok && l.Name == name
	})
}

// LentSecrets returns the secrets that a plugin is lent, by name.
func (r *Reach) LentSecrets(plugin string) []Lent {
	all := []Lent{}
	for _, rule := range r.rules.permissionRules(plugin) {
		if l, ok := rule.secret(); ok {
			all = append(all, l)
		}
	}
	slices.SortFunc(all, func(a, b Lent) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// SecretHosts returns the hosts that a plugin may have a secret sent to, none where it is not
// lent that.
func (r *Reach) SecretHosts(plugin, name string) []string {
	for _, l := range r.LentSecrets(plugin) {
		if l.Name == name {
			return l.Hosts
		}
	}
	return nil
}
