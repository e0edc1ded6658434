package document_test

import (
	"fmt"

	"conclave/app/chat/document"
)

// The bytes decide, whatever the name says.
func ExampleLook() {
	fmt.Printf("%+v\n", document.Look("report.txt", []byte("%PDF-1.7\n")))
	fmt.Printf("%+v\n", document.Look("notes.bin", []byte("Nothing but text.\n")))
	// Output:
	// {Kind:pdf MIME:application/pdf Format:}
	// {Kind:text MIME:text/plain Format:}
}
