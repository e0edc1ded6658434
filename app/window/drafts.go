package window

import (
	"encoding/json"

	"conclave/app/base/settings"
	"conclave/app/view"
)

// keptDraft is a draft as it is stored with the conversation.
type keptDraft struct {
	Text        string     `json:"text"`
	Cursor      int        `json:"cursor"`
	Attachments []Attached `json:"attachments,omitempty"`
	Queued      []Queued   `json:"queued,omitempty"`
}

// Draft returns the half-written message; conversation "" is the welcome page's.
func (c *Chats) Draft(conversation string) (Draft, error) {
	ctx := c.call()
	raw := ""
	if conversation == "" {
		s, err := c.core.Settings.Settings(ctx)
		if err != nil {
			return Draft{}, err
		}
		raw = s.Draft
	} else {
		v, err := c.core.Store.Conversation(ctx, id(conversation))
		if err != nil {
			return Draft{}, err
		}
		raw = v.Draft
	}
	var kept keptDraft
	if raw != "" && json.Unmarshal([]byte(raw), &kept) != nil {
		kept = keptDraft{Text: raw, Cursor: len(raw)}
	}
	for i := range kept.Queued {
		kept.Queued[i].Attachments = view.List(kept.Queued[i].Attachments)
	}
	return Draft{kept.Text, kept.Cursor, view.List(kept.Attachments), view.List(kept.Queued)}, nil
}

// SaveDraft keeps the half-written message; it waits for no disk.
func (c *Chats) SaveDraft(conversation string, draft Draft) error {
	raw := ""
	if draft.Text != "" || len(draft.Attachments) > 0 || len(draft.Queued) > 0 {
		text, err := json.Marshal(keptDraft(draft))
		if err != nil {
			return err
		}
		raw = string(text)
	}
	if conversation == "" {
		_, err := c.core.Settings.ChangeSettings(c.call(), func(s *settings.Settings) { s.Draft = raw })
		return err
	}
	c.core.Store.SaveDraft(id(conversation), raw)
	return nil
}
