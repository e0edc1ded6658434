// Package bundle reads MCP bundles (.mcpb, older .dxt): archives with a server and its manifest.json, and perhaps a
// signature behind them. It runs nothing of a bundle. What a manifest says is read by package config.
//
// Read Inspect and Unpack first.
package bundle

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"conclave/app/plugin/dialect/mcp/config"

	"golang.org/x/text/unicode/norm"
)

// What a bundle may hold.
const (
	MaxBytes     = 500 << 20 // unpacked
	MaxFiles     = 20_000
	maxRatio     = 200     // unpacked to packed, of a file that is large
	ratioFrom    = 1 << 20 // smaller files may be packed better
	maxManifest  = 1 << 20
	manifestName = "manifest.json"
)

// Bundle describes a bundle, before anything of it has run.
type Bundle struct {
	config.Manifest
	Signature Signature
}

// Inspect reads the manifest and the signature of the bundle at a path. The error is a config.Problem that a person
// can read, or that of the file.
func Inspect(at string) (Bundle, error) {
	o, err := open(at)
	if err != nil {
		return Bundle{}, err
	}
	defer o.Close() //nolint:errcheck // it was only read
	if o.signature.State == Broken {
		return Bundle{}, config.Problem{
			Message: "Its signature is broken: the file was changed after it was signed, or damaged.",
			Hint:    "Download it again.",
		}
	}
	manifest, err := o.manifest()
	if err != nil {
		return Bundle{}, err
	}
	m, err := config.ReadManifest(manifest, config.Platform(runtime.GOOS))
	if err != nil {
		return Bundle{}, err
	}
	if m.Entry != "" && !o.has(m.Entry) {
		return Bundle{}, config.Problem{
			Message: "It does not hold the file that it starts, " + m.Entry + ".", Hint: "Download it again.",
		}
	}
	return Bundle{m, o.signature}, nil
}

// Unpack unpacks the bundle at a path into the folder to, which must not exist; the folder above it must. A program
// that is ended in between leaves nothing at to.
func Unpack(at, to string) error {
	o, err := open(at)
	if err != nil {
		return err
	}
	defer o.Close() //nolint:errcheck // it was only read
	raw, err := o.manifest()
	if err != nil {
		return err
	}
	m, err := config.ReadManifest(raw, config.Platform(runtime.GOOS))
	if err != nil {
		return err
	}
	half, err := os.MkdirTemp(filepath.Dir(to), ".unpacking-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(half) //nolint:errcheck // moved away, or of no further use
	if err := o.unpack(half, m); err != nil {
		return err
	}
	return os.Rename(half, to)
}

// errDiffers is why Holds reports false.
var errDiffers = errors.New("it differs")

// Holds reports whether the folder to holds the files of the bundle at a path, byte by byte, and nothing else. The
// error is that of the bundle.
func Holds(at, to string) (bool, error) {
	o, err := open(at)
	if err != nil {
		return false, err
	}
	defer o.Close() //nolint:errcheck // it was only read
	root, err := os.OpenRoot(to)
	if err != nil {
		return false, nil
	}
	defer root.Close() //nolint:errcheck // it was only read
	left := map[string]*zip.File{}
	for _, f := range o.zip.File {
		if name := slashed(f.Name); !f.Mode().IsDir() && !strings.HasSuffix(name, "/") {
			left[path.Clean(name)] = f
		}
	}
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		f := left[name]
		delete(left, name)
		if f == nil || !entry.Type().IsRegular() || !same(root, name, f) {
			return errDiffers
		}
		return nil
	})
	return err == nil && len(left) == 0, nil
}

// same reports whether a file is as the archive has it.
func same(root *os.Root, name string, f *zip.File) bool {
	file, err := root.Open(name)
	if err != nil {
		return false
	}
	defer file.Close() //nolint:errcheck // it was only read
	packed, err := f.Open()
	if err != nil {
		return false
	}
	defer packed.Close()
	const piece = 64 << 10
	ours, theirs := make([]byte, piece), make([]byte, piece)
	for {
		n, err := io.ReadFull(file, ours)
		m, packedErr := io.ReadFull(packed, theirs)
		if !bytes.Equal(ours[:n], theirs[:m]) {
			return false
		}
		if err != nil || packedErr != nil {
			ended := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
			return ended && (errors.Is(packedErr, io.EOF) || errors.Is(packedErr, io.ErrUnexpectedEOF))
		}
	}
}

// opened is a bundle that is read.
type opened struct {
	*os.File
	zip       *zip.Reader
	signature Signature
}

func open(at string) (*opened, error) {
	f, err := os.Open(at) //nolint:gosec // the file that the person added
	if err != nil {
		return nil, err
	}
	o := &opened{File: f}
	if err := o.read(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return o, nil
}

// read finds the signature and the archive before it, and checks what the archive says that it holds.
func (o *opened) read() error {
	info, err := o.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() > MaxBytes {
		return refused("It is no file of at most %d MiB.", MaxBytes>>20)
	}
	content, signed, err := cut(o.File, info.Size())
	if err != nil {
		return err
	}
	o.signature = describe(io.NewSectionReader(o.File, 0, content), signed)
	archive := &uncommented{o.File, content, endOf(o.File, content)}
	if o.zip, err = zip.NewReader(archive, content); err != nil {
		return config.Problem{
			Message: "It is damaged, or no bundle: its archive cannot be read.", Hint: "Download it again.",
		}
	}
	return o.check()
}

func refused(format string, with ...any) error {
	return config.Problem{Message: fmt.Sprintf(format, with...), Hint: "Do not use it."}
}

// check bounds the files of the archive, and refuses names that lead out of it.
func (o *opened) check() error {
	if len(o.zip.File) > MaxFiles {
		return refused("It holds %d files; a bundle may have %d.", len(o.zip.File), MaxFiles)
	}
	var whole uint64
	seen := map[string]bool{}
	for _, f := range o.zip.File {
		name := strings.TrimSuffix(slashed(f.Name), "/")
		switch {
		case name == "":
			continue
		case !filepath.IsLocal(filepath.FromSlash(name)) || strings.ContainsRune(name, 0):
			return refused("It holds a path that leads out of it: %q.", f.Name)
		case !f.Mode().IsRegular() && !f.Mode().IsDir():
			return refused("It holds a link, or something else that is no file: %q.", f.Name)
		case seen[name]:
			return refused("It holds two files of one name: %q.", f.Name)
		case f.UncompressedSize64 > ratioFrom && f.UncompressedSize64/maxRatio > f.CompressedSize64:
			return refused("A file of it would become more than %d times as large: %q.", maxRatio, f.Name)
		}
		seen[name] = true
		if whole += min(f.UncompressedSize64, MaxBytes+1); whole > MaxBytes {
			return refused("It holds more than %d MiB.", MaxBytes>>20)
		}
	}
	return nil
}

// slashed is a name of the archive with slashes, however its program wrote them, and composed.
func slashed(name string) string { return norm.NFC.String(strings.ReplaceAll(name, `\`, "/")) }

func (o *opened) has(name string) bool {
	name = path.Clean(slashed(name))
	for _, f := range o.zip.File {
		if path.Clean(slashed(f.Name)) == name {
			return true
		}
	}
	return false
}

func (o *opened) manifest() ([]byte, error) {
	for _, f := range o.zip.File {
		if slashed(f.Name) != manifestName {
			continue
		}
		in, err := f.Open()
		if err != nil {
			return nil, err
		}
		defer in.Close()
		raw, err := io.ReadAll(io.LimitReader(in, maxManifest+1))
		if err == nil && len(raw) > maxManifest {
			err = refused("Its manifest.json has more than %d MiB.", maxManifest>>20)
		}
		return raw, err
	}
	return nil, config.Problem{Message: "It holds no manifest.json, so it is no bundle."}
}

// unpack writes all files below the folder to.
func (o *opened) unpack(to string, m config.Manifest) error {
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // nothing is buffered
	left := int64(MaxBytes)
	for _, f := range o.zip.File {
		name := slashed(f.Name)
		if f.Mode().IsDir() || strings.HasSuffix(name, "/") {
			continue // made for its files
		}
		mode := os.FileMode(0o600)
		if f.Mode()&0o111 != 0 || m.Binary && path.Clean(name) == path.Clean(slashed(m.Entry)) {
			mode = 0o700
		}
		n, err := unpackFile(root, f, filepath.FromSlash(name), mode, left)
		if err != nil {
			return fmt.Errorf("unpack %s: %w", name, err)
		}
		if left -= n; left < 0 {
			return refused("It holds more than %d MiB.", MaxBytes>>20)
		}
	}
	return nil
}

func unpackFile(root *os.Root, f *zip.File, name string, mode os.FileMode, left int64) (int64, error) {
	if dir := filepath.Dir(name); dir != "." {
		if err := root.MkdirAll(dir, 0o700); err != nil {
			return 0, err
		}
	}
	in, err := f.Open()
	if err != nil {
		return 0, err
	}
	defer in.Close()
	out, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(out, io.LimitReader(in, left+1))
	return n, errors.Join(err, out.Close())
}

// The marks of a signature, which stands behind the archive: begin, its length in four bytes, PKCS#7, end.
var (
	beginMark = []byte("MCPB_SIG_V1")
	endMark   = []byte("MCPB_SIG_END")
)

// maxSignature bounds a signature with its certificates.
const maxSignature = 1 << 20

// cut returns the length of the archive, and the signature behind it; nil without one.
func cut(f io.ReaderAt, size int64) (content int64, signed []byte, err error) {
	tail := make([]byte, min(size, maxSignature))
	if _, err := f.ReadAt(tail, size-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return 0, nil, err
	}
	if !bytes.HasSuffix(tail, endMark) {
		return size, nil, nil
	}
	begin := bytes.LastIndex(tail, beginMark)
	if begin < 0 {
		return 0, nil, refused("It ends as a signed bundle does, but holds no signature.")
	}
	content = size - int64(len(tail)) + int64(begin)
	block := tail[begin+len(beginMark) : len(tail)-len(endMark)]
	const length = 4
	if len(block) < length || int64(binary.LittleEndian.Uint32(block)) != int64(len(block)-length) {
		return content, []byte{}, nil // broken, which describe says
	}
	return content, block[length:], nil
}

// endSize is the length of the record that an archive ends with, and commentAt where in it the length of a comment
// stands.
const (
	endSize   = 22
	commentAt = 20
)

// endOf returns where the last record of an archive of this length begins; -1 where it is not directly at its end.
func endOf(f io.ReaderAt, content int64) int64 {
	record := make([]byte, endSize)
	if content < endSize {
		return -1
	}
	if _, err := f.ReadAt(record, content-endSize); err != nil || !bytes.HasPrefix(record, []byte("PK\x05\x06")) {
		return -1
	}
	return content - endSize
}

// uncommented reads an archive as one without a comment: programs that sign count the signature as its comment.
type uncommented struct {
	io.ReaderAt
	size int64
	end  int64 // where the last record begins; -1: leave it as it is
}

func (u *uncommented) ReadAt(p []byte, off int64) (int, error) {
	n, err := u.ReaderAt.ReadAt(p[:min(int64(len(p)), max(0, u.size-off))], off)
	if n < len(p) && err == nil {
		err = io.EOF
	}
	for i := int64(0); u.end >= 0 && i < 2; i++ {
		if at := u.end + commentAt + i - off; at >= 0 && at < int64(n) {
			p[at] = 0
		}
	}
	return n, err
}
