package model

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"conclave/app/chat"
)

// Picture returns a picture that a model drew, of a data URL or of base64, or nil where it is none.
func Picture(text string) *chat.Media {
	if rest, ok := strings.CutPrefix(text, "data:"); ok {
		kind, data, found := strings.Cut(rest, ",")
		if !found || !strings.HasSuffix(kind, ";base64") {
			return nil
		}
		text = data
	}
	data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		data, err = base64.RawStdEncoding.DecodeString(strings.TrimSpace(text))
	}
	if err != nil {
		return nil
	}
	return PictureOf(data)
}

// PictureOf returns a picture with its type, which its bytes decide, or nil where they are none.
func PictureOf(data []byte) *chat.Media {
	kind, _, _ := strings.Cut(http.DetectContentType(data), ";")
	ending, ok := map[string]string{
		"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp",
	}[kind]
	if !ok {
		return nil
	}
	return &chat.Media{MIME: kind, Name: "drawn." + ending, Size: int64(len(data)), Data: data}
}

// maxSources bounds how many sources of an answer are named.
const maxSources = 50

// Sources gathers the addresses that an answer cites. The zero value is empty.
type Sources struct {
	order []string
	title map[string]string
}

// Take adds what a server sends as citations: addresses, or objects that hold one.
func (s *Sources) Take(raw json.RawMessage) {
	for _, one := range List(raw) {
		var address string
		title := ""
		if members := Object(one); members != nil {
			if inner := Object(members["url_citation"]); inner != nil {
				members = inner
			}
			if inner := Object(members["web"]); inner != nil { // Gemini's
				members = inner
			}
			address, title = Member(members, "url", "uri", "link"), Member(members, "title")
		} else {
			_ = json.Unmarshal(one, &address) // no text: no address
		}
		if !strings.HasPrefix(address, "https://") && !strings.HasPrefix(address, "http://") || len(address) > 2000 {
			continue
		}
		if s.title == nil {
			s.title = map[string]string{}
		}
		if _, ok := s.title[address]; !ok && len(s.order) < maxSources {
			s.order = append(s.order, address)
			s.title[address] = ""
		}
		if title = printable(title); title != "" && title != address {
			s.title[address] = title
		}
	}
}

// What Markdown would take for its own in a title and in an address.
var (
	plainTitle   = strings.NewReplacer("[", "(", "]", ")", "<", "", ">", "", "*", "", "_", " ", "`", "")
	plainAddress = strings.NewReplacer("<", "%3C", ">", "%3E", " ", "%20", "\n", "", "\r", "")
)

// Text returns the sources as the end of an answer, numbered as they came, or "".
func (s *Sources) Text() string {
	if len(s.order) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n\nSources:\n")
	for i, address := range s.order {
		fmt.Fprintf(&b, "\n%d. ", i+1)
		if title := s.title[address]; title != "" {
			b.WriteString(plainTitle.Replace(title) + ": ")
		}
		b.WriteString("<" + plainAddress.Replace(address) + ">")
	}
	b.WriteByte('\n')
	return b.String()
}
