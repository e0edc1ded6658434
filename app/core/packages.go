package core

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"

	"conclave/app/plugin/packages"
)

// environments returns the environments of plugins' packages, one for each plugin,
// below the data folder. The person's own pip index is theirs; a program's
// configuration files are not read.
func (c *Core) environments() *packages.Environments {
	return packages.New(packages.Options{
		Dir: filepath.Join(c.o.Data, "environments"), Python: c.Python, Launcher: c.launcher, Log: c.Log, UV: uv(),
		Index: cmp.Or(os.Getenv("CONCLAVE_PACKAGE_INDEX"), os.Getenv("PIP_INDEX_URL"), os.Getenv("UV_DEFAULT_INDEX")),
	})
}

// uv returns the path of the program uv, or "" when there is none.
func uv() string {
	path, err := exec.LookPath("uv")
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return ""
	}
	return path
}
