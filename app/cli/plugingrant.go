package cli

import (
	"context"
	"path/filepath"
	"strings"

	"conclave/app/permit"

	"github.com/spf13/cobra"
)

// matches are the conditions of --match.
type matches struct {
	path  string // of the folder; empty when none was named
	write bool
	host  string // that it may connect to; empty when none was named
	op    permit.Op

	program string // that it may start; empty when none was named
}

// matchHelp says what --match takes.
const matchHelp = "for filesystem: path=FOLDER, and access=write to write there too (default: access=read); " +
	"for network and cors_proxy: host=HOST, or below=DOMAIN for it and what is below it; " +
	"for programs: program=NAME or a path"

// readMatches reads what --match was given.
func (c *command) readMatches(given []string) (matches, error) {
	var m matches
	for _, one := range given {
		field, value, _ := strings.Cut(one, "=")
		switch {
		case field == "path" && value != "":
			m.path = value
			if !filepath.IsAbs(value) && !strings.HasPrefix(value, "~") {
				m.path = filepath.Join(c.Dir, value)
			}
		case field == "host" && value != "":
			m.host, m.op = value, permit.HostIs
		case field == "below" && value != "":
			m.host, m.op = value, permit.HostSuffix
		case field == "program" && value != "":
			m.program = value
		case one == "access=write":
			m.write = true
		case one == "access=read":
			m.write = false
		default:
			return m, usageError("--match takes path=FOLDER, access=read, access=write, host=HOST, below=DOMAIN "+
				"and program=NAME, not %q", one)
		}
	}
	return m, nil
}

func (c *command) pluginsGrantCommand() *cobra.Command {
	var given []string
	cmd := c.simple("grant ID PERMISSION", "Grant a plugin one permission", exactly("the id of a plugin", "a permission"),
		c.changePermission(&given, func(ctx context.Context, app *App, id, permission string, m matches) error {
			if permission == permit.Filesystem && m.path != "" {
				_, err := app.Gate.GrantFolder(ctx, id, permit.Folder{Path: m.path, Write: m.write})
				return err
			}
			if permission == permit.Programs && m.program != "" {
				_, err := app.Gate.AllowProgram(ctx, id, m.program)
				return err
			}
			if ofHosts(permission) && m.host != "" {
				return app.Gate.AllowHost(ctx, id, permission, permit.Allow, m.op, m.host)
			}
			return app.Gate.SetPermission(ctx, id, permission, permit.Allow)
		}))
	cmd.Flags().StringArrayVar(&given, "match", nil, matchHelp)
	return cmd
}

func (c *command) pluginsRevokeCommand() *cobra.Command {
	var given []string
	cmd := c.simple("revoke ID PERMISSION", "Take a permission back", exactly("the id of a plugin", "a permission"),
		c.changePermission(&given, func(ctx context.Context, app *App, id, permission string, m matches) error {
			if permission == permit.Filesystem && m.path != "" {
				return app.Gate.RevokeFolder(ctx, id, m.path)
			}
			if permission == permit.Programs && m.program != "" {
				return app.Gate.RevokeProgram(ctx, id, m.program)
			}
			if ofHosts(permission) && m.host != "" {
				return app.Gate.AllowHost(ctx, id, permission, permit.Deny, m.op, m.host)
			}
			return app.Gate.SetPermission(ctx, id, permission, permit.Deny)
		}))
	cmd.Flags().StringArrayVar(&given, "match", nil, "for filesystem: path=FOLDER takes back this one alone; "+
		"for network and cors_proxy: host=HOST is refused from now on; for programs: program=NAME takes back this one alone")
	return cmd
}

// ofHosts reports whether a permission may be granted for one host.
func ofHosts(permission string) bool { return permission == permit.Network || permission == permit.Web }

// changePermission runs change, and prints the plugin as it is afterwards.
func (c *command) changePermission(given *[]string,
	change func(ctx context.Context, app *App, id, permission string, m matches) error) func(context.Context, *App,
	[]string) error {
	return func(ctx context.Context, app *App, args []string) error {
		s, err := findPlugin(app, args[0])
		if err != nil {
			return err
		}
		m, err := c.readMatches(*given)
		if err != nil {
			return err
		}
		ofProgram := args[1] == permit.Programs && m.program != ""
		if len(*given) > 0 && args[1] != permit.Filesystem && (!ofHosts(args[1]) || m.host == "") && !ofProgram {
			return usageError("--match is for the permission filesystem alone, with host= or below= for network and " +
				"cors_proxy, and with program= for programs")
		}
		if err := change(ctx, app, s.ID, args[1], m); err != nil {
			return err
		}
		app.Host.ApprovalChanged(s.ID)
		return c.printAfter(ctx, app, s.ID)
	}
}
