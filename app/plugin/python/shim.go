package python

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"conclave/app/fault"
)

// shim is the worker program and the modules of the ecosystems. Only .py files
// of it are unpacked.
//
//go:embed all:shim
var shim embed.FS

// probe is what is asked of an interpreter once.
//
//go:embed probe.py
var probe string

// boot starts the worker without putting anything else on its path.
const boot = "import sys;sys.path.insert(0,sys.argv[1]);from conclave_worker.main import main;main()"

// shimDigest names the worker's files and the questions of the probe.
var shimDigest = sync.OnceValue(func() string {
	sum := sha256.New()
	sum.Write([]byte(probe))
	_ = fs.WalkDir(shim, "shim", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !isSource(path, entry) {
			return err
		}
		text, err := shim.ReadFile(path)
		sum.Write([]byte("\x00" + path + "\x00"))
		sum.Write(text)
		return err
	})
	return hex.EncodeToString(sum.Sum(nil))[:16]
})

func isSource(path string, entry fs.DirEntry) bool {
	return !entry.IsDir() && strings.HasSuffix(path, ".py")
}

// unpack makes sure that the worker's files lie below runtime and returns their
// folder. The folder appears whole or not at all, whoever else unpacks it at the
// same moment. The error is a fault of kind unavailable.
func unpack(runtime string) (string, error) {
	final := filepath.Join(runtime, "python-"+shimDigest())
	if _, err := os.Stat(final); err == nil {
		return final, nil
	}
	err := unpackTo(runtime, final)
	if err != nil {
		return "", fault.Wrap(fault.Unavailable, "python.unpack",
			"The Python worker cannot be unpacked into "+runtime+".", "Check that the folder may be written and the disk is not full.", err)
	}
	return final, nil
}

func unpackTo(runtime, final string) error {
	if err := os.MkdirAll(runtime, 0o700); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(runtime, "python-new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp) //nolint:errcheck // it is gone after the rename
	err = fs.WalkDir(shim, "shim", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !isSource(path, entry) {
			return nil
		}
		to := filepath.Join(temp, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		text, err := shim.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, text, 0o600)
	})
	if err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(temp, "shim"), final); err != nil {
		if _, there := os.Stat(final); there == nil {
			return nil // another process was faster, with the same files
		}
		return err
	}
	return nil
}
