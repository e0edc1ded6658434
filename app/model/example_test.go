package model_test

import (
	"errors"
	"fmt"
	"io"
	"log"
	"strings"

	"conclave/app/model"
)

// Server-sent events, as the vendors of models stream answers.
func ExampleEventReader() {
	const answer = ": a comment\n\ndata: {\"text\":\"Hel\"}\n\nevent: end\ndata: [DONE]\n\n"
	events := model.NewEventReader(strings.NewReader(answer))
	for {
		event, err := events.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%q %s %v\n", event.Type, event.Data, event.Done())
	}
	// Output:
	// "" {"text":"Hel"} false
	// "end" [DONE] true
}
