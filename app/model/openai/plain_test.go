package openai

import (
	"testing"

	"conclave/app/chat"
	"conclave/app/model"
)

func TestAMessageOfTextIsWrittenLikeTheOthers(t *testing.T) {
	m := New(model.Connection{Name: "a", URL: "http://127.0.0.1:1/v1"}, Options{}).Open("m").(*client)
	for _, text := range []string{"Hello.", "", "“<b>&'\"\\ \n\t\u2028 \x00 \x7f 日本 😀", "a\xffb"} {
		for _, role := range []chat.Role{chat.RoleUser, chat.RoleAssistant, chat.RoleTool} {
			one := model.Message{Role: role, Parts: []chat.Part{chat.TextPart(text), chat.TextPart("more")}}
			quick := appendPlain(nil, one)
			if quick == nil {
				continue
			}
			slow, err := appendMessages(nil, m.messages(one, nil))
			if err != nil || string(quick) != string(slow) {
				t.Errorf("%s: %s, and reflection writes %s (%v)", role, quick, slow, err)
			}
		}
	}
	thought := chat.Part{Kind: chat.PartReasoning, Text: "x"}
	if appendPlain(nil, model.Message{Role: chat.RoleAssistant, Parts: []chat.Part{thought}}) != nil {
		t.Error("thinking is written as text")
	}
}
