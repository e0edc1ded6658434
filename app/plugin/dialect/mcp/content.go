package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/plugin/dialect/mcp/client"
	"conclave/app/tool"
)

// answer returns the result of a call: its blocks, or where they hold nothing the structured value, never both. The
// record keeps the value.
func answer(r client.Result) tool.Result {
	out := tool.Result{Status: chat.CallOK, Value: r.Structured, Meta: r.Meta, Notes: r.Warnings}
	for _, b := range r.Blocks {
		if len(b.Audience) > 0 && !slices.Contains(b.Audience, "assistant") && b.Type == client.TextBlock {
			out.Notes = append(out.Notes, b.Text) // for the person alone
			continue
		}
		out.Content = append(out.Content, part(b))
	}
	if !usable(out.Content) && len(r.Structured) > 0 && string(r.Structured) != "null" {
		out.Content = []chat.Part{chat.TextPart(string(r.Structured))}
	}
	if !r.IsError {
		return out
	}
	out.Status, out.Error = chat.CallRaised, chat.TextOf(out.Content)
	if out.Error == "" {
		out.Error = "the tool says that it failed, and nothing else"
	}
	out.Content = slices.DeleteFunc(out.Content, func(p chat.Part) bool { return p.Kind == chat.PartText })
	return out
}

// usable reports whether parts hold something for a model.
func usable(parts []chat.Part) bool {
	return slices.ContainsFunc(parts, func(p chat.Part) bool {
		return p.Kind != chat.PartText || strings.TrimSpace(p.Text) != ""
	})
}

// part returns a block as a part of a result.
func part(b client.Block) chat.Part {
	switch b.Type {
	case client.TextBlock:
		return chat.TextPart(b.Text)
	case client.ImageBlock, client.AudioBlock:
		return media(b)
	case client.ResourceBlock:
		if b.Data != nil {
			return media(b)
		}
		return chat.TextPart(fenced(b))
	case client.LinkBlock:
		return chat.TextPart(link(b))
	}
	return chat.TextPart("[A part of the kind “" + shortKind(b.Type) + "” was left out: Conclave cannot show it.]")
}

func media(b client.Block) chat.Part {
	name := b.Name
	if name == "" {
		name = b.URI
	}
	return chat.Part{
		Kind: chat.PartMedia, Text: name,
		Media: &chat.Media{MIME: b.MIME, Name: name, Size: int64(len(b.Data)), Data: b.Data},
	}
}

// fenced is the text of a resource, with its address and between lines that it does not hold itself.
func fenced(b client.Block) string {
	fence := "```"
	for strings.Contains(b.Text, fence) {
		fence += "`"
	}
	return b.URI + "\n" + fence + "\n" + strings.TrimSuffix(b.Text, "\n") + "\n" + fence
}

// link is one line about a resource that the result names and does not hold.
func link(b client.Block) string {
	text := "Resource: "
	switch {
	case b.Title != "":
		text += b.Title + " "
	case b.Name != "":
		text += b.Name + " "
	}
	text += "<" + b.URI + ">"
	var more []string
	if b.MIME != "" {
		more = append(more, b.MIME)
	}
	if b.Size > 0 {
		more = append(more, limit.Size(b.Size))
	}
	if len(more) > 0 {
		text += " (" + strings.Join(more, ", ") + ")"
	}
	if b.Description != "" {
		text += ": " + b.Description
	}
	return text
}

// maxKind bounds what is shown of a block's kind.
const maxKind = 40

func shortKind(kind string) string {
	kind, _ = tool.Strip(kind)
	return fmt.Sprintf("%.*s", maxKind, kind)
}

// readOnly reports whether a tool says that it changes nothing.
func readOnly(annotations json.RawMessage) bool {
	var a struct {
		ReadOnly bool `json:"readOnlyHint"`
	}
	return json.Unmarshal(annotations, &a) == nil && a.ReadOnly
}
