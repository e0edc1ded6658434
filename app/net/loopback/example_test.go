package loopback_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"

	"conclave/app/net/loopback"
)

// Programs of this computer reach the handler, and nobody else does.
func ExampleServer_Open() {
	server := loopback.New(loopback.Options{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }),
		Token:   func() string { return "secret" },
	})
	address, release, err := server.Open(context.Background(), 0)
	if err != nil {
		log.Fatal(err)
	}
	defer release()
	for _, token := range []string{"", "secret"} {
		request, err := http.NewRequest(http.MethodGet, address, http.NoBody)
		if err != nil {
			log.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			log.Fatal(err)
		}
		text, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		fmt.Println(answer.StatusCode, answer.StatusCode == http.StatusOK && string(text) == "hello")
	}
	// Output:
	// 401 false
	// 200 true
}
