package bundle

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const manifest = `{"manifest_version":"0.2","name":"greeter","version":"1.0.0","description":"Greets","author":{"name":"Ann"},
	"server":{"type":"binary","entry_point":"bin/serve","mcp_config":{"command":"${__dirname}/bin/serve","args":[]}}}`

// entry is a file of an archive.
type entry struct {
	name, text string
	mode       fs.FileMode
}

// packed returns an archive of a bundle.
func packed(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		h.SetMode(e.mode | 0o600)
		w, err := z.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func saved(t testing.TB, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.mcpb")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestMC98ABundleIsReadAndUnpacked(t *testing.T) {
	path := saved(t, packed(t, entry{"manifest.json", manifest, 0}, entry{"bin/serve", "#!/bin/sh\n", 0},
		entry{"node_modules/x/.bin/tool", "x", 0o100}, entry{`lib\a.txt`, "a", 0}, entry{"empty/", "", fs.ModeDir}))
	b, err := Inspect(path)
	if err != nil || b.Name != "greeter" || b.Author != "Ann" || b.Signature.Words() != "unsigned" {
		t.Fatalf("%+v %v", b, err)
	}
	to := filepath.Join(t.TempDir(), "unpacked")
	if err := Unpack(path, to); err != nil {
		t.Fatal(err)
	}
	for name, executable := range map[string]bool{
		"manifest.json": false, "bin/serve": true, "node_modules/x/.bin/tool": true, "lib/a.txt": false,
	} {
		info, err := os.Stat(filepath.Join(to, name))
		if err != nil || info.Mode()&0o100 != 0 != executable || info.Mode()&0o077 != 0 {
			t.Errorf("%s: %v %v", name, info, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(to), ".unpacking-*")); len(left) != 0 {
		t.Errorf("%q was left", left)
	}
	if err := Unpack(path, to); err == nil {
		t.Error("a folder that exists was unpacked into")
	}
}

func TestMC98AnArchiveThatLeadsOutOrExplodesIsRefused(t *testing.T) {
	good := []entry{{"manifest.json", manifest, 0}, {"bin/serve", "x", 0}}
	many := append([]entry{}, good...)
	for range MaxFiles {
		many = append(many, entry{"x", "", 0})
	}
	for want, entries := range map[string][]entry{
		"leads out of it":      {{"../evil", "x", 0}},
		"leads out of it: \"/": {{"/etc/evil", "x", 0}},
		"leads out of it: \"a": {{`a\..\..\evil`, "x", 0}},
		"a link":               {{"link", "/etc/passwd", fs.ModeSymlink}},
		"two files":            {{"a/x", "1", 0}, {"a/x", "2", 0}},
		"times as large":       {{"bomb", strings.Repeat("0", 4<<20), 0}},
	} {
		_, err := Inspect(saved(t, packed(t, append(append([]entry{}, good...), entries...)...)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := Inspect(saved(t, packed(t, many...))); err == nil || !strings.Contains(err.Error(), "20000") {
		t.Errorf("too many files: %v", err)
	}
	for name, data := range map[string][]byte{
		"no archive": []byte("hello"), "nothing": {}, "no manifest": packed(t, entry{"a", "b", 0}),
		"a signature without an archive": append(append([]byte{}, beginMark...), endMark...), "the end alone": endMark,
	} {
		if _, err := Inspect(saved(t, data)); err == nil {
			t.Errorf("%s was read", name)
		}
	}
	if _, err := Inspect(saved(t, packed(t, good[0]))); err == nil || !strings.Contains(err.Error(), "bin/serve") {
		t.Errorf("without the file that it starts: %v", err)
	}
}

// The file in testdata was signed with openssl, by a certificate that nobody else confirms.
func TestMC99ASignatureIsDescribedInFourWords(t *testing.T) {
	data, err := os.ReadFile("testdata/signed.mcpb")
	if err != nil {
		t.Fatal(err)
	}
	b, err := Inspect(saved(t, data))
	if err != nil || b.Signature.Words() != "self-signed" || b.Signature.Signer != "Ann Works" {
		t.Fatalf("%+v %v", b.Signature, err)
	}
	if err := Unpack(saved(t, data), filepath.Join(t.TempDir(), "x")); err != nil {
		t.Error(err)
	}
	begin := bytes.LastIndex(data, beginMark)
	changed := bytes.Clone(data)
	at := bytes.Index(changed, []byte("console.log"))
	changed[at] = 'C'
	cutShort := append(bytes.Clone(data[:begin+len(beginMark)+300]), endMark...)
	otherLength := bytes.Clone(data)
	binary.LittleEndian.PutUint32(otherLength[begin+len(beginMark):], 5)
	for name, broken := range map[string][]byte{"changed": changed, "cut": cutShort, "another length": otherLength} {
		if _, err := Inspect(saved(t, broken)); err == nil || !strings.Contains(err.Error(), "broken") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// a program that signs may count the signature as the comment of the archive
	commented := bytes.Clone(data)
	binary.LittleEndian.PutUint16(commented[begin-2:], uint16(len(data)-begin))
	if o, err := open(saved(t, commented)); err != nil || len(o.zip.File) != 2 {
		t.Errorf("with the length of a comment: %v", err)
	} else if err := o.Close(); err != nil {
		t.Error(err)
	}
	if (Signature{State: Signed, Signer: "Ann"}).Words() != "signed by Ann" {
		t.Error("a signer is not named")
	}
}

func FuzzInspect(f *testing.F) {
	signed, err := os.ReadFile("testdata/signed.mcpb")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(signed)
	f.Add(packed(f, entry{"manifest.json", manifest, 0}))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		path := filepath.Join(t.TempDir(), "x.mcpb")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if b, err := Inspect(path); err == nil && (b.Name == "" || b.Signature.State == Signed) {
			t.Errorf("%+v", b)
		}
	})
}
