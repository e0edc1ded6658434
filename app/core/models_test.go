package core

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"conclave/app/base/bus"
	"conclave/app/base/settings"
	"conclave/app/chat"
	"conclave/app/model"
)

// opened is a core with a connection "mine" to a server that lists ids.
func opened(t *testing.T, ids ...string) *Core {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		type listed struct {
			ID string `json:"id"`
		}
		all := []listed{}
		for _, id := range ids {
			all = append(all, listed{id})
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": all})
	}))
	t.Cleanup(server.Close)
	c, err := Open(t.Context(), Options{
		Data: t.TempDir(), Plugins: t.TempDir(), Worker: "/nonexistent/conclave-worker", Name: "a test",
	})
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	must(t, c.Models.Add(t.Context(), model.Connection{Name: "mine", Kind: "openai", URL: server.URL + "/v1"}, ""))
	return c
}

// heard runs act and fails unless the bus tells of all topics.
func heard(t *testing.T, c *Core, act func(ctx context.Context) error, topics ...bus.Topic) {
	t.Helper()
	s := c.Bus.Subscribe(topics...)
	defer s.Close()
	must(t, act(t.Context()))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for len(topics) > 0 {
		notices, err := s.Next(ctx)
		if err != nil {
			t.Fatalf("nobody was told of %v: %v", topics, err)
		}
		for _, n := range notices {
			topics = slices.DeleteFunc(topics, func(topic bus.Topic) bool { return topic == n.Topic })
		}
	}
}

func TestWhatATerminalSetsTheWindowHearsOf(t *testing.T) {
	c := opened(t, "large")
	terminal := c.Terminal()
	heard(t, c, func(ctx context.Context) error { return terminal.Models.SetDefault(ctx, "mine/large") }, bus.Models,
		bus.Settings)
	heard(t, c, func(ctx context.Context) error {
		_, err := terminal.Settings.ChangeSettings(ctx, func(s *settings.Settings) { s.Theme = "dark" })
		return err
	}, bus.Settings)
	heard(t, c, func(ctx context.Context) error { _, _, err := c.Models.Test(ctx, "mine"); return err }, bus.Models)
}

func TestChatsThatATerminalImportsTheWindowHearsOf(t *testing.T) {
	c := opened(t)
	terminal := c.Terminal()
	made := chat.Conversation{Title: "From elsewhere", Model: "demo/guide"}
	heard(t, c, func(ctx context.Context) error {
		return terminal.Responder.Store.CreateConversation(ctx, &made)
	}, bus.Chats)
	heard(t, c, func(ctx context.Context) error {
		return terminal.Chats.ImportConversation(ctx, &chat.Conversation{Title: "From a file", Model: "demo/guide"},
			[]chat.Message{{
				Role: chat.RoleUser, State: chat.Complete, Parts: []chat.Part{{Kind: chat.PartText, Text: "Hello"}},
			}})
	}, bus.Chats, bus.Edits)
}

func TestModelsThatAreNotForChatsAreNotListed(t *testing.T) {
	talk := []string{
		"gpt-5", "qwen3-vl:8b", "org/llama-3.3-70b-instruct", "gemma3", "claude-opus-4-1", "deepseek-chat", "glm-4.6",
		"kimi-k2", "mistral-small", "phi-4",
	}
	other := []string{
		"text-embedding-3-small", "nomic-embed-text", "BAAI/bge-m3", "whisper-1", "tts-1", "tts-1-hd", "gpt-4o-mini-tts",
		"dall-e-3", "gpt-image-1", "omni-moderation-latest",
		"gpt-4o-transcribe", "bge-reranker-v2-m3", "stable-diffusion-xl", "hexgrad/Kokoro-82M", "intfloat/e5-large",
		"imagen-4", "veo-3",
	}
	c := opened(t, append(slices.Clone(other), talk...)...)
	if n, _, err := c.Models.Test(t.Context(), "mine"); err != nil || n != len(talk) {
		t.Fatalf("%d models, %v", n, err)
	}
	known, err := c.Models.Known(t.Context())
	must(t, err)
	for _, info := range known {
		if info.Connection == "mine" && !slices.Contains(talk, info.ID) {
			t.Errorf("%s is listed", info.ID)
		}
	}
}

func TestWhatAPersonSaysOfAModelOverrulesTheGuess(t *testing.T) {
	c := opened(t, "house-model")
	ctx := t.Context()
	if _, _, err := c.Models.Test(ctx, "mine"); err != nil {
		t.Fatal(err)
	}
	opens := func() model.Features {
		t.Helper()
		model, err := c.Models.Open(ctx, "mine/house-model")
		must(t, err)
		return model.Info().Can
	}
	if opens().Vision {
		t.Fatal("the guess sees pictures already")
	}
	want := model.Features{Vision: true, Reasoning: true}
	must(t, c.Models.SetFeatures(ctx, "mine/house-model", want))
	// A change of the connection, and a listing, leave it as it is.
	all, err := c.Models.Connections(ctx)
	must(t, err)
	connection := all[slices.IndexFunc(all, func(c model.Connection) bool { return c.Name == "mine" })]
	must(t, c.Models.Update(ctx, model.Connection{Name: "mine", Kind: "openai", Title: "Mine", URL: connection.URL}, ""))
	if _, _, err := c.Models.Test(ctx, "mine"); err != nil {
		t.Fatal(err)
	}
	known, err := c.Models.Known(ctx)
	must(t, err)
	at := slices.IndexFunc(known, func(i model.Info) bool { return i.ID == "house-model" })
	if got := c.Models.Info(ctx, "mine/house-model").Can; got != want || opens() != want || at < 0 ||
		known[at].Can != want {
		t.Errorf("got %+v, %+v, %+v", got, opens(), known)
	}
	if err := c.Models.SetFeatures(ctx, settings.DemoModel, want); err == nil ||
		!strings.Contains(err.Error(), "cannot be set") {
		t.Errorf("Demo guide: %v", err)
	}
}

func TestDemoGuideWritesWordByWordWhereSomebodyWatches(t *testing.T) {
	spoken := func(watched bool) (pieces []string) {
		c, err := Open(t.Context(), Options{Data: t.TempDir(), Plugins: t.TempDir(), Name: "a test", Watched: watched})
		must(t, err)
		defer func() { must(t, c.Close()) }()
		m, err := c.Models.Open(t.Context(), settings.DemoModel)
		must(t, err)
		for e, err := range m.Stream(t.Context(), model.Request{Messages: []model.Message{
			{Role: chat.RoleUser, Parts: []chat.Part{chat.TextPart("/think about tea")}},
		}}) {
			must(t, err)
			if e.Kind == model.Text {
				pieces = append(pieces, e.Text)
			}
		}
		return pieces
	}
	fast, read := spoken(false), spoken(true)
	text := strings.Join(read, "")
	if strings.Join(fast, "") != text || len(read) != len(strings.Fields(text)) || len(fast) >= len(read) {
		t.Errorf("in %d and %d pieces: %q", len(fast), len(read), read)
	}
}
