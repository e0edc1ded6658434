package chat

import (
	"os"
	"path/filepath"

	"conclave/app/base/fault"
	"conclave/app/base/place"
)

// ProjectOf returns the project of chats that are begun in a folder: the folder itself,
// links followed. It is "" for a person's home and for what holds it, which are the
// folder of everything, and for a path that is not absolute.
func ProjectOf(folder string) string {
	if !filepath.IsAbs(folder) {
		return ""
	}
	folder = place.Real(folder)
	home, err := os.UserHomeDir()
	if err == nil && place.Inside(folder, place.Real(home)) || filepath.Dir(folder) == folder {
		return ""
	}
	return folder
}

// OpenProject returns the project that a person names by the path of its folder. The kind
// is invalid for what is no folder, or is none of a project.
func OpenProject(path string) (string, error) {
	const op = "chat.project"
	if info, err := os.Stat(path); !filepath.IsAbs(path) || err != nil || !info.IsDir() {
		return "", fault.New(fault.Invalid, op, "There is no folder “"+path+"”.", "Choose one, or write its whole path.")
	}
	project := ProjectOf(path)
	if project == "" {
		return "", fault.New(fault.Invalid, op, "“"+path+"” is no project: it holds all that you have.",
			"Choose a folder in it.")
	}
	return project, nil
}
