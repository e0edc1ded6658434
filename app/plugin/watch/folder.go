package watch

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"conclave/app/base/fault"
)

// check finds out whether the folder can be followed, and follows it. It reports
// news of that, or, when first is set, in any case.
func (w *watcher) check(first bool) {
	// The parent tells when the folder comes or is replaced. Where it does not
	// exist either, the heartbeat finds out.
	_ = w.notify.Add(filepath.Dir(w.dir))
	info, state := w.inspect()
	switch {
	case state != nil:
		w.folder = nil
		clear(w.entries)
		if first || w.state == nil || w.state.Error() != state.Error() {
			w.state = state
			w.o.OnState(state)
		}
	case w.folder == nil || !os.SameFile(w.folder, info):
		w.follow(info)
		w.state = nil
		w.o.OnState(nil)
	case !w.folder.ModTime().Equal(info.ModTime()):
		// Something came or went. There were events for it, unless they were lost
		// with a folder that was swapped under the watch.
		w.folder = info
		w.watch(w.dir)
		w.everything()
	}
}

// inspect reports whether the folder is there and can be read.
func (w *watcher) inspect() (os.FileInfo, error) {
	info, err := os.Stat(w.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.Wrap(fault.NotFound, "plugin.watch", "The plugins folder "+w.dir+" does not exist.",
			"Make it, or put a first plugin there.", err)
	case err != nil:
		return nil, unreadable(w.dir, err)
	case !info.IsDir():
		return nil, fault.New(fault.Invalid, "plugin.watch", "The plugins folder "+w.dir+" is not a folder.",
			"Move the file away, or choose another folder.")
	}
	d, err := os.Open(w.dir)
	if err != nil {
		return nil, unreadable(w.dir, err)
	}
	_, err = d.Readdirnames(1)
	_ = d.Close()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, unreadable(w.dir, err)
	}
	return info, nil
}

// follow watches the folder, and takes what is in it for known.
func (w *watcher) follow(info os.FileInfo) {
	w.folder, w.blind = info, false
	clear(w.entries)
	w.watch(w.dir)
	for _, name := range w.names() {
		x := &entry{}
		x.known = w.snapshot(name, x).digest
		if x.known != gone {
			w.entries[name] = x
		}
	}
}

func unreadable(dir string, err error) error {
	return fault.Wrap(fault.Unavailable, "plugin.watch", "The plugins folder "+dir+" cannot be read.",
		"Check that it is a folder that you may read.", err)
}

func noEvents(dir string, err error) error {
	return fault.Wrap(fault.Unavailable, "plugin.watch", "Changes in the plugins folder "+dir+" cannot be noticed.",
		"Reload plugins by hand, or raise the system's limit of watched folders (fs.inotify.max_user_instances).", err)
}
