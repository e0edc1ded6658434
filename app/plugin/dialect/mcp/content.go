package mcp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"conclave/app/base/limit"
	"conclave/app/base/pattern"
	"conclave/app/chat"
	"conclave/app/plugin/dialect/mcp/client"
	"conclave/app/tool"
)

// answer returns the result of a call: its blocks, or where they hold nothing the structured value, never both. The
// record keeps the value.
func answer(r client.Result) tool.Result {
	out := tool.Result{Status: chat.CallOK, Value: r.Structured, Meta: r.Meta, Notes: r.Warnings}
	for _, b := range r.Blocks {
		person := len(b.Audience) > 0 && !slices.Contains(b.Audience, "assistant") // for nobody else
		if person && b.Type == client.TextBlock {
			out.Notes = append(out.Notes, b.Text)
			continue
		}
		if b.Type == client.LinkBlock && len(out.Links) < maxLinks {
			if l, ok := chip(b); ok {
				out.Links = append(out.Links, l)
				if person {
					continue
				}
			}
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

// Bounds of the links that a person can press: how many of one result, and the bytes of one address.
const (
	maxLinks   = 20
	maxAddress = 2000
	// maxLinkText bounds each of a link's texts, in characters: a card shows them, nobody reads a book there.
	maxLinkText = 500
)

// scheme matches the beginning of addresses that can be pressed: those with a place behind the scheme. Others, such
// as mailto: or data:, are for programs that open them, or hold what they name, and stay text.
var scheme = pattern.Lazy(`^[A-Za-z][A-Za-z0-9+.-]*://[^\s]`)

// chip returns a link as a person can press it, if its address is one that a server can be asked for. Nothing reads
// it before.
func chip(b client.Block) (chat.ResourceLink, bool) {
	clean := tool.OneLine(b.URI)
	if clean != b.URI || len(b.URI) > maxAddress || !scheme().MatchString(b.URI) {
		return chat.ResourceLink{}, false
	}
	switch name, _, _ := strings.Cut(strings.ToLower(b.URI), ":"); name {
	case "javascript", "vbscript", "data", "blob", "about":
		return chat.ResourceLink{}, false
	}
	text := func(s string) string { return tool.ShortLine(strings.ToValidUTF8(s, "\uFFFD"), maxLinkText) }
	return chat.ResourceLink{
		URI: b.URI, Title: cmp.Or(text(b.Title), text(b.Name), b.URI), About: text(b.Description), MIME: text(b.MIME),
		Size: max(b.Size, 0),
	}, true
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
