package terminal

import (
	"path/filepath"
	"runtime"

	"conclave/app/base/fault"
)

// defaultData returns the platform's data folder for Conclave, by the XDG base directory
// specification and the conventions of Apple and Microsoft.
func defaultData(env func(string) string) (string, error) {
	home := env("HOME")
	switch runtime.GOOS {
	case "windows":
		if local := env("LOCALAPPDATA"); local != "" {
			return filepath.Join(local, "Conclave"), nil
		}
		home = env("USERPROFILE")
	case "darwin":
		if home != "" {
			return filepath.Join(home, "Library", "Application Support", "Conclave"), nil
		}
	default:
		if data := env("XDG_DATA_HOME"); filepath.IsAbs(data) {
			return filepath.Join(data, "conclave"), nil
		}
	}
	if home == "" {
		return "", fault.New(fault.Invalid, "cli.places", "There is no home folder to keep Conclave's data in.",
			"Name a folder with --data.")
	}
	return filepath.Join(home, ".local", "share", "conclave"), nil
}

// ResolveFolders returns the folders for the values of --data and --plugins, each of which may be
// empty. path makes a path absolute.
func ResolveFolders(data, plugins string, env func(string) string, path func(string) (string, error)) (Folders, error) {
	var err error
	if data == "" {
		data, err = defaultData(env)
	} else {
		data, err = path(data)
	}
	if err != nil {
		return Folders{}, err
	}
	if plugins == "" {
		return Folders{Data: data, Plugins: filepath.Join(data, "plugins"), OwnPlugins: true}, nil
	}
	plugins, err = path(plugins)
	return Folders{Data: data, Plugins: plugins}, err
}
