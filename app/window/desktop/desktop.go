// Package desktop is Conclave's window as a program: it reads the flags, opens the core,
// binds package window to it, and runs Wails. The root's main.go adds the pages and the icon.
// Two other programs lie in the same folder: conclave, the command line (app/cmd/conclave),
// and conclave-worker, which runs plugins (app/cmd/conclave-worker).
package desktop

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"conclave/app/base/fault"
	"conclave/app/base/version"
	"conclave/app/chat/render"
	"conclave/app/core"
	"conclave/app/terminal"
	"conclave/app/terminal/remote"
	"conclave/app/window"
	"conclave/app/window/windowstore"

	"github.com/wailsapp/wails/v2"
	"github.com/wailsapp/wails/v2/pkg/options"
	"github.com/wailsapp/wails/v2/pkg/options/assetserver"
	"github.com/wailsapp/wails/v2/pkg/options/linux"
	"github.com/wailsapp/wails/v2/pkg/options/mac"
	"github.com/wailsapp/wails/v2/pkg/options/windows"
)

// ProgramName names the window to Linux desktops, as class on X11 and as application
// on Wayland: the name of build/linux/conclave-window.desktop. GTK
// takes the class from the program's file before Wails can set another, so the two
// have to be the same.
const ProgramName = "conclave-window"

// Contents are the files that Conclave's window has inside it.
type Contents struct {
	Pages fs.FS  // the window's pages, built by Vite; without an index.html the window shows a page that says so
	Icon  []byte // the picture of the program in bars and lists of windows, a PNG
}

// program runs the window once.
type program struct {
	Contents
	// starting is true while Conclave opens: after the flags are read and before the window
	// opens. An error then gets a small window, since a desktop shows no standard error; once
	// the toolkit has run it cannot be run again.
	starting bool
}

// Main opens the window, returns once it is closed, and gives the status to exit with. args
// are the program's arguments without its name; errors are printed to stderr, and shown in a
// small window where there is a display.
func Main(contents Contents, args []string, stderr io.Writer) (status int) {
	p := &program{Contents: contents}
	err := p.run(args, stderr)
	if err == nil {
		return 0
	}
	f := fault.Of(err)
	fmt.Fprintln(stderr, ProgramName+": "+f.Message+" "+f.Hint)
	if f.Kind == fault.Internal {
		fmt.Fprintln(stderr, err)
	}
	if p.starting {
		p.showProblem(f)
	}
	return 1
}

// run opens the window and returns once it is closed.
func (p *program) run(args []string, stderr io.Writer) error {
	if onlyBindings {
		return writeBindings()
	}
	if len(args) == 1 && args[0] == terminal.VersionFlag {
		fmt.Println(version.Window + " " + version.Version)
		return nil
	}
	if len(args) == 1 && args[0] == terminal.DrawFlag {
		return render.Drawer{}.Answer(os.Stdin, os.Stdout)
	}
	if len(args) == 2 && args[0] == waitingFlag {
		return p.showWaiting()
	}
	folders, link, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	workAroundWebKit()
	p.starting = true
	if runtime.GOOS == "linux" && os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return fault.New(fault.Unavailable, "window", "There is no display to show the window on.",
			"Start it in a desktop session, or use conclave chat.")
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	worker, err := workerProgram()
	if err != nil {
		return err
	}
	c, err := openCore(ctx, core.Options{
		Data:       folders.Data,
		Plugins:    folders.Plugins,
		OwnPlugins: folders.OwnPlugins,
		Worker:     worker,
		Name:       core.WindowName,
		Watched:    true,
	})
	if fault.KindOf(err) == fault.Locked {
		return focusOther(ctx, folders, link, stderr)
	}
	if err != nil || c == nil {
		return err
	}
	defer func() {
		if err := c.Close(); err != nil {
			c.Log.Error("closing failed", "err", err)
		}
	}()
	detach := c.Gate.Questions.Attach()
	defer detach()
	away := c.Elicit.Attach()
	defer away()
	keep := windowstore.New(c)
	defer keep.Close()
	w := window.New(keep.Core(window.Info{
		Version:   version.Version,
		Data:      folders.Data,
		Plugins:   folders.Plugins,
		Logs:      filepath.Join(folders.Data, "logs"),
		Isolation: c.Isolation(),
		Serve:     serveCommand(folders),
		Trouble:   c.Trouble,
	}), c.Log)
	if link != "" {
		w.OpenLink(link)
	}
	server, err := c.Serve(func(args []string) bool { return secondLaunch(w, args) })
	if err != nil {
		c.Log.Warn("commands cannot be served while the window is open", "err", err)
	} else {
		defer server.Close()
	}
	watching := make(chan struct{})
	following, serving := make(chan struct{}), make(chan struct{})
	go func() { // ends with ctx
		defer close(following)
		c.HTTP.Follow(ctx)
	}()
	go func() { // ends with ctx
		defer close(serving)
		c.Programs.Follow(ctx)
	}()
	go func() { // ends with ctx, which is cancelled before the core closes
		defer close(watching)
		if err := c.Watch(ctx); err != nil {
			c.Log.Error("the plugins folder is not followed any more", "err", err)
		}
	}()
	defer func() { cancel(errors.New("the window closed")); <-watching; <-following; <-serving }()
	return p.open(ctx, w, placeKeeper{c.Settings, c.Log}, c.Log)
}

// secondLaunch does what a second start of this program asks the first for, and reports whether
// args are that.
func secondLaunch(w *window.App, args []string) bool {
	switch {
	case slices.Equal(args, focusWindow):
		w.Focus()
	case len(args) == 3 && slices.Equal(args[:2], openLink):
		w.OpenLink(args[2])
	default:
		return false
	}
	return true
}

// What a second start asks the first for; the link follows the words of openLink.
var (
	focusWindow = []string{"window", "focus"}
	openLink    = []string{"window", "open"}
)

// writeBindings lets Wails write what the page may call. It needs the methods
// alone: no store, plugin or window is opened.
func writeBindings() error {
	return wails.Run(&options.App{Bind: window.New(window.Core{}, slog.Default()).Bind()})
}

// parse reads the flags, which are those of the terminal program, and the link that the
// program was started with, if there is one.
func parse(args []string, stderr io.Writer) (folders terminal.Folders, link string, err error) {
	flags := flag.NewFlagSet(ProgramName, flag.ContinueOnError)
	flags.SetOutput(stderr)
	data := flags.String("data", os.Getenv("CONCLAVE_DATA"), "folder of the store, logs and media")
	plugins := flags.String("plugins", os.Getenv("CONCLAVE_PLUGINS"), "the watched plugins folder")
	ownFlags(flags)
	if err := flags.Parse(args); err != nil {
		return terminal.Folders{}, "", err
	}
	link = flags.Arg(0)
	if flags.NArg() > 1 || link != "" && !strings.HasPrefix(strings.ToLower(link), window.LinkScheme+":") {
		return terminal.Folders{}, "", fault.New(fault.Usage, "window", "The window cannot open “"+link+"”.",
			"It takes one link that begins with "+window.LinkScheme+"://, and the flags --data and --plugins.")
	}
	folders, err = terminal.ResolveFolders(
		*data,
		*plugins,
		os.Getenv,
		func(path string) (string, error) { return filepath.Abs(path) },
	)
	return folders, link, err
}

// serveCommand returns the command that serves other programs from these folders.
func serveCommand(folders terminal.Folders) []string {
	path, err := version.Beside(version.Terminal)
	if err != nil {
		path = version.Terminal // on the PATH, as far as is known
	}
	command := []string{path}
	usual, err := terminal.ResolveFolders("", "", func(name string) string {
		if strings.HasPrefix(name, "CONCLAVE_") {
			return "" // the other program need not have it
		}
		return os.Getenv(name)
	}, filepath.Abs)
	if err != nil || folders.Data != usual.Data {
		command = append(command, "--data", folders.Data)
	}
	if !folders.OwnPlugins {
		command = append(command, "--plugins", folders.Plugins)
	}
	return append(command, terminal.ServeCommand...)
}

// workerProgram finds conclave-worker beside this program.
func workerProgram() (string, error) {
	path, err := version.Beside(version.Worker)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); err != nil {
		return "", fault.Wrap(fault.NotFound, "window", "The program "+path+" is not there, and no plugin could run.",
			"Install Conclave again, or build its programs with make build.", err)
	}
	return path, nil
}

// focusOther brings the window that is open to the front, and has it open the link if there is one.
func focusOther(ctx context.Context, folders terminal.Folders, link string, stderr io.Writer) error {
	args := focusWindow
	if link != "" {
		args = append(slices.Clone(openLink), link)
	}
	_, err := remote.Run(ctx, folders.Data, remote.Command{Version: version.Version, Args: args},
		remote.Streams{Out: io.Discard, Err: io.Discard})
	if err != nil {
		return fault.Wrap(fault.Locked, "window", "Conclave is open already, and its window does not answer.",
			"Close it, or end its process, and try again.", err)
	}
	fmt.Fprintln(stderr, "Conclave is open already; its window was brought to the front.")
	return nil
}

// workAroundWebKit turns off what is known to break web views: WebKitGTK's DMABUF renderer
// draws nothing on some drivers.
func workAroundWebKit() {
	if runtime.GOOS == "linux" && os.Getenv("WEBKIT_DISABLE_DMABUF_RENDERER") == "" {
		_ = os.Setenv("WEBKIT_DISABLE_DMABUF_RENDERER", "1")
	}
}

// The window's default and least size in pixels (the design's section 3).
const (
	width, height       = 1280, 832
	minWidth, minHeight = 720, 480
)

// settled is the time after its page is loaded when a window has asked for all that it shows.
const settled = 2 * time.Second

// open runs Wails until the window closes.
func (p *program) open(ctx context.Context, w *window.App, places placeKeeper, log *slog.Logger) error {
	dist, err := fs.Sub(p.Pages, "frontend/dist")
	if err != nil {
		return err
	}
	ground := options.NewRGB(0xFB, 0xFA, 0xF8) // --bg of the page's tokens, light and dark
	if w.Dark(ctx) {
		ground = options.NewRGB(0x16, 0x16, 0x14)
	}
	release, err := guardDevServer(ctx, log)
	if err != nil {
		return err
	}
	defer release()
	p.starting = false
	app := &options.App{
		Title: "Conclave", Width: width, Height: height, MinWidth: minWidth, MinHeight: minHeight,
		AssetServer:      &assetserver.Options{Assets: dist, Handler: w.Assets(), Middleware: w.FirstFrame},
		BackgroundColour: ground,
		OnStartup: func(ctx context.Context) {
			w.Startup(ctx)
			places.restore(ctx)
		},
		OnBeforeClose: func(ctx context.Context) (stay bool) {
			places.save(ctx)
			return false
		},
		OnDomReady: func(context.Context) {
			checkSpelling()
			time.AfterFunc(settled, func() { forgetStart(log) })
		},
		OnShutdown:     w.Shutdown,
		Bind:           w.Bind(),
		ErrorFormatter: w.FormatError,
		// The page draws its own menus; the web view's would offer Reload and Back.
		EnableDefaultContextMenu: false,
		Linux: &linux.Options{
			ProgramName: ProgramName, Icon: p.Icon, WebviewGpuPolicy: linux.WebviewGpuPolicyNever,
		},
		Mac: &mac.Options{
			OnUrlOpen: w.OpenLink,
			About:     &mac.AboutInfo{Title: "Conclave", Message: "Talk to models. Keep control.", Icon: p.Icon},
		},
		Windows: &windows.Options{WebviewGpuIsDisabled: false},
	}
	places.begin(ctx, app)
	return wails.Run(app)
}
