package engine

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
)

// op answers what a script asks of its worker: host(op, text) of the prelude. It
// runs on the engine's goroutine and never waits. What a plugin itself wrote can
// be in text only inside JSON strings the prelude made; anything odd is "".
func (w *worker) op(op, text string) string {
	switch op {
	case "log":
		var line struct {
			Level, Text, Job string
			Failure          *string
			Printed          bool
		}
		if json.Unmarshal([]byte(text), &line) == nil {
			w.script(logLine{line.Level, w.loader.readable(line.Text), line.Job, line.Failure}, line.Printed)
		}
	case "timer.set":
		return w.setTimer(text)
	case "timer.clear":
		if id, err := strconv.Atoi(text); err == nil {
			w.loop.clearTimer(id)
		}
	case "tool.add":
		return w.addTool(text)
	case "tool.remove":
		if w.tools.remove(text) {
			w.toolsChanged()
		}
	case "ask":
		w.ask(text)
	case "call.done":
		w.callDone(text)
	case "load.done":
		w.loadDone(nil)
	case "load.failed":
		var t thrown
		if err := json.Unmarshal([]byte(text), &t); err != nil {
			t = thrown{Message: "It threw something that cannot be shown."}
		}
		w.loadDone(&t)
	case "random":
		return random(text)
	case "uuid":
		return uuid.NewString()
	case "now":
		return strconv.FormatFloat(float64(time.Since(w.loop.started).Microseconds())/1000, 'f', 3, 64)
	case "url.parse", "url.set", "query.parse", "query.write":
		return urlOp(op, text)
	case "file.read":
		return w.readFile(text)
	case "utf8.encode":
		return base64.StdEncoding.EncodeToString([]byte(text))
	case "utf8.decode":
		return decodeUTF8(text)
	case "digest", "hmac", "deflate", "inflate":
		return bytesOp(op, text)
	}
	return ""
}

func (w *worker) setTimer(text string) string {
	var t struct {
		ID     int
		MS     float64
		Repeat bool
	}
	if json.Unmarshal([]byte(text), &t) != nil {
		return ""
	}
	if !w.loop.setTimer(t.ID, time.Duration(t.MS)*time.Millisecond, t.Repeat) {
		return "A plugin may have " + strconv.Itoa(maxTimers) + " timers at once."
	}
	return ""
}

// random returns n random bytes as base64.
func random(text string) string {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > 1<<16 {
		return ""
	}
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return base64.StdEncoding.EncodeToString(b)
}

// decodeUTF8 returns the text that base64 holds, or nothing when it is not UTF-8.
func decodeUTF8(text string) string {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil || !utf8.Valid(b) {
		return ""
	}
	return string(b)
}

// readFile reads a file of the plugin's own folder for fetch (SP-10).
func (w *worker) readFile(address string) string {
	type answer struct {
		Base64 string `json:"base64"`
		Type   string `json:"type"`
		Error  string `json:"error,omitempty"`
	}
	refuse := func(why string) string { return toJSON(answer{Error: why}) }
	u, err := url.Parse(address)
	if err != nil || !strings.HasPrefix(address, fileRoot) {
		return refuse("Only files of the plugin's own folder can be read.")
	}
	name, ok := inside(strings.TrimPrefix(u.Path, "/plugin/"))
	if !ok {
		return refuse("Only files of the plugin's own folder can be read.")
	}
	if w.loader.source == nil {
		return refuse(name + " cannot be read yet.")
	}
	data, err := w.loader.source.Read(name)
	if err != nil {
		return refuse(unreadable(name, err).Message)
	}
	return toJSON(answer{Base64: base64.StdEncoding.EncodeToString(data), Type: mediaTypes[path.Ext(name)]})
}

// mediaTypes are the types a Response names; the system's table is out of reach.
var mediaTypes = map[string]string{
	".json": "application/json", ".txt": "text/plain", ".md": "text/markdown", ".html": "text/html", ".css": "text/css",
	".js": "text/javascript", ".mjs": "text/javascript", ".csv": "text/csv", ".xml": "application/xml",
	".svg": "image/svg+xml",
	".png": "image/png", ".jpg": "image/jpeg", ".webp": "image/webp", ".wasm": "application/wasm",
}

// toJSON writes a value of our own types, which always can be written.
func toJSON(value any) string {
	b, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(b)
}
