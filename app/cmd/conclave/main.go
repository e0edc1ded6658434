// Command conclave is Conclave in a terminal: its commands are those of app/cli. It
// is pure Go and knows no window.
package main

import (
	"fmt"
	"os"

	"conclave/app/core"
	"conclave/app/version"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "version" { // needs no core
		fmt.Println(version.Terminal + " " + version.Version)
		return
	}
	os.Exit(core.Main(os.Args[1:]))
}
