package cli

import (
	"context"
	"io"
	"path/filepath"

	"conclave/app/chat"
)

// Session holds what a command was started with: its arguments, folder, streams and
// environment.
type Session struct {
	Args     []string // without the program's name
	In       io.Reader
	Out, Err io.Writer
	Dir      string // the working folder: relative paths are under it
	Env      func(string) string
	Terminal bool     // a person is at In and Err and can be asked
	Width    int      // columns; 0 = not known
	Kinds    []string // of plugins that can be begun from a template
	// Interrupt runs on Ctrl-C before that ends the command; nil does nothing.
	Interrupt *Interrupt
	// Flush, when not nil, throws away what was typed at In and not read yet.
	Flush func()
	// Closing is closed when the program this runs in wants to close: a command
	// that lasts gives way then. nil in a program of one's own.
	Closing <-chan struct{}
	// Lasting, when not nil, is called by a command that only follows something from
	// then on: should the program it runs in die, it can begin again elsewhere.
	Lasting func()
	// Restore makes the copy at path the store of the data folder, which nobody
	// may have open. bring is asked whether what a copy from elsewhere lets others do
	// shall come with it; its error ends the restore. nil where the store is open, in a
	// command that runs in it.
	Restore func(ctx context.Context, data, path string,
		bring func(ctx context.Context, differs []string) (bool, error)) (Restored, error)
	// Compact gives back what the store of the data folder does not use, and
	// returns the size of its file before and after. nil as with Restore.
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
	Reads        bool     // the command writes nothing, so a folder that cannot be written will do
	NeedsPlugins bool     // the command wants the plugins folder to be read
	WaitFor      []string // the plugins that must have loaded before the command begins; none: all
	// Chat, without WaitFor: the command waits for what a chat may be offered, and not for a folder
	// full of new plugins.
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
		return "", usageError("--project means the folder that the command runs in, and %s is no project: it holds all that "+
			"you have", s.Dir)
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
