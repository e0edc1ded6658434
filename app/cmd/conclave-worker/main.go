// Command conclave-worker is the program that becomes a plugin's process: the
// JavaScript engine, the reader of PDFs, and the sandbox of both and of
// other people's programs. It links nothing else of Conclave's, since every start
// of a plugin is a start of it, and what it does not hold no plugin can reach.
// Conclave starts it; by hand only the first is of use:
//
//	conclave-worker version   its version
//	conclave-worker js        the JavaScript engine (spec on descriptor 3)
//	conclave-worker pdf       the reader of PDFs, likewise
//	conclave-worker confine   the sandbox, then the program of the spec
//	conclave-worker guard     ends what plugins started when Conclave is killed
package main

import (
	"fmt"
	"os"

	"conclave/app/base/version"
	"conclave/app/plugin/worker/confine"
)

func main() {
	var what string
	if len(os.Args) == 2 {
		what = os.Args[1]
	}
	switch what {
	case "version":
		fmt.Println(version.Worker + " " + version.Version)
	case "js":
		os.Exit(script())
	case "pdf":
		os.Exit(readPDF())
	case "confine":
		os.Exit(confineAndExec())
	case "guard":
		confine.Guard(os.Stdin)
	default:
		fmt.Fprintln(os.Stderr,
			"conclave-worker is started by Conclave for a plugin. To use Conclave, start conclave or conclave-window.")
		os.Exit(2)
	}
}
