package host

import (
	"context"
	"maps"
	"testing"

	"conclave/app/base/fault"
)

// keptSecrets are Secrets in memory.
type keptSecrets map[string]string

func (k keptSecrets) Get(_ context.Context, name string) (string, error) {
	if secret, ok := k[name]; ok {
		return secret, nil
	}
	return "", fault.New(fault.NotFound, "secrets", "There is no secret "+name+".", "")
}

func (k keptSecrets) Set(_ context.Context, name, secret string) error {
	k[name] = secret
	return nil
}

func (k keptSecrets) Delete(_ context.Context, name string) error {
	delete(k, name)
	return nil
}

func TestNoTwoPluginsShareTheNameOfASecret(t *testing.T) {
	names := map[string]string{}
	for _, id := range []string{"a", "a-option-b", "b", "option", "b-option-c-option-d"} {
		for _, path := range []string{"b-option-c", "c", "option/c", "b/option/c", "c-option-d", "d"} {
			name := secretName(id, path)
			if other, taken := names[name]; taken {
				t.Errorf("%q is the secret %s of %s, and %s", name, path, id, other)
			}
			names[name] = path + " of " + id
		}
	}
}

func TestSecretsOfEarlierVersionsAreFoundUnlessTheyCouldBeAnothersToo(t *testing.T) {
	for name, c := range map[string]struct {
		kept     keptSecrets
		id, path string
		want     string // "" for not found
		after    keptSecrets
	}{
		"moved": {
			keptSecrets{"plugin-a-option-token": "x"}, "a", "token", "x", keptSecrets{"plugin/a/option/token": "x"},
		},
		"kept under its name": {
			keptSecrets{"plugin/a/option/token": "x"}, "a", "token", "x", keptSecrets{"plugin/a/option/token": "x"},
		},
		"could be another's": {
			keptSecrets{"plugin-a-option-b-option-c": "x"},
			"a-option-b", "c", "",
			keptSecrets{"plugin-a-option-b-option-c": "x"},
		},
		"not set": {keptSecrets{}, "a", "token", "", keptSecrets{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readSecret(t.Context(), c.kept, c.id, c.path)
			if got != c.want || (fault.KindOf(err) == fault.NotFound) != (c.want == "") {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
			if !maps.Equal(c.kept, c.after) {
				t.Errorf("kept %v, want %v", c.kept, c.after)
			}
		})
	}
	kept := keptSecrets{"plugin-a-option-token": "x", "plugin/a/option/token": "y"}
	if err := forgetSecret(t.Context(), kept, "a", "token"); err != nil || len(kept) > 0 {
		t.Errorf("forgetting left %v, %v", kept, err)
	}
}
