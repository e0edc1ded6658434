package service

import (
	"context"
	"strings"
	"sync"
	"time"

	"conclave/app/base/bus"
	"conclave/app/plugin"
	"conclave/app/tool"
)

// ToastKind is the look of a toast.
type ToastKind string

// The kinds of toasts.
const (
	ToastSuccess ToastKind = "success"
	ToastInfo    ToastKind = "info"
	ToastWarning ToastKind = "warning"
	ToastError   ToastKind = "error"
)

// Toast is a short notice to the person by a plugin. Its texts are cleaned and on one
// line.
type Toast struct {
	Number uint64    `json:"number"` // grows by one
	Plugin string    `json:"plugin"` // its display name
	Kind   ToastKind `json:"kind"`
	Title  string    `json:"title"`
	Text   string    `json:"text"`
}

// Sentence returns the toast on one line, with its plugin's name.
func (t Toast) Sentence() string {
	if t.Title == "" {
		return t.Plugin + ": " + t.Text
	}
	return t.Plugin + ": " + t.Title + ": " + t.Text
}

// Bounds of toasts: what a person can read.
const (
	keptToasts  = 50
	maxToast    = 500 // characters
	toastsAt    = 5   // of one plugin
	toastWindow = 10 * time.Second
)

// Toasts holds the newest toasts.
type Toasts struct {
	o *Options

	mu     sync.Mutex             // guards the fields below
	all    []Toast                // the newest, oldest first
	last   uint64                 // the number of the newest
	recent map[string][]time.Time // when each plugin made its newest
}

type toastArgs struct {
	Kind  ToastKind `json:"kind"`
	Text  string    `json:"text"`
	Title string    `json:"title"`
}

func (s *Toasts) toast(_ context.Context, by plugin.Caller, a toastArgs) (any, error) {
	switch a.Kind {
	case ToastSuccess, ToastInfo, ToastWarning, ToastError:
	default:
		a.Kind = ToastInfo
	}
	t := Toast{Plugin: shown(by.Name), Kind: a.Kind, Title: shown(a.Title), Text: shown(a.Text)}
	if t.Text == "" {
		return nil, invalid("A notice needs a text.")
	}
	s.mu.Lock()
	now := s.o.Now()
	var recent []time.Time
	for _, at := range s.recent[by.Plugin] {
		if now.Sub(at) < toastWindow {
			recent = append(recent, at)
		}
	}
	if len(recent) >= toastsAt {
		s.recent[by.Plugin] = recent
		s.mu.Unlock()
		return map[string]any{"shown": false}, nil
	}
	s.recent[by.Plugin] = append(recent, now)
	s.last++
	t.Number = s.last
	s.all = append(s.all, t)
	s.all = s.all[max(0, len(s.all)-keptToasts):]
	s.mu.Unlock()
	s.o.Bus.Changed(bus.Toasts, "")
	return map[string]any{"shown": true}, nil
}

// After returns the toasts after the given number, oldest first; the newest 50 are
// kept.
func (s *Toasts) After(after uint64) []Toast {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []Toast{}
	for _, t := range s.all {
		if t.Number > after {
			out = append(out, t)
		}
	}
	return out
}

// shown is text as it may be shown to a person, on one line.
func shown(text string) string {
	text, _ = tool.Strip(text)
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > maxToast {
		return string(r[:maxToast-1]) + "…"
	}
	return text
}
