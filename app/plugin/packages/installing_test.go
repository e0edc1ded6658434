package packages_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/plugin"
	"conclave/app/plugin/packages"
	"conclave/app/plugin/plugintest"
)

// shelf is an Environments in memory: one package, which an installation that is
// let go puts there.
type shelf struct {
	mu      sync.Mutex
	there   map[string]bool
	started chan struct{}
	release chan error
}

func newShelf() *shelf {
	return &shelf{there: map[string]bool{}, started: make(chan struct{}, 10), release: make(chan error)}
}

func (s *shelf) Packages(_ context.Context, src plugin.Source, _ plugin.Manifest,
	_ plugin.Listing,
) (*plugin.Packages, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := plugin.Package{Name: "six", Requirement: "six>=1", From: "requirements.txt:1", Status: plugin.PackageMissing}
	if s.there[src.ID] {
		one.Status = plugin.PackageInstalled
	}
	return &plugin.Packages{Packages: []plugin.Package{one}, Digest: "d"}, nil
}

func (s *shelf) Install(ctx context.Context, src plugin.Source, _ plugin.Manifest, _ plugin.Listing,
	_ plugin.InstallOptions,
	tell func(string),
) error {
	tell("Downloading six\u202e")
	s.started <- struct{}{}
	select {
	case err := <-s.release:
		if err == nil {
			s.mu.Lock()
			s.there[src.ID] = true
			s.mu.Unlock()
		}
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *shelf) Remove(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.there, id)
	return nil
}

func (s *shelf) Site(_ context.Context, id string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.there[id] {
		return []string{"/environments/" + id}
	}
	return nil
}

func TestPackagesAreInstalledStoppedAndRemoved(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		s := newShelf()
		f.Close()
		f.Environments = s
		f.Open()
		in := packages.NewInstaller(f.Host, s)
		defer in.Close()
		f.Write("a.py", plugintest.Script{
			Tools: []plugintest.Tool{{Name: "say", Text: "one"}}, Load: plugintest.LoadLacks,
			Problem: plugin.Problem{Kind: "script", Message: "There is no module named six.", Missing: []string{"six"}},
		})
		f.Scan()
		if got := f.State("a", plugin.NeedsApproval); got.Packages == nil || len(got.Packages.MissingRequired()) != 1 {
			t.Fatalf("a person reads the list before they approve: %+v", got.Packages)
		}
		f.Trust("a", false)
		waiting := f.State("a", plugin.NeedsPackages)
		if waiting.Problem.Kind != "packages" || waiting.Serving || !strings.Contains(waiting.Problem.Message, "six>=1") {
			t.Fatalf("got %+v", waiting.Problem)
		}

		// It runs in the background, once, and is stopped.
		must(t, in.Start("a", "d", plugin.InstallOptions{}))
		<-s.started
		if err := in.Start("a", "d", plugin.InstallOptions{}); fault.Of(err).Kind != fault.Conflict {
			t.Errorf("a second one: %v", err)
		}
		if err := in.Remove("a"); fault.Of(err).Kind != fault.Conflict {
			t.Errorf("removal meanwhile: %v", err)
		}
		if work := f.State("a", plugin.NeedsPackages).PackageWork; !work.Running || len(work.Lines) != 1 ||
			work.Lines[0] != "Downloading six" {
			t.Errorf("got %+v", work)
		}
		must(t, in.Stop("a"))
		f.Settle()
		if work := f.State("a", plugin.NeedsPackages).PackageWork; work.Running || !work.Stopped || work.Problem != nil {
			t.Errorf("got %+v", work)
		}

		// It fails with a reason, and can be tried again.
		over := make(chan error, 1)
		go func() { over <- in.Install(t.Context(), "a", "d", plugin.InstallOptions{}, nil) }()
		<-s.started
		s.release <- &plugin.Problem{Kind: "packages", Message: "The download broke off.", Hint: "Again."}
		if err := <-over; fault.Of(err).Message != "The download broke off." || errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if work := f.State("a", plugin.NeedsPackages).PackageWork; work.Problem == nil {
			t.Errorf("got %+v", work)
		}
		go func() { over <- in.Install(t.Context(), "a", "d", plugin.InstallOptions{}, nil) }()
		<-s.started
		s.release <- nil
		must(t, <-over)
		f.Settle()
		f.State("a", plugin.Ready)
		if got := f.World.StartedWith("a").Site; len(got) != 1 || got[0] != "/environments/a" {
			t.Errorf("its process is given %v", got)
		}

		must(t, in.Remove("a"))
		f.Settle()
		f.State("a", plugin.NeedsPackages)

		// Closing stops one that runs.
		must(t, in.Start("a", "d", plugin.InstallOptions{}))
		<-s.started // Close of the installer, which waits for it
	})
}
