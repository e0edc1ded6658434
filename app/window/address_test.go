package window

import (
	"net/url"
	"testing"
)

func TestNoAddressIsRefusedForItsCharacters(t *testing.T) {
	for address, want := range map[string]string{
		"https://a.example/~me/(one)?q=a;b&x=y!#$z": "https://a.example/%7Eme/%28one%29?q=a%3Bb&x=y%21#%24z",
		"http://[::1]:8080/a":                       "http://[::1]:8080/a",
		"mailto:me@a.example?subject=a%20b":         "mailto:me@a.example?subject=a%20b",
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if got := withoutShell(u); got != want {
			t.Errorf("%s is opened as %s", address, got)
		}
	}
}
