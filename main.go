// Command conclave-window is Conclave's window: it opens the core, hands it to
// package app, and runs Wails. Two other programs lie beside it: conclave, the
// command line (app/cmd/conclave), and conclave-worker, which plugins' processes
// are started from (app/cmd/conclave-worker).
package main

import (
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"conclave/app"
	"conclave/app/cli"
	"conclave/app/core"
	"conclave/app/fault"
	"conclave/app/remote"
	"conclave/app/version"
	"conclave/app/windowstore"

	"github.com/wailsapp/wails/v2"
	"github.com/wailsapp/wails/v2/pkg/options"
	"github.com/wailsapp/wails/v2/pkg/options/assetserver"
	"github.com/wailsapp/wails/v2/pkg/options/linux"
	"github.com/wailsapp/wails/v2/pkg/options/mac"
	"github.com/wailsapp/wails/v2/pkg/options/windows"
)

// pages are the window's pages, built by Vite. A build without them shows a page
// that says so.
//
//go:embed all:frontend/dist
var pages embed.FS

// programName names the window to Linux desktops, as class on X11 and as application
// on Wayland: the name of build/linux/conclave-window.desktop. GTK
// takes the class from the program's file before Wails can say another, so the two
// have to be the same.
const programName = "conclave-window"

// icon is the picture of the program in bars and lists of windows.
//
//go:embed build/linux/icons/hicolor/256x256/apps/conclave.png
var icon []byte

// starting is true while Conclave opens: between what the command line says and the
// window. What fails then is shown, since a desktop shows no standard error; once the
// toolkit has run it cannot be run again.
var starting bool

func main() {
	if err := run(os.Args[1:], os.Stderr); err != nil {
		f := fault.Of(err)
		fmt.Fprintln(os.Stderr, "conclave-window: "+f.Message+" "+f.Hint)
		if f.Kind == fault.Internal {
			fmt.Fprintln(os.Stderr, err)
		}
		if starting {
			showProblem(f)
		}
		os.Exit(1)
	}
}

// run opens the window and returns once it is closed.
func run(args []string, stderr io.Writer) error {
	if onlyBindings {
		return writeBindings()
	}
	if len(args) == 1 && args[0] == cli.VersionFlag {
		fmt.Println(version.Window + " " + version.Version)
		return nil
	}
	if len(args) == 2 && args[0] == waitingFlag {
		return showWaiting()
	}
	folders, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	workAroundWebKit()
	starting = true
	if runtime.GOOS == "linux" && os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return fault.New(fault.Unavailable, "window", "There is no display to show the window on.",
			"Start it in a desktop session, or use conclave chat.")
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	program, err := workerProgram()
	if err != nil {
		return err
	}
	c, err := openCore(ctx, core.Options{
		Data: folders.Data, Plugins: folders.Plugins, OwnPlugins: folders.OwnPlugins, Worker: program, Name: core.WindowName,
		Watched: true,
	})
	if fault.KindOf(err) == fault.Locked {
		return focusOther(ctx, folders, stderr)
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
	keep := windowstore.New(c)
	defer keep.Close()
	window := app.New(keep.Core(app.Info{
		Version: version.Version, Data: folders.Data, Plugins: folders.Plugins, Logs: filepath.Join(folders.Data, "logs"),
		Isolation: c.Isolation(), Trouble: c.Trouble,
	}), c.Log)
	server, err := c.Serve(func(args []string) bool {
		if len(args) == 2 && args[0] == "window" && args[1] == "focus" {
			window.Focus()
			return true
		}
		return false
	})
	if err != nil {
		c.Log.Warn("commands cannot be served while the window is open", "err", err)
	} else {
		defer server.Close()
	}
	watching := make(chan struct{})
	following := make(chan struct{})
	go func() { // ends with ctx
		defer close(following)
		c.HTTP.Follow(ctx)
	}()
	go func() { // ends with ctx, which is cancelled before the core closes
		defer close(watching)
		if err := c.Watch(ctx); err != nil {
			c.Log.Error("the plugins folder is not followed any more", "err", err)
		}
	}()
	defer func() { cancel(errors.New("the window closed")); <-watching; <-following }()
	return open(ctx, window, c.Log)
}

// writeBindings lets Wails write what the page may call. It needs the methods
// alone: no store, plugin or window is opened.
func writeBindings() error {
	return wails.Run(&options.App{Bind: app.New(app.Core{}, slog.Default()).Bind()})
}

// parse reads the flags, which are those of the terminal program.
func parse(args []string, stderr io.Writer) (cli.Folders, error) {
	flags := flag.NewFlagSet("conclave-window", flag.ContinueOnError)
	flags.SetOutput(stderr)
	data := flags.String("data", os.Getenv("CONCLAVE_DATA"), "folder of the store, logs and media")
	plugins := flags.String("plugins", os.Getenv("CONCLAVE_PLUGINS"), "the watched plugins folder")
	ownFlags(flags)
	if err := flags.Parse(args); err != nil {
		return cli.Folders{}, err
	}
	return cli.ResolveFolders(*data, *plugins, os.Getenv, func(path string) (string, error) { return filepath.Abs(path) })
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

// focusOther brings the window that is open to the front.
func focusOther(ctx context.Context, folders cli.Folders, stderr io.Writer) error {
	_, err := remote.Run(ctx, folders.Data, remote.Command{Version: version.Version, Args: []string{"window", "focus"}},
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

// settled is how long after its page is loaded a window has asked for all that it shows.
const settled = 500 * time.Millisecond

// open runs Wails until the window closes.
func open(ctx context.Context, window *app.App, log *slog.Logger) error {
	dist, err := fs.Sub(pages, "frontend/dist")
	if err != nil {
		return err
	}
	ground := options.NewRGB(0xFB, 0xFA, 0xF8) // --bg of the page's tokens, light and dark
	if window.Dark(ctx) {
		ground = options.NewRGB(0x16, 0x16, 0x14)
	}
	release, err := guardDevServer(ctx, log)
	if err != nil {
		return err
	}
	defer release()
	starting = false
	return wails.Run(&options.App{
		Title: "Conclave", Width: width, Height: height, MinWidth: minWidth, MinHeight: minHeight,
		AssetServer:      &assetserver.Options{Assets: dist, Handler: window.Assets(), Middleware: window.FirstFrame},
		BackgroundColour: ground,
		OnStartup:        window.Startup,
		OnDomReady:       func(context.Context) { time.AfterFunc(settled, func() { forgetStart(log) }) },
		OnShutdown:       window.Shutdown,
		Bind:             window.Bind(),
		ErrorFormatter:   window.FormatError,
		// The page draws its own menus; the web view's would offer Reload and Back.
		EnableDefaultContextMenu: false,
		Linux: &linux.Options{
			ProgramName: programName, Icon: icon, WebviewGpuPolicy: linux.WebviewGpuPolicyNever,
		},
		Mac: &mac.Options{
			About: &mac.AboutInfo{Title: "Conclave", Message: "Talk to models. Keep control.", Icon: icon},
		},
		Windows: &windows.Options{WebviewGpuIsDisabled: false},
	})
}
