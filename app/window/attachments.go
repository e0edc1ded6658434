package window

import (
	"context"
	"encoding/base64"
	"fmt"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/chat/turn"
)

func (c *Chats) attachments(ctx context.Context, ids []string) ([]chat.Part, error) {
	var parts []chat.Part
	for _, mediaID := range ids {
		data, err := c.core.Store.Media(ctx, mediaID)
		if err != nil {
			return nil, err
		}
		media := c.described(mediaID, data)
		parts = append(parts, chat.Part{Kind: chat.PartMedia, Text: media.Name, Media: &media})
	}
	return parts, nil
}

// described returns the media of an attached file under the name it was attached
// with; after a restart, under none.
func (c *Chats) described(mediaID string, data []byte) chat.Media {
	c.mu.Lock()
	m, ok := c.attached[mediaID]
	c.mu.Unlock()
	if ok {
		return m
	}
	m, err := turn.NewAttachment("attachment", data)
	if err != nil { // an older version took it
		m = chat.Media{MIME: "application/octet-stream", Name: "attachment", Size: int64(len(data))}
	}
	m.ID, m.Data = mediaID, nil
	return m
}

// Attached is a file that was attached to the message that is being written.
type Attached struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	MIME string `json:"mime_type"`
	Size int64  `json:"size"`
	// What of it a model is not shown, as a sentence; "" is nothing.
	Lost string `json:"lost"`
}

// Attach keeps a file; data is its bytes in base64, which decide what it is. What of it no
// model is shown is in the result.
func (c *Chats) Attach(name, data string) (Attached, error) {
	ctx := c.call()
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return Attached{}, fault.Wrap(fault.Invalid, "app.attach", "The file "+name+" could not be read.",
			"Try again.", err)
	}
	if len(raw) == 0 {
		return Attached{}, fault.New(fault.Invalid, "app.attach", "The file "+name+" is empty.",
			"Choose another file.")
	}
	m, err := turn.NewAttachment(name, raw)
	if err != nil {
		return Attached{}, err
	}
	return c.keepAttached(ctx, m)
}

// keepAttached stores a file for the message that is being written.
func (c *Chats) keepAttached(ctx context.Context, m chat.Media) (Attached, error) {
	if m.Size > limit.Attachment {
		return Attached{}, fault.New(fault.Invalid, "app.attach",
			fmt.Sprintf("The file %s has more than %s, the most that is taken.", m.Name, limit.Size(limit.Attachment)),
			"Choose a smaller file, or a part of it.")
	}
	if err := c.core.Store.PutMedia(ctx, &m); err != nil {
		return Attached{}, err
	}
	lost := c.core.Turns.Lost(ctx, m)
	m.Data = nil
	c.mu.Lock()
	c.attached[m.ID] = m
	c.mu.Unlock()
	return Attached{ID: m.ID, Name: m.Name, MIME: m.MIME, Size: m.Size, Lost: lost}, nil
}
