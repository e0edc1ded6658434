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
}

// matchHelp says what --match takes.
const matchHelp = "for filesystem: path=FOLDER, and access=write to write there too (default: access=read); " +
	"for network and cors_proxy: host=HOST, or below=DOMAIN for it and what is below it"

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
		case one == "access=write":
			m.write = true
		case one == "access=read":
			m.write = false
		default:
			return m, usageError("--match takes path=FOLDER, access=read, access=write, host=HOST and below=DOMAIN, not %q", one)
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
			if ofHosts(permission) && m.host != "" {
				return app.Gate.AllowHost(ctx, id, permission, permit.Deny, m.op, m.host)
			}
			return app.Gate.SetPermission(ctx, id, permission, permit.Deny)
		}))
	cmd.Flags().StringArrayVar(&given, "match", nil, "for filesystem: path=FOLDER takes back this one alone; "+
		"for network and cors_proxy: host=HOST is refused from now on")
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
		if len(*given) > 0 && args[1] != permit.Filesystem && (!ofHosts(args[1]) || m.host == "") {
			return usageError("--match is for the permission filesystem alone, and with host= or below= for network and " +
				"cors_proxy")
		}
		if err := change(ctx, app, s.ID, args[1], m); err != nil {
			return err
		}
		app.Host.ApprovalChanged(s.ID)
		return c.printAfter(ctx, app, s.ID)
	}
}
