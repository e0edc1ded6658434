package auth

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"conclave/app/plugin/dialect/mcp/auth/authtest"

	sdk "github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// Why this package does not use the SDK's handler (v1.8.0): where this fails, a new version has mended
// something, and docs/adr/0045 should be read again.
func TestMC01TheSDKsHandlerSignsInForEachRefusalAndForgetsItsClient(t *testing.T) {
	s := authtest.New(t)
	s.Handler = http.HandlerFunc(authtest.Echo)
	var opened atomic.Int32
	both := make(chan struct{}) // neither page is answered before the other was opened
	fetch := func(ctx context.Context, args *sdk.AuthorizationArgs) (*sdk.AuthorizationResult, error) {
		if opened.Add(1) == 2 {
			close(both)
		}
		select {
		case <-both:
		case <-time.After(5 * time.Second):
		}
		client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}}
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, args.URL, nil)
		if err != nil {
			return nil, err
		}
		response, err := client.Do(r)
		if err != nil {
			return nil, err
		}
		_ = response.Body.Close()
		to, err := url.Parse(response.Header.Get("Location"))
		if err != nil {
			return nil, err
		}
		return &sdk.AuthorizationResult{Code: to.Query().Get("code"), State: to.Query().Get("state")}, nil
	}
	redirect := "http://127.0.0.1:1/callback"
	h, err := sdk.NewAuthorizationCodeHandler(&sdk.AuthorizationCodeHandlerConfig{
		RedirectURL: redirect, AuthorizationCodeFetcher: fetch,
		DynamicClientRegistrationConfig: &sdk.DynamicClientRegistrationConfig{
			Metadata: &oauthex.ClientRegistrationMetadata{RedirectURIs: []string{redirect}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var sessions sync.WaitGroup
	for range 2 {
		sessions.Go(func() {
			client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
			session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
				Endpoint: s.URL, OAuthHandler: h, DisableStandaloneSSE: true,
			}, nil)
			if err != nil {
				t.Error(err)
				return
			}
			_ = session.Close()
		})
	}
	sessions.Wait()
	if len(s.Pages) != 2 || len(s.Registrations) != 2 {
		t.Errorf("the SDK has changed: two refusals made %d pages and %d registrations", len(s.Pages),
			len(s.Registrations))
	}
}
