package host

import (
	"context"
	"errors"
	"testing"

	"conclave/app/base/bus"
	"conclave/app/plugin"
)

// signsIn is a dialect whose plugins sign in.
type signsIn struct {
	plugin.Dialect
	in func(open func(context.Context, string) error) error
}

func (signsIn) Facts() plugin.Facts { return plugin.Facts{Name: "signs"} }

func (d signsIn) SignIn(_ context.Context, _ plugin.Source, _ plugin.Manifest, how plugin.Signing) error {
	return d.in(how.Open)
}

func (signsIn) SignOut(context.Context, plugin.Source, plugin.Manifest) error { return nil }

func (signsIn) SignedIn(string) (service, need string) {
	return "https://a.example", "It wants also files."
}

func TestASignInShowsItsPageOnTheCardWhileItWaits(t *testing.T) {
	h := &Host{o: Options{Bus: bus.New()}}
	s := &SignIns{h: h, pages: map[string]string{}}
	h.SignIns = s
	var shown []string
	h.Dialects = Dialects{signsIn{in: func(open func(context.Context, string) error) error {
		if err := open(t.Context(), "https://a.example/authorize"); err != nil {
			return err
		}
		status := plugin.Status{ID: "notes", Manifest: plugin.Manifest{Dialect: "signs"}, State: plugin.Ready}
		s.describe(&status)
		shown = append(shown, status.SignedIn, status.SignInPage, status.Problem.Message)
		return errors.New("nobody signed in")
	}}}
	err := s.in(t.Context(), h.Dialects[0].(plugin.SignsIn), plugin.Source{ID: "notes"}, plugin.Manifest{},
		plugin.Signing{Open: func(context.Context, string) error { return nil }})
	if err == nil || len(shown) != 3 || shown[1] != "https://a.example/authorize" || shown[2] == "" {
		t.Errorf("%v, %q", err, shown)
	}
	status := plugin.Status{ID: "notes", Manifest: plugin.Manifest{Dialect: "signs"}}
	if s.describe(&status); status.SignInPage != "" || status.Problem != nil {
		t.Errorf("the card still shows %+v", status)
	}
}
