package window

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"conclave/app/base/fault"
	"conclave/app/base/language"
	"conclave/app/plugin/library"

	"github.com/wailsapp/wails/v2/pkg/runtime"
)

// adding is the one plugin that is being fetched or copied, so that a person can
// stop it. Its zero value is ready.
type adding struct {
	mu     sync.Mutex
	cancel context.CancelFunc // nil while nothing is added
}

// begin returns the context of an adding and its end. Kind conflict while another
// is under way.
func (a *adding) begin(ctx context.Context) (context.Context, context.CancelFunc, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.cancel != nil {
		return nil, nil, fault.New(fault.Conflict, "app.add", "Another plugin is being fetched.", "Wait for it, or stop it.")
	}
	ctx, cancel := context.WithCancel(ctx)
	a.cancel = cancel
	return ctx, func() {
		a.mu.Lock()
		a.cancel = nil
		a.mu.Unlock()
		cancel()
	}, nil
}

func (a *adding) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.cancel != nil {
		a.cancel()
	}
}

// Choosable is a place that a person can point to.
type Choosable string

// The places that Choose asks for.
const (
	ChooseFolder  Choosable = "folder"
	ChooseFile    Choosable = "file"
	ChooseProgram Choosable = "program"
)

// Choose asks for a folder, for a file that holds a plugin, or for a program; "" when the person
// changed their mind.
func (p *Plugins) Choose(what Choosable) (string, error) {
	ctx := p.window()
	if ctx == nil {
		return "", errNoContext
	}
	switch what {
	case ChooseFolder:
		return runtime.OpenDirectoryDialog(ctx, runtime.OpenDialogOptions{Title: language.Say("Choose a folder")})
	case ChooseFile:
		endings := append([]string{".zip", ".json"}, p.core.Host.Dialects.Endings()...)
		return runtime.OpenFileDialog(ctx, runtime.OpenDialogOptions{
			Title: language.Say("Choose a plugin"),
			Filters: []runtime.FileFilter{{
				DisplayName: language.Say("Plugins (" + strings.Join(endings, ", ") + ")"),
				Pattern:     "*" + strings.Join(endings, ";*"),
			}},
		})
	}
	if what == ChooseProgram {
		return runtime.OpenFileDialog(ctx, runtime.OpenDialogOptions{Title: language.Say("Choose a program")})
	}
	return "", fault.New(fault.Invalid, "app.choose", "There is no “"+string(what)+"” to choose.", "")
}

// Add copies a plugin into the plugins folder, from the https address of a git
// repository, or the path of a folder or file, and returns its id. It blocks until
// that is done; nothing of the plugin runs.
func (p *Plugins) Add(from string) (string, error) {
	from, err := writtenPlace(from)
	if err != nil {
		return "", err
	}
	ctx, end, err := p.adding.begin(p.call())
	if err != nil {
		return "", err
	}
	defer end()
	if made, found, err := p.core.Library.Import(ctx, from); found || err != nil {
		return imported(filepath.Base(from), made, err)
	}
	id, err := p.core.Library.Add(ctx, from)
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Kind == fault.Conflict {
		return "", fault.Wrap(f.Kind, f.Op, f.Message, "Remove it first, or update it from its menu.", err)
	}
	return id, err
}

// namedLeft bounds how many of a configuration's entries a sentence names.
const namedLeft = 5

// imported returns the first plugin that was made of a configuration file. Where
// something of it was left out, the error says what, and what was made.
func imported(file string, made library.Imported, err error) (string, error) {
	if len(made.Left) == 0 && err == nil {
		return made.Added[0].ID, nil
	}
	var left, ids []string
	for _, one := range made.Left[:min(len(made.Left), namedLeft)] {
		left = append(left, one.Name+": "+one.Why)
	}
	if more := len(made.Left) - len(left); more > 0 {
		left = append(left, fmt.Sprintf("and %d more", more))
	}
	if err != nil {
		f := fault.Of(err)
		return "", fault.Wrap(f.Kind, f.Op, f.Message, cmp.Or(strings.Join(left, "; "), f.Hint), err)
	}
	for _, one := range made.Added {
		ids = append(ids, one.ID)
	}
	return "", fault.New(fault.Invalid, "app.add", "Of "+file+", these were added: "+strings.Join(ids, ", ")+
		". The rest was left out.", strings.Join(left, "; "))
}

// StopAdding stops what Add or Update fetches. It is no error when nothing is.
func (p *Plugins) StopAdding() error {
	p.adding.stop()
	return nil
}

// Update replaces a plugin by what is now where it came from, with undo. Its
// settings, permissions and storage stay; what changed waits for approval.
func (p *Plugins) Update(id string) (Undo, error) {
	s, err := p.core.Host.Status(id)
	if err != nil {
		return Undo{}, err
	}
	ctx, end, err := p.adding.begin(p.call())
	if err != nil {
		return Undo{}, err
	}
	defer end()
	updated, kept, err := p.core.Library.Update(ctx, id, "")
	if err != nil {
		return Undo{}, err
	}
	back := func(ctx context.Context) error { return p.core.Library.Revert(ctx, updated, kept) }
	return p.undo.add("“"+s.Manifest.Name+"” was fetched anew.", back), nil
}

// writtenPlace returns the place of a plugin as a person wrote it: an address, or a whole
// path, maybe from the home folder or between quotes, as file managers copy it.
func writtenPlace(from string) (string, error) {
	from = written(from)
	if library.Remote(from) {
		return from, nil
	}
	if !filepath.IsAbs(from) {
		return "", fault.New(fault.Invalid, "app.add", "“"+from+"” is neither an https address nor a whole path.",
			"Write it like https://example.org/name.git, or choose a folder or file.")
	}
	return filepath.Clean(from), nil
}

// written is a path as people write and paste it: perhaps quoted, perhaps from their home.
func written(path string) string {
	path = strings.TrimSpace(path)
	if len(path) > 1 && (path[0] == '"' || path[0] == '\'') && path[len(path)-1] == path[0] {
		path = path[1 : len(path)-1]
	}
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	return path
}
