package window

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/net/fetch"

	"github.com/google/uuid"

	// the formats whose size can be read
	_ "image/gif"
	_ "image/jpeg"
	_ "image/png"
)

// pictureTime bounds the loading of one picture.
const pictureTime = 20 * time.Second

// pictures are the remote pictures that a person asked for, in memory until
// newer ones need their place. The page itself reaches no server.
type pictures struct {
	client *http.Client

	mu    sync.Mutex // guards the fields below
	bytes map[string][]byte
	order []string // the oldest first
	size  int
}

func newPictures() *pictures {
	return &pictures{client: fetch.NewClient(false), bytes: map[string][]byte{}}
}

// LoadPicture fetches a picture that a message names and a person pressed, and
// returns the address under which the page shows it.
func (w *Window) LoadPicture(address string) (string, error) {
	return w.pictures.load(w.call(), address)
}

func (p *pictures) load(ctx context.Context, address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return "", fault.New(fault.Invalid, "app.picture", "Only pictures with a web address can be loaded.",
			"Ask for one that begins with https.")
	}
	u.User = nil // it would be sent as a password nobody saw
	late := fault.New(fault.Timeout, "app.picture", u.Host+" did not send the picture within 20 s.",
		"Try again, or open the address in a browser.")
	ctx, cancel := context.WithTimeoutCause(ctx, pictureTime, late)
	defer cancel()
	data, err := p.fetch(ctx, u)
	if err != nil {
		if ctx.Err() != nil {
			return "", fault.Of(context.Cause(ctx))
		}
		return "", err
	}
	return "/picture/" + p.keep(data), nil
}

func (p *pictures) fetch(ctx context.Context, u *url.URL) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, "app.picture", "The picture's address cannot be asked.", "", err)
	}
	r.Header.Set("User-Agent", "Conclave")
	r.Header.Set("Accept", "image/png, image/jpeg, image/webp, image/gif")
	response, err := p.client.Do(r)
	switch {
	case errors.Is(err, fetch.ErrPrivate):
		return nil, fault.Wrap(fault.NotAllowed, "app.picture",
			"The picture at "+u.Host+" leads to this computer or its own network, so it was not loaded.",
			"Open the address in a browser if you trust it.", err)
	case err != nil:
		return nil, fault.Wrap(fault.Unavailable, "app.picture",
			"The picture at "+u.Host+" could not be loaded: the server could not be reached.",
			"Check the network, or open the address in a browser.", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fault.New(fault.Unavailable, "app.picture",
			fmt.Sprintf("%s did not give the picture: it answered %d.", u.Host, response.StatusCode),
			"The picture may be gone. Open the address in a browser to see.")
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, limit.RemotePicture+1))
	switch {
	case err != nil:
		return nil, fault.Wrap(fault.Unavailable, "app.picture", "The picture at "+u.Host+" came only in part.", "Try again.",
			err)
	case int64(len(data)) > limit.RemotePicture:
		return nil, fault.New(fault.Invalid, "app.picture", "The picture is larger than 10 MiB, so it is not shown.",
			"Open the address in a browser.")
	}
	return data, check(data)
}

// check refuses what is no picture that the page shows, or one that unpacks to
// more than a web view can hold.
func check(data []byte) error {
	width, height := 0, 0
	switch kind := http.DetectContentType(data); kind {
	case "image/webp":
		width, height = webpSize(data)
	case "image/png", "image/jpeg", "image/gif":
		if config, _, err := image.DecodeConfig(bytes.NewReader(data)); err == nil {
			width, height = config.Width, config.Height
		}
	}
	if width <= 0 || height <= 0 {
		return fault.New(fault.Invalid, "app.picture",
			"What came is not a PNG, JPEG, GIF or WebP picture, so it is not shown.", "Open the address in a browser.")
	}
	if int64(width)*int64(height) > limit.PicturePixels {
		return fault.New(fault.Invalid, "app.picture",
			"The picture has more than 50 million pixels, so it is not shown.", "Open the address in a browser.")
	}
	return nil
}

// webpSize reads the size from a WebP file's first chunk (RFC 9649, 2.4 to 2.7).
func webpSize(data []byte) (width, height int) {
	if len(data) < 30 {
		return 0, 0
	}
	switch string(data[12:16]) {
	case "VP8 ":
		return int(binary.LittleEndian.Uint16(data[26:]) & 0x3fff), int(binary.LittleEndian.Uint16(data[28:]) & 0x3fff)
	case "VP8L":
		bits := binary.LittleEndian.Uint32(data[21:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1
	case "VP8X":
		three := func(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
		return three(data[24:]) + 1, three(data[27:]) + 1
	}
	return 0, 0
}

// keep holds on to a picture, in the place of older ones, and returns its name.
func (p *pictures) keep(data []byte) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	name := uuid.NewString()
	p.bytes[name] = data
	p.order = append(p.order, name)
	p.size += len(data)
	for p.size > 4*limit.RemotePicture {
		p.size -= len(p.bytes[p.order[0]])
		delete(p.bytes, p.order[0])
		p.order = p.order[1:]
	}
	return name
}

// pictureOf returns the bytes of a picture by the path that load returned.
func (p *pictures) pictureOf(path string) ([]byte, bool) {
	name, ok := strings.CutPrefix(path, "/picture/")
	p.mu.Lock()
	defer p.mu.Unlock()
	data, there := p.bytes[name]
	return data, ok && there
}
