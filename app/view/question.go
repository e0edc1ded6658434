package view

import (
	"net/url"

	"conclave/app/tool/elicit"
)

// Question is a question of a plugin that waits for the person's answer.
type Question struct {
	ID         string `json:"id"`
	Plugin     string `json:"plugin"` // id
	PluginName string `json:"plugin_name"`
	Chat       string `json:"conversation"` // whose call it belongs to; "" = none
	ChatTitle  string `json:"chat_title"`
	Tool       string `json:"tool"`   // what was called; "" = it belongs to no call
	Number     int    `json:"number"` // 2 of 3 that are answered together
	Of         int    `json:"of"`
	Message    string `json:"message"`

	Fields  []elicit.Field `json:"fields"`  // of a form
	Address string         `json:"address"` // the page to visit; "" = it is a form
	Waits   bool           `json:"waits"`   // the answer is wanted once the visit is over; else when it begins
	Host    string         `json:"host"`    // of that page, in letters that nothing can imitate

	Expires Time `json:"expires"`
}

// NewQuestion returns a question as a person sees it.
func NewQuestion(q elicit.Question) Question {
	v := Question{
		ID: q.ID, Plugin: q.Plugin, PluginName: q.PluginName, Chat: string(q.Chat), Tool: q.Tool,
		Number: q.Number, Of: q.Of, Message: q.Message, Fields: make([]elicit.Field, len(q.Fields)),
		Address: q.Address, Waits: q.Waits, Expires: Time{q.Expires},
	}
	for i, f := range q.Fields {
		f.Choices = List(f.Choices)
		v.Fields[i] = f
	}
	if u, err := url.Parse(q.Address); err == nil {
		v.Host = elicit.Host(u)
	}
	return v
}
