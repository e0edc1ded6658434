package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"conclave/app/chat/document/pdf"
	"conclave/app/plugin/dialect/spindle/engine"
	"conclave/app/plugin/sandbox"
	"conclave/app/plugin/worker/confine"
)

// script runs the JavaScript engine for one plugin, over standard input and
// output, in the sandbox of its spec. It returns the exit status.
func script() int {
	spec, err := confine.ReadSpec()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var config engine.Config
	if err := json.Unmarshal(spec.Input, &config); err != nil {
		fmt.Fprintln(os.Stderr, "the configuration cannot be read:", err)
		return 1
	}
	err = engine.Serve(context.Background(), config, os.Stdin, os.Stdout, os.Stderr,
		func() error { return confine.Self(spec) })
	if err == nil {
		return 0
	}
	if _, stopped := errors.AsType[*engine.Ended](err); !stopped {
		fmt.Fprintln(os.Stderr, err)
	}
	return 1
}

// readPDF reads one PDF from standard input, in the sandbox of its spec. It
// returns the exit status.
func readPDF() int {
	spec, err := confine.ReadSpec()
	if err == nil {
		err = confine.Self(spec)
	}
	if err == nil {
		err = pdf.Serve(os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// confineAndExec sets up the sandbox of the spec for this process and becomes
// the program it names. It returns only when that failed.
func confineAndExec() int {
	spec, err := confine.ReadSpec()
	if err == nil {
		err = confine.Exec(spec)
	}
	fmt.Fprintln(os.Stderr, err)
	return sandbox.NotStarted
}
