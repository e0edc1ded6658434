package view

import "conclave/app/chat"

// ChatHeader is one chat, as a list shows it.
type ChatHeader struct {
	ID string `json:"id"`
	// "" until the first message named it; the window then says “New chat”.
	Title    string          `json:"title"`
	Model    string          `json:"model"`    // that the chat keeps: “connection/model”, or ""
	Messages chat.MessageSeq `json:"messages"` // how many were written in it, on all branches
	Pinned   bool            `json:"pinned"`
	Archived bool            `json:"archived"`
	Demo     bool            `json:"demo"` // talked to Demo guide only
	Created  Time            `json:"created"`
	Updated  Time            `json:"updated"`
}

// NewChatHeader returns the view of a chat.
func NewChatHeader(c chat.Conversation) ChatHeader {
	return ChatHeader{
		string(c.ID), c.Title, c.Model, c.Last, c.Pinned, c.Archived, c.Demo, Time{c.Created}, Time{c.Updated},
	}
}
