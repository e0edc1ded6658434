// Command conclave is Conclave in a terminal, and the program that plugin
// processes are started from. It is pure Go and knows no window.
//
//	conclave …             a command; see app/cli
//	conclave worker js     the JavaScript engine, for the host (spec on descriptor 3)
//	conclave worker pdf    the reader of PDFs, likewise
//	conclave confine       walls, then the program of the spec, for the host
//	conclave guard         ends what plugins started when the host is killed
package main

import (
	"fmt"
	"os"

	"conclave/app/core"
	"conclave/app/plugin/worker/confine"
	"conclave/app/version"
)

func main() {
	// The commands that must be over in a moment, or must not build the core.
	switch args := os.Args[1:]; {
	case len(args) == 1 && args[0] == "version":
		fmt.Println("conclave " + version.Version)
		return
	case len(args) == 2 && args[0] == "worker" && args[1] == "js":
		os.Exit(jsWorker())
	case len(args) == 2 && args[0] == "worker" && args[1] == "pdf":
		os.Exit(pdfWorker())
	case len(args) == 1 && args[0] == "confine":
		os.Exit(confineAndExec())
	case len(args) == 1 && args[0] == "guard":
		confine.Guard(os.Stdin)
		return
	}
	os.Exit(core.Main(os.Args[1:]))
}
