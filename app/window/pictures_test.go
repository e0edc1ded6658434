package window

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/png"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/net/fetch"
)

// pictureServer answers each path with its bytes.
func pictureServer(t *testing.T, files map[string][]byte) (string, *http.Header) {
	t.Helper()
	asked := &http.Header{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked = r.Header.Clone()
		w.Header().Set("Content-Type", "image/png") // whatever it is
		if data, ok := files[r.URL.Path]; ok {
			_, _ = w.Write(data)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

func somePNG(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	must(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 4, 3))))
	return b.Bytes()
}

// withSize changes the size that a PNG's header claims.
func withSize(data []byte, width, height uint32) []byte {
	data = bytes.Clone(data)
	binary.BigEndian.PutUint32(data[16:], width)
	binary.BigEndian.PutUint32(data[20:], height)
	binary.BigEndian.PutUint32(data[29:], crc32.ChecksumIEEE(data[12:29]))
	return data
}

// reaching returns a window whose pictures may come from this computer, where
// the tests' servers are.
func reaching(t *testing.T, local bool) *App {
	t.Helper()
	a := New(Core{}, slog.New(slog.DiscardHandler))
	a.begin(t.Context())
	a.Window.pictures.client = fetch.NewClient(local)
	t.Cleanup(a.Window.pictures.client.CloseIdleConnections)
	return a
}

func TestARemotePictureIsFetchedByTheProgramAndShownFromThere(t *testing.T) {
	picture := somePNG(t)
	at, asked := pictureServer(t, map[string][]byte{"/a.png": picture})
	a := reaching(t, true)
	path, err := a.Window.LoadPicture(strings.Replace(at, "http://", "http://me:secret@", 1) + "/a.png")
	must(t, err)
	if sent := *asked; sent.Get("Cookie")+sent.Get("Referer")+sent.Get("Authorization") != "" {
		t.Errorf("the server learned %v", sent)
	}
	recorder := httptest.NewRecorder()
	a.Assets().ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	got, err := io.ReadAll(recorder.Result().Body)
	if err != nil || !bytes.Equal(got, picture) || recorder.Header().Get("Content-Type") != "image/png" {
		t.Errorf("the page is given %d bytes as %s, %v", len(got), recorder.Header().Get("Content-Type"), err)
	}
	recorder = httptest.NewRecorder()
	a.Assets().ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/picture/other", nil))
	if recorder.Code != http.StatusNotFound {
		t.Errorf("a picture nobody asked for: %d", recorder.Code)
	}
}

func TestARemotePictureIsBounded(t *testing.T) {
	picture := somePNG(t)
	side := uint32(limit.PicturePixels / 1000)
	at, _ := pictureServer(t, map[string][]byte{
		"/most":  append(withSize(picture, side, 1000), make([]byte, limit.RemotePicture-len(picture))...),
		"/large": append(bytes.Clone(picture), make([]byte, limit.RemotePicture-len(picture)+1)...),
		"/bomb":  withSize(picture, side+1, 1000),
		"/page":  []byte("<!doctype html><script>alert(1)</script>"),
		"/svg":   []byte(`<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`),
		"/webp":  []byte("RIFF\x1a\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff"),
	})
	a := reaching(t, true)
	for path, want := range map[string]string{
		"/most": "", "/large": "The picture is larger than 10 MiB, so it is not shown.",
		"/bomb": "The picture has more than 50 million pixels, so it is not shown.",
		"/webp": "The picture has more than 50 million pixels, so it is not shown.",
		"/page": "not a PNG", "/svg": "not a PNG", "/none": "answered 404",
	} {
		_, err := a.Window.LoadPicture(at + path)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", path, err)
		case want != "" && (err == nil || !strings.Contains(fault.Of(err).Message, want)):
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
	for range 9 {
		if _, err := a.Window.LoadPicture(at + "/most"); err != nil {
			t.Fatal(err)
		}
	}
	if held := a.Window.pictures.size; held > 4*limit.RemotePicture {
		t.Errorf("%d bytes are held", held)
	}
}

func TestNoRemotePictureLeadsToThisComputer(t *testing.T) {
	at, asked := pictureServer(t, map[string][]byte{"/a.png": somePNG(t)})
	a := reaching(t, false)
	for _, address := range []string{
		at + "/a.png", strings.Replace(at, "127.0.0.1", "localhost", 1) + "/a.png", "http://169.254.169.254/a.png",
	} {
		_, err := a.Window.LoadPicture(address)
		if f := fault.Of(err); f == nil || f.Kind != fault.NotAllowed || !strings.Contains(f.Message, "this computer") ||
			f.Hint == "" {
			t.Errorf("%s: %+v", address, f)
		}
	}
	for _, address := range []string{"file:///etc/passwd", "data:image/png;base64,AA==", "//x/a.png", "ftp://x/a.png"} {
		if _, err := a.Window.LoadPicture(address); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v", address, err)
		}
	}
	if len(*asked) != 0 {
		t.Error("the server was asked")
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Window.pictures.load(stopped, at+"/a.png"); fault.KindOf(err) != fault.Canceled {
		t.Errorf("a stopped one: %v", err)
	}
}

// The page may load nothing but what the program serves, and connect to nobody
// else; a development build needs no more (frontend/e2e/program.mjs runs one).
func TestThePagesPolicyNamesNoAddress(t *testing.T) {
	page, err := os.ReadFile("../../frontend/index.html")
	must(t, err)
	policy := regexp.MustCompile(`Content-Security-Policy"\s+content="([^"]*)"`).FindSubmatch(page)
	if policy == nil {
		t.Fatal("the page has no policy")
	}
	for _, directive := range strings.Split(string(policy[1]), ";") {
		name, sources, _ := strings.Cut(strings.TrimSpace(directive), " ")
		for _, source := range strings.Fields(sources) {
			switch source {
			case "'self'", "'none'":
			case "data:", "blob:":
				if name != "img-src" && name != "font-src" {
					t.Errorf("%s allows %s", name, source)
				}
			case "'unsafe-inline'":
				if name != "style-src" {
					t.Errorf("%s allows %s", name, source)
				}
			default:
				t.Errorf("%s allows %s", name, source)
			}
		}
	}
	if !strings.Contains(string(policy[1]), "default-src 'self'") {
		t.Errorf("the policy is %s", policy[1])
	}
}
