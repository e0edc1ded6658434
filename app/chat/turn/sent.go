package turn

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/model"
)

// watched returns a context in which the message stores the request that it answers: of several attempts
// the last. With a log of the caller it stores none.
func (w *writing) watched(ctx context.Context, r model.Request) context.Context {
	if w.t.req.Log != nil {
		return ctx
	}
	if size, _ := model.TextBytes(r); size > limit.SentRequest {
		return ctx // it would not be stored: a long chat is not encoded for nothing
	}
	w.mu.Lock()
	w.sent, w.unsent = nil, &r
	w.mu.Unlock()
	return model.Tap(ctx, func(s model.Sent) {
		w.keepSent(func() model.Body { return withoutPictures(s.Body, r.Messages) })
	})
}

func (w *writing) keepSent(body func() model.Body) {
	kept := body()
	if kept.Len() > limit.SentRequest {
		kept = nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent, w.unsent = kept, nil
}

// request returns the request that was sent for the message, or nil if it is not stored.
func (w *writing) request() model.Body {
	w.mu.Lock()
	unsent := w.unsent
	w.mu.Unlock()
	if unsent != nil { // of a model that is asked without HTTP
		w.keepSent(func() model.Body {
			body, _ := json.Marshal(unsent) // of texts, numbers and JSON that was checked
			return model.Body{body}
		})
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sent
}

// withoutPictures returns a body in which each picture of the messages is named by its
// size and the digest of its bytes.
func withoutPictures(body model.Body, messages []model.Message) model.Body {
	replace := func(p chat.Part) {
		if p.Media == nil || len(p.Media.Data) == 0 {
			return
		}
		text, whole := []byte(base64.StdEncoding.EncodeToString(p.Media.Data)), body.Bytes()
		if bytes.Contains(whole, text) {
			sum := sha256.Sum256(p.Media.Data)
			body = model.Body{
				bytes.ReplaceAll(whole, text, fmt.Appendf(nil, "[%d bytes, SHA-256 %x]", len(p.Media.Data), sum)),
			}
		}
	}
	for _, m := range messages {
		for _, p := range m.Parts {
			replace(p)
			if p.Result != nil {
				for _, c := range p.Result.Content {
					replace(c)
				}
			}
		}
	}
	return body
}
