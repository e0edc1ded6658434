package ollama_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"conclave/app/model"
	"conclave/app/model/ollama"
)

func serving(t *testing.T, reply string) *ollama.Provider {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, reply)
	}))
	t.Cleanup(s.Close)
	return ollama.New(model.Connection{Name: "mine", Kind: ollama.Kind, URL: s.URL + "/v1/"}, ollama.Options{})
}

func TestPullTellsItsProgressAndEndsWithSuccess(t *testing.T) {
	p := serving(t, `{"status":"pulling manifest"}
{"status":"pulling aeda25e63ebd","digest":"sha256:aeda","total":100,"completed":40}
{"status":"pulling aeda25e63ebd","digest":"sha256:aeda","total":100,"completed":100}
{"status":"success"}
`)
	var told []ollama.Progress
	if err := p.Pull(t.Context(), "qwen3:8b", func(r ollama.Progress) { told = append(told, r) }); err != nil {
		t.Fatal(err)
	}
	if len(told) != 4 || told[1].Done != 40 || told[1].Total != 100 || told[3].Status != "success" {
		t.Errorf("told %+v", told)
	}
}

func TestPullFailsWithItsKind(t *testing.T) {
	for reply, kind := range map[string]model.ErrorKind{
		`{"status":"pulling manifest"}` + "\n" + `{"error":"pull model manifest: file does not exist"}`: model.ModelUnknown,
		`{"error":"write: no space left on device"}`:                                                    model.BadRequest,
		`{"status":"pulling manifest"}`:                                                                 model.StreamCut,
		`<html>`:                                                                                        model.Malformed,
	} {
		err := serving(t, reply).Pull(t.Context(), "x", func(ollama.Progress) {})
		if e, ok := errors.AsType[*model.Error](err); !ok || e.Kind != kind {
			t.Errorf("%s: got %v, want %s", reply, err, kind)
		}
	}
}

func TestPullStopsWithTheContext(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"status":"pulling manifest"}`+"\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(s.Close)
	stopped := errors.New("you stopped it")
	ctx, cancel := context.WithCancelCause(t.Context())
	p := ollama.New(model.Connection{Name: "mine", URL: s.URL}, ollama.Options{})
	if err := p.Pull(ctx, "x", func(ollama.Progress) { cancel(stopped) }); !errors.Is(err, stopped) {
		t.Errorf("got %v", err)
	}
}

func TestVersion(t *testing.T) {
	if version, err := serving(t, `{"version":"0.12.3"}`).Version(t.Context()); err != nil || version != "0.12.3" {
		t.Errorf("got %q, %v", version, err)
	}
	if _, err := serving(t, `{}`).Version(t.Context()); err == nil {
		t.Error("nothing is a version")
	}
}

func TestModelsThatCannotChatAreLeftOut(t *testing.T) {
	p := serving(t, `{"models":[{"name":"nomic-embed-text"}],"capabilities":["embedding"]}`)
	if models, err := p.Models(t.Context()); err != nil || len(models) != 0 {
		t.Errorf("got %v, %v", models, err)
	}
}
