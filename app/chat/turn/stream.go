package turn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/model"
	"conclave/app/tool"
)

// ask makes one request and returns the model's message, finished but not yet written to its end (see
// write). closing asks for an answer without calls. The error is the provider's, the log's or ctx's; the
// message then has what came before it, or is nil for nothing.
func (t *run) ask(ctx context.Context, closing bool) (*writing, error) {
	if err := t.scribe.failed(); err != nil {
		return nil, err
	}
	request, err := t.prepared(ctx)
	if err != nil {
		return t.newWriting().finish(ctx, err, closing)
	}
	bare := completed(&request, t.toolSearch(), closing, cmp.Or(t.req.Reasoning, t.asking.Reasoning))
	w, err := t.stream(ctx, request, closing)
	if refused, ok := errors.AsType[*model.Error](err); ok && refused.Kind == model.NoTools && !t.req.Explicit &&
		t.req.Tools != nil && w.draft.empty() {
		// The turn took it for one that calls tools. They were merely enabled, so the answer matters more
		// (contracts/llm-functions, section 8.1).
		t.offerNoTools()
		t.note("The model " + t.model + " cannot call tools, so it is offered none.")
		bare.Tools = nil
		w, err = t.stream(ctx, bare, closing)
	}
	if refused, ok := errors.AsType[*model.Error](err); ok && refused.Kind == model.TooManyTools &&
		w.draft.empty() && t.fewerTools(refused) {
		bare.Tools = slices.DeleteFunc(t.toolSearch().definitions(), func(d model.ToolDefinition) bool {
			return d.Name != tool.SearchName && // hooks may have taken it out
				!slices.ContainsFunc(request.Tools, func(was model.ToolDefinition) bool { return was.Name == d.Name })
		})
		t.toolSearch().remind(&bare)
		w, err = t.stream(ctx, bare, closing)
	}
	if refused, ok := errors.AsType[*model.Error](err); ok && refused.Kind == model.ContextTooLong &&
		w.draft.empty() && (extent{t}).shorter(ctx) {
		if request, err = t.prepared(ctx); err != nil {
			return t.newWriting().finish(ctx, err, closing)
		}
		completed(&request, t.toolSearch(), closing, t.req.Reasoning)
		w, err = t.stream(ctx, request, closing)
	}
	if refused, ok := errors.AsType[*model.Error](err); ok {
		err = t.inWords(refused, request.Tools, w)
	}
	return w.finish(ctx, err, closing)
}

// completed adds to a request what hooks do not see. It returns the request without the reminder of deferred tools.
func completed(request *model.Request, search toolSearch, closing bool, effort string) (bare model.Request) {
	request.NoCalls, request.Reasoning = closing, effort
	bare = *request
	search.remind(request)
	return bare
}

// inWords returns the error of a model with what the turn knows about it: that no answer came, and which
// plugins have the tools that are too many.
func (t *run) inWords(e *model.Error, offered []model.ToolDefinition, w *writing) error {
	switch {
	case (e.Kind == model.StreamCut || e.Kind == model.Failed) && w.draft.empty():
		bare := *e
		bare.Unanswered = true
		return &bare
	case e.Kind == model.TooManyTools && t.callTurn.Tools != nil:
		counts := map[string]int{}
		for _, d := range offered {
			if one, ok := t.callTurn.Tools.ByWire(d.Name); ok {
				counts[one.Plugin]++
			}
		}
		plugins := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
			return cmp.Or(counts[b]-counts[a], strings.Compare(a, b))
		})
		most := make([]string, 0, len(plugins))
		for _, id := range plugins[:min(len(plugins), mostPlugins)] {
			most = append(most, fmt.Sprintf("%s (%d)", id, counts[id]))
		}
		if more := len(plugins) - len(most); more > 0 {
			most = append(most, limit.Counted(more, "other"))
		}
		known := *e
		known.Advice = fmt.Sprintf("It was offered %s of %s: %s. Switch some off in Plugins (conclave plugins "+
			"disable), or send with only those it needs (-T).", limit.Counted(len(offered), "tool"),
			limit.Counted(len(plugins), "plugin"), strings.Join(most, ", "))
		return &known
	}
	return e
}

// mostPlugins bounds the plugins that a sentence names.
const mostPlugins = 5

func (t *run) newWriting() *writing {
	w := &writing{t: t, spoke: make(chan struct{}), m: chat.Message{
		Conversation: t.req.Conversation, Turn: t.turn, Role: chat.RoleAssistant,
		Model: t.model, State: chat.Streaming, Created: t.o.Now(), Parts: []chat.Part{},
	}}
	if t.round == 1 {
		w.draft.parts = draftOf(t.taken)
	}
	return w
}

// stream makes one request and gathers the answer.
func (t *run) stream(ctx context.Context, request model.Request, closing bool) (*writing, error) {
	w := t.newWriting()
	t.emit(chat.Event{Kind: chat.EventWaiting, Round: t.round, Asks: &chat.RequestSize{
		Messages: len(request.Messages), Tools: len(request.Tools), MaxTokens: request.MaxTokens,
		Temperature: request.Temperature,
	}})
	policy, failed := t.o.Retry, 0
	policy.OnWait = func(err *model.Error, wait time.Duration) {
		failed++
		t.emit(chat.Event{
			Kind: chat.EventRetrying, Note: err.Sentence() + " Trying again in " + roundSeconds(wait) + ".",
			Retry: &chat.Retry{
				Attempt: failed, Most: cmp.Or(policy.Attempts, model.DefaultAttempts), Wait: wait,
				Error: err.Sentence(),
			},
		})
	}
	var keeping sync.WaitGroup
	kept, stopKeeping := context.WithCancel(context.WithoutCancel(ctx))
	keeping.Go(func() { w.keep(kept) }) // ends with stopKeeping
	defer keeping.Wait()
	defer stopKeeping()
	for event, err := range model.WithRetry(t.req.Model, policy).Stream(w.watched(ctx, request), request) {
		if err != nil {
			return w, err
		}
		if err := w.take(ctx, event, closing); err != nil {
			return w, err
		}
	}
	return w, ctx.Err()
}
