//go:build dev

package main

import "flag"

// ownFlags accepts the flags of Wails' development build, which reads them
// itself.
func ownFlags(flags *flag.FlagSet) {
	for _, name := range []string{"assetdir", "devserver", "frontenddevserverurl", "loglevel"} {
		flags.String(name, "", "of Wails' development server")
	}
}
