package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"conclave/app/fault"
	places "conclave/app/place"

	"github.com/spf13/cobra"
)

func (c *command) backupCommand() *cobra.Command {
	return c.modelCommand("backup FILE",
		"Write a copy of the store: chats, records, settings, permissions; no keys, no media", exactly("a file"), c.backup)
}

// backup writes a copy of the store to a new file.
func (c *command) backup(ctx context.Context, app *App, args []string) (err error) {
	path, size, err := c.writeNew("cli.backup", args[0], func(w io.Writer) error { return app.Backup(ctx, w) })
	if err != nil {
		return err
	}
	if c.json {
		return c.printJSON(map[string]any{"file": path, "size": size})
	}
	return c.say(c.Out, "Copied the store to %s (%.1f MB). Go back to it with conclave restore.", path, float64(size)/1e6)
}

// writeNew writes a file beside the one that name says, and gives it that name once it is
// whole. A file that is there already is not written over.
func (c *command) writeNew(op, name string, write func(io.Writer) error) (path string, size int64, err error) {
	path = c.Path(name)
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return "", 0, fault.Wrap(fault.Conflict, op, "There is a file "+name+" already.", "Choose another name.", err)
	}
	places.Sweep(filepath.Dir(path))
	// It must be new: a link that lies there would be written through.
	f, err := os.OpenFile(places.Part(path), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return "", 0, fault.Wrap(fault.Unavailable, op, "The file "+name+" cannot be written.",
			"Check its folder, or choose another.", err)
	}
	temp := f.Name()
	defer os.Remove(temp) //nolint:errcheck // it is gone after the rename
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if info, statErr := f.Stat(); statErr == nil {
		size = info.Size()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		return "", 0, fault.Wrap(fault.Unavailable, op, "The file "+name+" was not finished: "+oneLine(err.Error())+".",
			"Check the space on its disk.", err)
	}
	return path, size, nil
}

func (c *command) restoreCommand() *cobra.Command {
	return &cobra.Command{
		Use: "restore FILE", Short: "Go back to a copy of the store; the present one is set aside",
		Args: exactly("a copy of the store"),
		Long: "Make a copy the store again: one that conclave backup wrote, " +
			"or one of those that\nConclave keeps in the folder backups beside the store. " +
			"What is there now is set\naside and not deleted. No Conclave may be running.",
		RunE: func(cmd *cobra.Command, args []string) error {
			folders, err := c.folders()
			if err != nil {
				return err
			}
			if c.Restore == nil {
				return fault.New(fault.Locked, "cli.restore", "The store is open here.", "Close Conclave, then restore the copy.")
			}
			path := c.Path(args[0])
			if err := ordinary("cli.restore", path, args[0]); err != nil {
				return err
			}
			if err := c.Restore(cmd.Context(), folders.Data, path); err != nil {
				return err
			}
			if c.json {
				return c.printJSON(map[string]string{"restored": path, "data": folders.Data})
			}
			_, err = fmt.Fprintf(c.Out,
				"The store in %s is as it was in %s. What was there is beside it, as conclave.db.replaced-….\n", folders.Data, path)
			return err
		},
	}
}

func (c *command) compactCommand() *cobra.Command {
	return &cobra.Command{
		Use: "compact", Short: "Give back the space that the store's file holds and does not use", Args: noArguments,
		Long: "Write the store anew without the space that deleted chats left in its file.\nNothing of what it holds is " +
			"changed. No Conclave may be running.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			folders, err := c.folders()
			if err != nil {
				return err
			}
			if c.Compact == nil {
				return fault.New(fault.Locked, "cli.compact", "The store is open here.", "Close Conclave, then compact the store.")
			}
			before, after, err := c.Compact(cmd.Context(), folders.Data)
			if err != nil {
				return err
			}
			if c.json {
				return c.printJSON(map[string]any{"data": folders.Data, "before": before, "after": after})
			}
			_, err = fmt.Fprintf(c.Out, "The store in %s had %.1f MB and has %.1f MB now.\n", folders.Data, float64(before)/1e6,
				float64(after)/1e6)
			return err
		},
	}
}
