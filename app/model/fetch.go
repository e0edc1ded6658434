package model

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// maxList bounds a list of models: OpenRouter's, the longest known, has 2 MB.
const maxList = 32 << 20

// Get reads the JSON at path below the base into out. query may be empty;
// authorize sets the header that carries the key, and may be nil. Errors are *Error or ctx's cause; the
// status of a refusal is in it.
func (l *Link) Get(ctx context.Context, path, query string, authorize func(http.Header), out any) error {
	return l.exchange(ctx, http.MethodGet, l.address(path, query), nil, authorize, out)
}

// Post sends in as JSON to path below the base and reads the JSON answer.
func (l *Link) Post(ctx context.Context, path string, in any, authorize func(http.Header), out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("write a request to %s: %w", l.Host(), err)
	}
	return l.exchange(ctx, http.MethodPost, l.At(path), Body{body}, authorize, out)
}

// Ask sends body as JSON to path below the base and returns the answer, whose
// body the caller reads and closes.
func (l *Link) Ask(ctx context.Context, path, query string, body Body,
	authorize func(http.Header),
) (*http.Response, error) {
	return l.do(ctx, http.MethodPost, l.address(path, query), body, authorize)
}

func (l *Link) address(path, query string) string {
	at := l.base.JoinPath(path)
	at.RawQuery = strings.Trim(l.query+"&"+query, "&")
	return at.String()
}

func (l *Link) do(ctx context.Context, method, address string, body Body,
	authorize func(http.Header),
) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		return nil, l.elsewhere(err.Error())
	}
	if body != nil {
		request.Body, request.ContentLength = body.reader(), int64(body.Len())
		request.GetBody = func() (io.ReadCloser, error) { return body.reader(), nil }
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Accept", "text/event-stream, application/json")
	}
	if authorize != nil {
		authorize(request.Header)
	}
	response, err := l.client.Do(request)
	if err != nil {
		return nil, l.Fail(ctx, "", err)
	}
	return response, nil
}

func (l *Link) exchange(ctx context.Context, method, address string, body Body, authorize func(http.Header),
	out any,
) error {
	response, err := l.do(ctx, method, address, body, authorize)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, maxList))
	if err != nil {
		return l.Fail(ctx, "", err)
	}
	if looksLikePage(data) {
		return l.elsewhere("it answered with a web page")
	}
	if err := json.Unmarshal(data, out); err != nil {
		return l.Fail(ctx, "", err)
	}
	var said struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(data, &said) == nil && len(said.Error) > 0 && string(said.Error) != "null" {
		return l.Said("", data) // 200 and an error: LM Studio's way with unknown paths
	}
	return nil
}
