// Command conclave is the part of the real program that plugins are started
// from: worker js, worker pdf and confine, and nothing else. Tests build it, so that they
// need not build the rest.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"conclave/app/document/pdf"
	"conclave/app/plugin/spindle/engine"
	"conclave/app/plugin/worker/confine"
)

func main() {
	spec, err := confine.ReadSpec()
	if err == nil && os.Args[1] == "confine" {
		err = confine.Exec(spec)
	}
	if err == nil && len(os.Args) == 3 && os.Args[2] == "pdf" {
		if err = confine.Self(spec); err == nil {
			err = pdf.Serve(os.Stdin, os.Stdout)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	var config engine.Config
	if err == nil {
		err = json.Unmarshal(spec.Input, &config)
	}
	if err == nil {
		err = engine.Serve(context.Background(), config, os.Stdin, os.Stdout, os.Stderr, func() error { return confine.Self(spec) })
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
