package mcp

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"conclave/app/plugin"
	"conclave/app/plugin/dialect/mcp/bundle"
	"conclave/app/plugin/dialect/mcp/config"
)

// bundleEndings are those of the files that hold a server with its code.
var bundleEndings = []string{".mcpb", ".dxt"}

func isBundle(path string) bool {
	return slices.Contains(bundleEndings, strings.ToLower(filepath.Ext(path)))
}

// bundled holds what the manifest of a bundle adds to its entry.
type bundled struct {
	Title       string             `json:"title"`
	Version     string             `json:"version"`
	Description string             `json:"description"`
	Author      string             `json:"author"`
	Homepage    string             `json:"homepage,omitempty"`
	Signature   string             `json:"signature"` // in words
	Signer      string             `json:"signer,omitempty"`
	Tools       []config.NamedText `json:"tools,omitempty"`
	Generated   bool               `json:"generated,omitempty"`
	Runtimes    []string           `json:"runtimes,omitempty"`
}

// readBundle reads the bundle at path, which is one plugin: its archive is what a person approves.
func readBundle(src plugin.Source, path string) file {
	f := file{values: map[string]map[string]string{}}
	b, err := bundle.Inspect(path)
	if err != nil {
		p, ok := errors.AsType[config.Problem](err)
		if !ok {
			unreadable := plugin.Unreadable(filepath.Base(path), err)
			p = config.Problem{Message: unreadable.Message, Hint: unreadable.Hint}
		}
		f.entries = []plugin.Source{problemOf(src, p)}
		return f
	}
	one := plugin.Source{
		ID: plugin.LegalID(stemOf(src)), Display: cmp.Or(src.Display, src.Path), Dialect: Name, Path: src.Path,
	}
	one.Row = row{Server: &b.Server, Bundle: &bundled{
		Title: b.Title, Version: b.Version, Description: b.Description, Author: b.Author, Homepage: b.Homepage,
		Signature: b.Signature.Words(), Signer: b.Signature.Signer, Tools: b.Tools, Generated: b.Generated,
		Runtimes: b.Runtimes,
	}}.text()
	f.entries = []plugin.Source{one}
	return f
}

// describe puts what is known of a bundle into its manifest.
func (b *bundled) describe(m *plugin.Manifest) {
	m.Name, m.Version, m.Author, m.Homepage = b.Title, b.Version, b.Author, b.Homepage
	m.Description = b.Description + " " + m.Description
	signed := "Its file is " + b.Signature + "."
	if b.Signature == string(bundle.SelfSigned) {
		signed = fmt.Sprintf("Its file is self-signed as “%s”, which nobody confirms.", b.Signer)
	}
	m.Notices = append(m.Notices, signed)
	var names []string
	for _, tool := range b.Tools {
		names = append(names, tool.Name)
	}
	if len(names) > 0 {
		said := "It names these tools: " + listed(names) + "."
		if b.Generated {
			said += " There may be others once it runs."
		}
		m.Notices = append(m.Notices, said)
	}
	if len(b.Runtimes) > 0 {
		m.Notices = append(m.Notices, "It needs "+listed(b.Runtimes)+".")
	}
}

// bundlesIn is where bundles are unpacked, each version in a folder that is named by its digest.
func bundlesIn(runtime string) string { return filepath.Join(runtime, "bundles") }

// Tidy implements plugin.Tidier: it removes the folders of bundles that are gone or were replaced.
func (d *Dialect) Tidy(runtime string, digests []string) error {
	all, err := os.ReadDir(bundlesIn(runtime))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, folder := range all {
		if !slices.Contains(digests, folder.Name()) {
			err = errors.Join(err, d.removeUnpacked(bundlesIn(runtime), folder.Name()))
		}
	}
	return err
}

// removeUnpacked removes the folder of a bundle that was not started. A start that comes now unpacks it again.
func (d *Dialect) removeUnpacked(above, name string) error {
	aside := filepath.Join(above, strings.TrimSuffix(name, goneEnding)+goneEnding)
	d.mu.Lock()
	started := d.unpacked[name]
	var err error
	if !started {
		err = os.Rename(filepath.Join(above, name), aside)
	}
	d.mu.Unlock()
	if started || err != nil {
		return err
	}
	return os.RemoveAll(aside)
}

// goneEnding is that of a folder which is being removed.
const goneEnding = ".gone"

// unpack returns the folder to which the bundle of src is unpacked, once for each version of it. What differs
// from the bundle, which is what a person approved, is unpacked again.
func (d *Dialect) unpack(src plugin.Source, start plugin.StartOptions) (string, error) {
	above := bundlesIn(start.Runtime)
	to := filepath.Join(above, start.Code)
	d.mu.Lock()
	d.unpacked[start.Code] = true
	d.mu.Unlock()
	if start.Code == "" || start.Runtime == "" { // a look that is thrown away
		above = start.Storage
		to = filepath.Join(start.Storage, "bundle")
	}
	if _, err := os.Stat(to); err == nil {
		if whole, err := bundle.Holds(src.Path, to); err != nil || whole {
			return to, err
		}
		if err := os.RemoveAll(to); err != nil {
			return "", err
		}
	}
	if err := os.MkdirAll(above, 0o700); err != nil {
		return "", err
	}
	err := bundle.Unpack(src.Path, to)
	if _, there := os.Stat(to); there == nil { // or another start was faster
		return to, nil
	}
	return "", err
}

// withBundle adds the folder of a bundle to the values of its settings, and returns it; "" for another server.
func (d *Dialect) withBundle(src plugin.Source, start plugin.StartOptions, values map[string]any) (string, error) {
	if !src.HasFiles() || src.Folder || !isBundle(src.Path) {
		return "", nil
	}
	folder, err := d.unpack(src, start)
	if p, ok := errors.AsType[config.Problem](err); ok {
		return "", &plugin.Problem{Kind: "refused", Message: p.Message, Hint: p.Hint}
	}
	if err != nil {
		return "", &plugin.Problem{
			Kind: "unavailable", Message: "The bundle could not be unpacked: " + err.Error() + ".",
			Hint: "Check the space on the disk.",
		}
	}
	values[config.Dirname] = folder
	return folder, nil
}
