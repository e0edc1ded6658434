// Command conclave-window is Conclave's window. Package desktop is the program; this
// file adds what only the root can embed.
package main

import (
	"embed"
	"os"

	"conclave/app/window/desktop"
)

//go:embed all:frontend/dist
var pages embed.FS

//go:embed build/linux/icons/hicolor/256x256/apps/conclave.png
var icon []byte

func main() {
	os.Exit(desktop.Main(desktop.Contents{Pages: pages, Icon: icon}, os.Args[1:], os.Stderr))
}
