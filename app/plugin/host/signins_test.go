package host

import (
	"context"
	"errors"
	"testing"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/plugin"
)

// signsIn is a dialect whose plugins sign in.
type signsIn struct {
	plugin.Dialect
	in func(open func(context.Context, string) error) error
}

func (signsIn) Facts() plugin.Facts { return plugin.Facts{Name: "signs"} }

func (d signsIn) SignIn(_ context.Context, _ string, open func(context.Context, string) error) error {
	return d.in(open)
}

func (signsIn) SignOut(context.Context, string) error { return errors.New("nothing was revoked") }

func (signsIn) SignedIn(string) string { return "https://a.example" }

func TestASignInShowsItsPageOnTheCardWhileItWaits(t *testing.T) {
	h := &Host{o: Options{Bus: bus.New()}}
	s := &SignIns{h: h, pages: map[string]string{}}
	h.SignIns = s
	var shown []string
	h.Dialects = Dialects{signsIn{in: func(open func(context.Context, string) error) error {
		if err := open(t.Context(), "https://a.example/authorize"); err != nil {
			return err
		}
		service, page := s.state("notes", "signs")
		shown = append(shown, service, page)
		return errors.New("nobody signed in")
	}}}
	d, err := s.of(plugin.Status{Manifest: plugin.Manifest{Dialect: "signs"}})
	if err != nil {
		t.Fatal(err)
	}
	err = s.in(t.Context(), d, "notes", func(context.Context, string) error { return nil })
	if err == nil || len(shown) != 2 || shown[1] != "https://a.example/authorize" {
		t.Errorf("%v, %q", err, shown)
	}
	if _, page := s.state("notes", "signs"); page != "" {
		t.Errorf("the card still shows %s", page)
	}
	_, err = s.of(plugin.Status{Manifest: plugin.Manifest{Dialect: "functions"}})
	if fault.KindOf(err) != fault.NotFound {
		t.Error(err)
	}
}
