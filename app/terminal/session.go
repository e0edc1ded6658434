package terminal

import (
	"context"
	"io"
	"path/filepath"

	"conclave/app/chat"
)

// Session holds what a command was started with: its arguments, folder, streams and
// environment.
type Session struct {
	Args     []string // without the name of the program
	In       io.Reader
	Out, Err io.Writer
	Dir      string // the working folder, the base of relative paths
	Env      func(string) string
	Terminal bool     // In and Err are a terminal, whose person can be asked
	Width    int      // columns; 0: unknown
	Kinds    []string // of plugins that have a template
	// Interrupt is called on Ctrl-C, before that ends the command; nil does nothing.
	Interrupt *Interrupt
	// Flush, when not nil, discards what was typed at In and not read yet.
	Flush func()
	// Closing is closed when the program that runs the command wants to close: commands that follow
	// something end then. nil where the program runs only this command.
	Closing <-chan struct{}
	// Lasting, when not nil, is called by a command that only follows something from then on: if the
	// program that runs it dies, it can begin again elsewhere.
	Lasting func()
	// Restore makes the backup at path the store of the data folder, which no program may have open.
	// bring is asked whether rights in a backup from elsewhere are restored; its error ends the
	// restore. nil where the store is open, in a command that uses it.
	Restore func(ctx context.Context, data, path string,
		bring func(ctx context.Context, differs []string) (bool, error)) (Restored, error)
	// Compact shrinks the store of the data folder by the space that it does not use, and returns the
	// size of its file before and after. nil as with Restore.
	Compact func(ctx context.Context, data string) (before, after int64, err error)
}

// Path returns path relative to the session's folder.
func (s *Session) Path(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.Dir, path)
}

// Folders are the folders a command works in.
type Folders struct {
	Data         string   // absolute
	Plugins      string   // absolute
	OwnPlugins   bool     // Plugins is the default folder, inside Data
	Reads        bool     // the command writes nothing, so the folder may be read-only
	NeedsPlugins bool     // the plugins folder must be read
	WaitFor      []string // the plugins that must be loaded before the command begins; none: all
	// Chat, without WaitFor: the command waits for plugins whose tools a chat may be offered, and not
	// for many new ones.
	Chat    bool
	Command string // the command without its arguments: "conclave chat"
}

// project returns the project of chats that are begun in the session's folder; "" for none.
func (s *Session) project() string { return chat.ProjectOf(s.Dir) }

// namedProject is project where the person asked for it: a folder that is no project is an
// error of kind usage.
func (s *Session) namedProject() (string, error) {
	project := s.project()
	if project == "" {
		return "", usageError("--project means the folder that the command runs in, and %s cannot be a project: "+
			"it contains all that you have", s.Dir)
	}
	return project, nil
}

// follow marks the command as one that only follows something from now on, see Lasting.
func (s *Session) follow() {
	if s.Lasting != nil {
		s.Lasting()
		s.Lasting = nil
	}
}
