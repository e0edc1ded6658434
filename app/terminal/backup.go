package terminal

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/base/place"
	"conclave/app/tool"

	"github.com/spf13/cobra"
)

// MediaReport counts the files attached to chats that were copied or are missing: pictures and others.
type MediaReport struct {
	Files   int `json:"files"`   // that were copied
	Missing int `json:"missing"` // that do not exist, or are damaged
	Chats   int `json:"chats"`   // that have missing files
}

// sentence is about the missing files; it is empty when there are none.
func (r MediaReport) sentence() string {
	if r.Missing == 0 {
		return ""
	}
	of := ""
	if r.Chats > 0 {
		of = " of " + countOf(r.Chats, "chat")
	}
	return fmt.Sprintf("%s%s cannot be found: pictures or other files that were sent or received.",
		countOf(r.Missing, "attached file"), of)
}

// Restored is the outcome of restoring a backup.
type Restored struct {
	File     string   `json:"restored"`
	Data     string   `json:"data"`
	Replaced string   `json:"replaced,omitempty"` // where the previous store is now
	Differs  []string `json:"differs"`            // rights in the backup that the store did not have
	LeftOut  bool     `json:"left_out"`           // those rights were not restored
	// Unreadable counts the records of the backup that cannot be read.
	Unreadable int         `json:"unreadable,omitempty"`
	Media      MediaReport `json:"media"`
}

// storeCommands copy, restore and compact the store.
type storeCommands struct{ *terminal }

func (c storeCommands) backupCommand() *cobra.Command {
	return c.readingStore("backup FILE",
		"Write a backup of the store: chats with their files, records, settings, permissions; no keys",
		exactly("a file"), c.backup)
}

// backup writes a backup of the store to a new file.
func (c storeCommands) backup(ctx context.Context, app *App, args []string) (err error) {
	var media MediaReport
	path := c.Path(args[0])
	size, err := place.WriteNew("cli.backup", path, args[0], func(f *os.File) (err error) {
		media, err = app.Backup(ctx, f.Name())
		return err
	})
	if err != nil {
		return err
	}
	if c.json {
		return c.printJSON(map[string]any{"file": path, "size": size, "media": media})
	}
	with := ""
	if media.Files > 0 {
		with = ", with " + countOf(media.Files, "attached file")
	}
	if missing := media.sentence(); missing != "" {
		fmt.Fprintln(c.Err, missing+" The backup has the others.")
	}
	return c.say(c.Out, "Copied the store to %s (%.1f MB)%s. Restore it with conclave restore.",
		path, float64(size)/1e6, with)
}

func (c storeCommands) restoreCommand() *cobra.Command {
	var permissions string
	cmd := &cobra.Command{
		Use: "restore FILE", Short: "Restore a backup; the current store is moved aside",
		Args: exactly("a backup of the store"),
		Long: "Restore a backup that conclave backup wrote, or one of those in the folder backups of the\n" +
			"data folder. The current store is moved aside, not deleted. No Conclave may be running.\n\n" +
			"A backup that was not made here may contain addresses, approvals, rules, permissions\n" +
			"and programs that differ. They are listed, and restored only if you agree: on a\n" +
			"terminal you are asked; elsewhere use --permissions. With “leave”, chats and records\n" +
			"are restored, and settings and permissions stay as they are.",
		RunE: func(cmd *cobra.Command, args []string) error {
			folders, err := c.folders()
			if err != nil {
				return err
			}
			if permissions != "" && permissions != "bring" && permissions != "leave" {
				return usageOf(cmd, "--permissions is bring or leave, not %q", permissions)
			}
			if c.Restore == nil {
				return fault.New(fault.Locked, "cli.restore", "The store is open here.",
					"Close Conclave, then restore the backup.")
			}
			path := c.Path(args[0])
			if err := ordinary("cli.restore", path, args[0]); err != nil {
				return err
			}
			done, err := c.Restore(cmd.Context(), folders.Data, path,
				func(ctx context.Context, differs []string) (bool, error) {
					return c.bringRights(ctx, args[0], permissions, differs)
				})
			if err != nil {
				return err
			}
			return c.printRestored(done)
		},
	}
	cmd.Flags().StringVar(&permissions, "permissions", "",
		"bring: restore the settings and permissions of a backup that was not made here; leave: keep the current ones")
	return cmd
}

// bringRights asks whether the rights in a backup from elsewhere are restored with it.
func (c storeCommands) bringRights(ctx context.Context, name, permissions string, differs []string) (bool, error) {
	if permissions != "" {
		return permissions == "bring", nil
	}
	if !c.Terminal || c.json {
		const most = 20
		listed := differs
		more := ""
		if len(listed) > most {
			listed, more = listed[:most], fmt.Sprintf("; and %d more", len(differs)-most)
		}
		return false, fault.New(fault.NotAllowed, "cli.restore",
			"The backup "+name+" was not made here. It would change: "+tool.OneLine(strings.Join(listed, "; ")+more)+
				". Nothing was restored.",
			"Add --permissions bring to accept these changes, or --permissions leave to restore without them.")
	}
	fmt.Fprintf(c.Err, "The backup %s was not made here. It would add:\n", name)
	printDiffers(c.Err, differs)
	return c.person.confirm(ctx, "Restore these too? If not, only chats and records are restored.")
}

// printDiffers prints the rights in a backup, one a line.
func printDiffers(w io.Writer, differs []string) {
	for _, d := range differs {
		fmt.Fprintln(w, "  "+tool.OneLine(d)+".")
	}
}

// printRestored prints the outcome of restoring a backup.
func (c storeCommands) printRestored(done Restored) error {
	if done.Differs == nil {
		done.Differs = []string{}
	}
	if c.json {
		return c.printJSON(done)
	}
	sentence := fmt.Sprintf("The store in %s is as it was in %s.", done.Data, done.File)
	if done.LeftOut {
		sentence = fmt.Sprintf("The chats and records in %s are as they were in %s; settings and permissions stayed.",
			done.Data, done.File)
	}
	if done.Replaced != "" {
		sentence += " The previous store is now " + done.Replaced + "."
	}
	if done.Unreadable > 0 {
		sentence += " In the backup, " + countOf(done.Unreadable,
			"record") + " cannot be read, and no backup here is complete."
	}
	if missing := done.Media.sentence(); missing != "" {
		sentence += " " + missing
	}
	if len(done.Differs) > 0 && !done.LeftOut {
		fmt.Fprintln(c.Err, "The backup added:")
		printDiffers(c.Err, done.Differs)
	}
	_, err := fmt.Fprintln(c.Out, sentence)
	return err
}

func (c storeCommands) compactCommand() *cobra.Command {
	return &cobra.Command{
		Use: "compact", Short: "Shrink the store's file by the space that it does not use", Args: noArguments,
		Long: "Rewrite the store's file without the space that deleted chats left in it. Its content stays\n" +
			"the same. No Conclave may be running.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			folders, err := c.folders()
			if err != nil {
				return err
			}
			if c.Compact == nil {
				return fault.New(fault.Locked, "cli.compact", "The store is open here.",
					"Close Conclave, then compact the store.")
			}
			before, after, err := c.Compact(cmd.Context(), folders.Data)
			if err != nil {
				return err
			}
			return c.result(map[string]any{"data": folders.Data, "before": before, "after": after},
				"The store in %s had %.1f MB and has %.1f MB now.", folders.Data, float64(before)/1e6,
				float64(after)/1e6)
		},
	}
}
