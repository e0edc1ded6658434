package neko

import (
	"os"
	"path/filepath"

	"conclave/app/plugin/safefs"
)

// absent returns those of wanted plugins that do not lie next to the plugin at
// display, neither as a folder of that name nor by the id in a manifest.
func absent(display string, wanted []string) []string {
	if len(wanted) == 0 {
		return nil
	}
	dir := filepath.Dir(display)
	there := map[string]bool{}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if _, err := os.Stat(filepath.Join(dir, e.Name(), manifestName)); err != nil {
			continue
		}
		there[e.Name()] = true
		if table, err := reader(safefs.ReadSource).toml(filepath.Join(dir, e.Name()), manifestName); err == nil {
			about, _ := table["plugin"].(map[string]any)
			there[cmpString(about["id"], e.Name())] = true
		}
	}
	var missing []string
	for _, id := range wanted {
		if !there[id] {
			missing = append(missing, id)
		}
	}
	return missing
}
