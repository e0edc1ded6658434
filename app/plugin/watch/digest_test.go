package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/app/base/fault"
)

func digest(t testing.TB, path string) string {
	t.Helper()
	d, _, err := Digest(path)
	must(t, err)
	return d
}

func TestDigestIsTheSameAsLongAsTheFilesAre(t *testing.T) {
	one, two := t.TempDir()+"/p", t.TempDir()+"/q"
	for _, dir := range []string{one, two} {
		write(t, dir+"/main.py", "x")
		write(t, dir+"/lib/a.py", "y")
		write(t, dir+"/.git/HEAD", dir)
		write(t, dir+"/node_modules/x.js", dir)
	}
	must(t, os.Chtimes(two+"/main.py", time.Unix(1, 0), time.Unix(1, 0)))
	d, files, err := Digest(one)
	must(t, err)
	if d != digest(t, two) || len(d) != 64 {
		t.Errorf("two folders with the same files have the digests %s and %s", d, digest(t, two))
	}
	if want := []string{"lib/a.py", "main.py"}; !slices.Equal(files, want) {
		t.Errorf("files are %v, want %v", files, want)
	}
}

func TestDigestOfAFileIsTheSameUnderAnyName(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/a.py", "x")
	write(t, dir+"/b.py", "x")
	if digest(t, dir+"/a.py") != digest(t, dir+"/b.py") {
		t.Error("the digest of a single file depends on its name")
	}
	_, files, err := Digest(dir + "/a.py")
	must(t, err)
	if !slices.Equal(files, []string{"a.py"}) {
		t.Errorf("files are %v", files)
	}
}

func TestDigestTellsDifferentFoldersApart(t *testing.T) {
	trees := []map[string]string{
		{},
		{"a": "x"},
		{"a": "y"},
		{"b": "x"},
		{"a": "", "b": "x"},
		{"a": "x", "b": ""},
		{"a/b": "x"},
		{"ab": "x"},
		{"a": "x", "b": "x"},
		{"a": "->b", "b": "y"},
	}
	seen := map[string]int{}
	for i, tree := range trees {
		dir := t.TempDir()
		for name, content := range tree {
			if target, ok := strings.CutPrefix(content, "->"); ok {
				must(t, os.Symlink(target, filepath.Join(dir, name)))
				continue
			}
			write(t, filepath.Join(dir, name), content)
		}
		d := digest(t, dir)
		if other, ok := seen[d]; ok {
			t.Errorf("%v and %v have the same digest", trees[other], tree)
		}
		seen[d] = i
	}
}

func TestALinkCountsAsWhatItPointsTo(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/.real.py", "one") // itself left out
	must(t, os.Symlink(".real.py", dir+"/main.py"))
	before := digest(t, dir)
	write(t, dir+"/.real.py", "two")
	if digest(t, dir) == before {
		t.Error("what a link inside points to changed, and the digest did not")
	}

	outside := t.TempDir() + "/secret"
	write(t, outside, "one")
	must(t, os.Symlink(outside, dir+"/out.py"))
	before = digest(t, dir)
	write(t, outside, "two")
	if digest(t, dir) != before {
		t.Error("a link that leads out was followed")
	}
	must(t, os.Symlink(".", dir+"/round")) // must not be walked for ever
	digest(t, dir)
}

func TestDigestRefusesWhatIsTooLarge(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/main.py", "x")
	big, err := os.Create(dir + "/big.bin")
	must(t, err)
	must(t, big.Truncate(maxFileBytes), big.Close())
	digest(t, dir)
	must(t, os.Truncate(dir+"/big.bin", maxFileBytes+1))
	_, _, err = Digest(dir)
	if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "big.bin") {
		t.Errorf("got %v, want a fault that names big.bin", err)
	}
	if _, _, err = Digest(dir + "/big.bin"); fault.KindOf(err) != fault.Invalid {
		t.Errorf("as a single file: %v", err)
	}

	many := t.TempDir()
	for i := range maxFiles + 1 {
		write(t, fmt.Sprintf("%s/f%d", many, i), "")
	}
	if _, _, err = Digest(many); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "5000") {
		t.Errorf("too many files: %v", err)
	}

	deep := t.TempDir()
	write(t, deep+strings.Repeat("/d", maxDepth+1)+"/x", "")
	if _, _, err = Digest(deep); fault.KindOf(err) != fault.Invalid {
		t.Errorf("too deep: %v", err)
	}
}

func TestDigestOfNothing(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := Digest(dir + "/none.py"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
	if _, _, err := Digest(dir + "/none/deeper.py"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
	must(t, os.Symlink("nowhere", dir+"/dangling"))
	if _, _, err := Digest(dir + "/dangling"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
	digest(t, dir) // a dangling link inside is no error
}

func TestAnUnreadableFileIsNamed(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	dir := t.TempDir()
	write(t, dir+"/main.py", "x")
	must(t, os.Chmod(dir+"/main.py", 0))
	if _, _, err := Digest(dir); fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "main.py") {
		t.Errorf("got %v, want a fault that names main.py", err)
	}
}

func BenchmarkDigestOfAFile(b *testing.B) {
	path := b.TempDir() + "/a.py"
	write(b, path, strings.Repeat("x = 1\n", 700))
	for b.Loop() {
		digest(b, path)
	}
}
