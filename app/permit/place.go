package permit

import (
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// secretPlaces are below the home folder.
var secretPlaces = []string{
	".ssh", ".gnupg", ".aws", ".azure", ".config/gcloud", ".kube", ".docker/config.json", ".netrc", ".password-store",
	".local/share/keyrings", ".mozilla", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware", ".config/microsoft-edge",
	"Library/Keychains", "Library/Application Support/Google/Chrome", "Library/Application Support/Firefox", "Library/Safari",
	"AppData/Local/Google/Chrome", "AppData/Roaming/Mozilla", "AppData/Local/Microsoft/Edge", "AppData/Roaming/Microsoft/Protect",
}

// protectedPlace returns the protected folder that text, taken as a path, leads
// into, or "". Links are resolved where they exist.
func (g *Gate) protectedPlace(text string) string {
	path := strings.TrimPrefix(text, "file://")
	switch {
	case strings.HasPrefix(path, "~/") && g.home != "":
		path = filepath.Join(g.home, path[2:])
	case !filepath.IsAbs(path):
		return ""
	}
	path = resolved(path)
	for _, place := range g.protected {
		if rel, err := filepath.Rel(place, path); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return place
		}
	}
	return ""
}

// resolved follows the links of the longest part of path that exists.
func resolved(path string) string {
	path = filepath.Clean(path)
	for rest := ""; ; {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return filepath.Join(real, rest)
		}
		parent := filepath.Dir(path)
		if parent == path {
			return filepath.Join(path, rest)
		}
		rest = filepath.Join(filepath.Base(path), rest)
		path = parent
	}
}

func protectedPlaces(home string, own []string) []string {
	var places []string
	for _, p := range own {
		places = append(places, resolved(p))
	}
	if home != "" {
		for _, p := range secretPlaces {
			places = append(places, resolved(filepath.Join(home, filepath.FromSlash(p))))
		}
	}
	return places
}

func homeFolder() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return home
}

// metadataAddress reports whether text is an address at which a cloud tells its
// machines their secrets.
func metadataAddress(text string) bool {
	host := strings.ToLower(text)
	if u, err := url.Parse(text); err == nil && u.Host != "" {
		host = strings.ToLower(u.Hostname())
	}
	host = strings.TrimSuffix(host, ".")
	if host == "metadata.google.internal" || host == "metadata" || host == "instance-data" {
		return true
	}
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	if err != nil {
		return false
	}
	a = a.Unmap()
	return a.IsLinkLocalUnicast() || a == netip.AddrFrom4([4]byte{100, 100, 100, 200}) || a == netip.MustParseAddr("fd00:ec2::254")
}
