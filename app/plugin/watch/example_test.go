package watch_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"conclave/app/plugin/watch"
)

// Two folders with the same files have the same digest. What Ignored names is left out.
func ExampleDigest() {
	dir, err := os.MkdirTemp("", "watch")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for name, text := range map[string]string{"main.py": "x = 1\n", ".main.py.swp": "", "notes/a.txt": "a"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			log.Fatal(err)
		}
	}
	digest, files, err := watch.Digest(dir)
	fmt.Println(digest[:12], files, err)
	// Output:
	// 64c807b55a22 [main.py notes/a.txt] <nil>
}
