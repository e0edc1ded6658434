package terminal

import (
	"context"
	"fmt"

	"conclave/app/base/fault"
	"conclave/app/plugin"
	"conclave/app/view"

	"github.com/spf13/cobra"
)

// packagesRow is `plugins packages --json`.
type packagesRow struct {
	Plugin string       `json:"plugin"`
	State  plugin.State `json:"state"`
	view.Packages
}

// packagesCommand shows the packages that a plugin needs, and installs or removes them. Naming
// --install is the consent.
func (c pluginSetupCommands) packagesCommand() *cobra.Command {
	var install, remove bool
	var consent plugin.InstallOptions
	cmd := c.withPlugins("packages ID [NAME…]", "Show the packages a plugin needs, and install or remove them",
		some("the id of a plugin"), func(ctx context.Context, app *App, args []string) error {
			s, err := findPlugin(app, args[0])
			if err != nil {
				return err
			}
			switch {
			case install && remove:
				return fault.New(fault.Invalid, "cli.packages", "--install and --remove exclude each other.",
					"Give one of them.")
			case len(args) > 1 && !install:
				return fault.New(fault.Usage, "cli.packages", "Package names are only for --install.", "Add --install.")
			case install:
				consent.Guessed = args[1:]
				return c.install(ctx, app, s, consent)
			case remove:
				if err := app.Packages.Remove(s.ID); err != nil {
					return err
				}
				return c.printAfter(ctx, app, s.ID)
			}
			return c.printPackages(s)
		})
	cmd.Flags().BoolVar(&install, "install", false,
		"install the declared packages into the plugin's environment; with NAME… also those guessed from its imports")
	cmd.Flags().BoolVar(&remove, "remove", false, "delete this plugin's environment")
	cmd.Flags().BoolVar(&consent.Build, "build", false,
		"with --install: also packages that exist as source only, whose code runs during the installation")
	cmd.Flags().BoolVar(&consent.Elsewhere, "elsewhere", false,
		"with --install: also from the other indexes and addresses that the plugin names")
	return cmd
}

func (c pluginSetupCommands) install(ctx context.Context, app *App, s plugin.Status,
	consent plugin.InstallOptions,
) error {
	if !c.json {
		if err := c.printPackages(s); err != nil {
			return err
		}
	}
	read := ""
	if s.Packages != nil {
		read = s.Packages.Digest
	}
	if err := app.Packages.Install(ctx, s.ID, read, consent,
		func(line string) { fmt.Fprintln(c.Err, line) }); err != nil {
		return err
	}
	return c.printAfter(ctx, app, s.ID)
}

func (c pluginSetupCommands) printPackages(s plugin.Status) error {
	p := view.NewPackages(s)
	switch {
	case c.json && p == nil:
		p = &view.Packages{Packages: []plugin.Package{}, Notes: []string{}, Elsewhere: []string{}}
		fallthrough
	case c.json:
		return c.printJSON(packagesRow{s.ID, s.State, *p})
	case p == nil:
		return c.say(c.Out, "The plugin %s needs no packages.", s.ID)
	}
	table := newTable("PACKAGE", "STANDING", "VERSION", "FROM", "")
	for _, one := range p.Packages {
		standing := string(one.Status)
		if one.Optional && (one.Status == plugin.PackageMissing || one.Status == plugin.PackageOutdated) {
			standing += ", not needed to load"
		}
		if one.Guessed && one.Status != plugin.PackageInstalled {
			standing += ", guessed: installed by its name only"
		}
		table.add(oneLine(one.Requirement), standing, one.Version, oneLine(one.From), oneLine(one.Note))
	}
	if err := table.print(c.terminal, "The plugin "+s.ID+" needs no packages."); err != nil {
		return err
	}
	for _, note := range p.Notes {
		fmt.Fprintln(c.Err, oneLine(note))
	}
	for _, place := range p.Elsewhere {
		fmt.Fprintln(c.Err, "It names another source of packages, which is used only with --elsewhere: "+oneLine(place))
	}
	if p.Path != "" {
		note := ""
		if p.Stale {
			note = ", made for another list or another Python: install again"
		}
		fmt.Fprintf(c.Out, "environment  %s (%.1f MB, %s%s)\n", p.Path, float64(p.Bytes)/1e6,
			p.Made.Minute(), note)
	}
	switch {
	case p.Unable != "":
		fmt.Fprintln(c.Err, p.Unable)
	case len(s.Packages.Missing()) > 0:
		name := ""
		if len(s.Packages.MissingRequired()) == 0 {
			name = " NAME"
		}
		what := "them, as wheels from " + p.Index
		if len(p.Elsewhere) > 0 {
			what = "those of " + p.Index + ", and with --elsewhere those of the other sources, as wheels"
		}
		return c.say(c.Err,
			"conclave plugins packages %s%s --install installs %s, into an environment for this plugin only.",
			s.ID, name, what)
	}
	return nil
}
