package terminal

import (
	"context"
	"path/filepath"
	"strings"

	"conclave/app/gate"

	"github.com/spf13/cobra"
)

// matches holds the conditions of --match: one folder, host, program or port.
type matches struct {
	path  string // of the folder; empty when none was named
	write bool   // for a folder
	host  string // that it may connect to; empty when none was named
	op    gate.Op

	program string // that it may start; empty when none was named
	port    string // on which it may listen; empty when none was named
}

// matchHelp is the help of --match.
const matchHelp = "for filesystem: path=FOLDER, and access=write to write there too (default: access=read); " +
	"for network and cors_proxy: host=HOST, or below=DOMAIN for it and its subdomains; " +
	"for programs: program=NAME or a path; for listen: port=NUMBER, or 0 for any free one"

// readMatches reads what --match was given for a permission.
func (c pluginTrustCommands) readMatches(permission string, given []string) (matches, error) {
	var m matches
	named := 0
	for _, one := range given {
		field, value, _ := strings.Cut(one, "=")
		var fits bool
		switch {
		case field == "path" && value != "":
			m.path, fits = value, permission == gate.Filesystem
			if !filepath.IsAbs(value) && !strings.HasPrefix(value, "~") {
				m.path = filepath.Join(c.Dir, value)
			}
			named++
		case field == "host" && value != "":
			m.host, m.op, fits = value, gate.HostIs, gate.AboutHosts(permission)
			named++
		case field == "below" && value != "":
			m.host, m.op, fits = value, gate.HostSuffix, gate.AboutHosts(permission)
			named++
		case field == "program" && value != "":
			m.program, fits = value, permission == gate.Programs
			named++
		case field == "port" && value != "":
			m.port, fits = value, permission == gate.Listen
			named++
		case one == "access=write":
			m.write, fits = true, permission == gate.Filesystem
		case one == "access=read":
			m.write, fits = false, permission == gate.Filesystem
		default:
			return m, usageError("--match takes path=FOLDER, access=read, access=write, host=HOST, below=DOMAIN, "+
				"program=NAME and port=NUMBER, not %q", one)
		}
		if !fits {
			return m, usageError("--match %s is not for the permission %s; path= and access= are for filesystem, "+
				"host= and below= for network and cors_proxy, program= for programs, port= for listen", one, permission)
		}
		if named > 1 {
			return m, usageError("--match names one folder, host, program or port at a time; "+
				"give the command again for %s", one)
		}
	}
	if len(given) > 0 && named == 0 {
		return m, usageError("--match %s needs a folder; name it with --match path=FOLDER", given[0])
	}
	return m, nil
}

func (c pluginTrustCommands) grantCommand() *cobra.Command {
	var given []string
	cmd := c.withPlugins("grant ID PERMISSION", "Grant a plugin one permission",
		exactly("the id of a plugin", "a permission"),
		c.change(&given, func(ctx context.Context, app *App, id, permission string, m matches) error {
			switch {
			case m.path != "":
				_, err := app.Gate.Reach.GrantFolder(ctx, id, gate.Folder{Path: m.path, Write: m.write})
				return err
			case m.program != "":
				_, err := app.Gate.Reach.AllowProgram(ctx, id, m.program)
				return err
			case m.port != "":
				return app.Gate.Reach.AllowPort(ctx, id, m.port)
			case m.host != "":
				return app.Gate.Reach.AllowHost(ctx, id, permission, gate.Allow, m.op, m.host)
			}
			return app.Gate.Reach.SetPermission(ctx, id, permission, gate.Allow)
		}))
	cmd.Flags().StringArrayVar(&given, "match", nil, matchHelp)
	return cmd
}

func (c pluginTrustCommands) revokeCommand() *cobra.Command {
	var given []string
	cmd := c.withPlugins("revoke ID PERMISSION", "Revoke a permission of a plugin",
		exactly("the id of a plugin", "a permission"),
		c.change(&given, func(ctx context.Context, app *App, id, permission string, m matches) error {
			switch {
			case m.path != "":
				return app.Gate.Reach.RevokeFolder(ctx, id, m.path)
			case m.program != "":
				return app.Gate.Reach.RevokeProgram(ctx, id, m.program)
			case m.port != "":
				return app.Gate.Reach.RevokePort(ctx, id, m.port)
			case m.host != "":
				return app.Gate.Reach.AllowHost(ctx, id, permission, gate.Deny, m.op, m.host)
			}
			return app.Gate.Reach.SetPermission(ctx, id, permission, gate.Deny)
		}))
	cmd.Flags().StringArrayVar(&given, "match", nil, "for filesystem: path=FOLDER revokes only this one; "+
		"for network and cors_proxy: host=HOST is refused from now on; "+
		"for programs: program=NAME, and for listen: port=NUMBER, revokes only this one")
	return cmd
}

// change returns the action of a command that changes one permission, as --match limits it.
func (c pluginTrustCommands) change(given *[]string,
	change func(ctx context.Context, app *App, id, permission string, m matches) error,
) action {
	return c.changing(func(ctx context.Context, app *App, id string, args []string) error {
		m, err := c.readMatches(args[0], *given)
		if err != nil {
			return err
		}
		if err := change(ctx, app, id, args[0], m); err != nil {
			return err
		}
		app.Host.Approvals.Changed(id)
		return nil
	})
}
