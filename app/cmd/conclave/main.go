// Command conclave is Conclave in a terminal: its commands are those of app/terminal. It
// is pure Go and knows no window.
package main

import (
	"fmt"
	"io"
	"log"
	"os"

	"conclave/app/base/version"
	"conclave/app/core"
)

func main() {
	// net/http writes there of servers that break its rules: no words for a terminal.
	log.SetOutput(io.Discard)
	if len(os.Args) == 2 && os.Args[1] == "version" { // needs no core
		fmt.Println(version.Terminal + " " + version.Version)
		return
	}
	os.Exit(core.Main(os.Args[1:]))
}
