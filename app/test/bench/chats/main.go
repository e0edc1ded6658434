// Command chats fills a store with what a person has after some years, for measurements of
// the built programs: so many chats of so many messages, and a half-written message.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"conclave/app/base/settings"
	"conclave/app/chat"
	"conclave/store"
)

func main() {
	data := flag.String("data", "", "the folder of the store")
	count := flag.Int("chats", 0, "how many chats")
	messages := flag.Int("messages", 2, "how many messages each has")
	draft := flag.Int("draft", 0, "characters of the half-written message of a new chat")
	flag.Parse()
	if err := run(context.Background(), *data, *count, *messages, *draft); err != nil {
		fmt.Fprintln(os.Stderr, "chats:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, data string, count, messages, draft int) (err error) {
	st, err := store.Open(ctx, store.Options{Dir: data})
	if err != nil {
		return fmt.Errorf("open the store: %w", err)
	}
	defer func() {
		if closing := st.Close(); err == nil {
			err = closing
		}
	}()
	now := time.Now()
	for n := range count {
		at := now.Add(-time.Duration(n+1) * time.Hour)
		c := chat.Conversation{Title: fmt.Sprintf("Harbour, day %d", n+1), Created: at, Updated: at}
		if err := st.Chats.ImportConversation(ctx, &c, said(n, messages, at)); err != nil {
			return fmt.Errorf("write chat %d: %w", n+1, err)
		}
	}
	if draft == 0 {
		return nil
	}
	const line = "a line of words that one may have written. "
	text := strings.Repeat(line, draft/len(line)+1)[:draft]
	raw, err := json.Marshal(map[string]any{"text": text, "cursor": draft})
	if err != nil {
		return fmt.Errorf("write the draft: %w", err)
	}
	kept := settings.Current{Store: st.Settings}
	_, err = kept.ChangeSettings(ctx, func(s *settings.Settings) { s.Draft = string(raw) })
	return err
}

// words are those of the messages; a message has 24 of them.
var words = strings.Fields("harbour boat tide berth rope crane wave north pilot signal lantern engine cargo anchor " +
	"morning wind customs ferry deck captain storm quay fish market weather light keel buoy channel depth")

// said returns the messages of a chat, by turns a person's and a model's.
func said(number, count int, at time.Time) []chat.Message {
	made := make([]chat.Message, count)
	for i := range made {
		m := chat.Message{
			Seq: chat.MessageSeq(i + 1), Parent: chat.MessageSeq(i), Turn: fmt.Sprintf("turn-%d", i/2),
			Role: chat.RoleUser, State: chat.Complete, Created: at, Ended: at,
		}
		if i%2 == 1 {
			m.Role = chat.RoleAssistant
		}
		var text strings.Builder
		seed := uint32(number*7919 + i*104729 + 1) //nolint:gosec // any number does
		for range 24 {
			seed = seed*1664525 + 1013904223
			text.WriteString(words[int(seed>>16)%len(words)])
			text.WriteByte(' ')
		}
		m.Parts = []chat.Part{{Kind: chat.PartText, Text: text.String() + fmt.Sprintf("entry %d.", i+1)}}
		made[i] = m
	}
	return made
}
