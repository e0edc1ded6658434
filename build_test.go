package main

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"text/template"

	"conclave/app/test/testkit"
	"conclave/app/window"
	"conclave/app/window/desktop"
)

var must = testkit.Must

// `wails build`, `wails dev` and `wails generate module` build the program with
// the tag “bindings” and run it in the project's folder.
func TestWailsWritesTheBindingsWithoutStartingAnything(t *testing.T) {
	if os.Getenv("CONCLAVE_TEST_WAILS") == "" {
		t.Skip("it builds the window once more; make check and continuous integration do")
	}
	folder, home := t.TempDir(), t.TempDir()
	tags := "bindings"
	if runtime.GOOS == "linux" {
		tags += ",webkit2_41"
	}
	program := filepath.Join(t.TempDir(), "wailsbindings")
	if out, err := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-tags", tags, "-o", program,
		".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	project, err := os.ReadFile("wails.json")
	must(t, err)
	must(t, os.WriteFile(filepath.Join(folder, "wails.json"), project, 0o600))
	cmd := exec.Command(program)
	cmd.Dir = folder
	cmd.Env = []string{
		"HOME=" + home, "USERPROFILE=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + home, "tsoutputtype=classes",
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the program ended with %v:\n%s", err, out)
	}
	for file, method := range map[string]string{
		"Chats": "Send(", "Plugins": "List(", "Tools": "List(", "Permissions": "Requests(", "Models": "List(",
		"Settings": "Set(", "Window": "Hello(", "Council": "Settings(",
	} {
		text, err := os.ReadFile(filepath.Join(folder, "frontend", "wailsjs", "go", "window", file+".d.ts"))
		if err != nil || !strings.Contains(string(text), "export function "+method) {
			t.Errorf("%s.d.ts: %v; it has no %s", file, err, method)
		}
	}
	// No store, no log, no plugins folder: nothing of the program was opened.
	err = filepath.WalkDir(home, func(path string, _ fs.DirEntry, err error) error {
		if path != home && err == nil {
			t.Errorf("%s was made", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// Desktops find the entry, the icon and the data of a window by its name.
func TestTheDesktopKnowsTheWindow(t *testing.T) {
	entry := map[string]string{}
	for line := range strings.Lines(text(t, "build/linux/"+desktop.ProgramName+".desktop")) {
		if key, value, found := strings.Cut(strings.TrimSpace(line), "="); found {
			entry[key] = value
		}
	}
	project := readProject(t)
	if project.OutputFilename != desktop.ProgramName {
		t.Errorf("the program's file is %s, and its window says it is %s", project.OutputFilename, desktop.ProgramName)
	}
	if _, err := os.Stat("build/linux/icons/hicolor/scalable/apps/" + project.Name + ".svg"); err != nil {
		t.Error(err)
	}
	for key, want := range map[string]string{
		"Type": "Application", "Name": project.Info.ProductName, "Comment": project.Info.Comments,
		"Exec": project.OutputFilename + " %u", "MimeType": "x-scheme-handler/" + window.LinkScheme + ";",
		"Icon": project.Name, "StartupWMClass": project.OutputFilename,
	} {
		if entry[key] != want {
			t.Errorf("conclave-window.desktop: %s is %q, want %q", key, entry[key], want)
		}
	}
	for category := range strings.SplitSeq(entry["Categories"], ";") {
		if strings.ContainsAny(category, " ,") {
			t.Errorf("conclave-window.desktop: a category is called %q", category)
		}
	}
	var data struct {
		ID         string   `xml:"id"`
		Name       string   `xml:"name"`
		Summary    string   `xml:"summary"`
		Licence    string   `xml:"project_license"`
		Launchable string   `xml:"launchable"`
		Binary     []string `xml:"provides>binary"`
		Text       []string `xml:"description>p"`
	}
	must(t, xml.Unmarshal([]byte(text(t, "build/linux/conclave.metainfo.xml")), &data))
	if data.ID != "com.wails."+project.Name || data.Launchable != desktop.ProgramName+".desktop" ||
		data.Name != entry["Name"] ||
		data.Licence != "MIT" {
		t.Errorf("conclave.metainfo.xml: %+v", data)
	}
	if len(data.Summary) > 35 || strings.HasSuffix(data.Summary, ".") || len(data.Text) == 0 || len(data.Binary) != 3 {
		t.Errorf("conclave.metainfo.xml: %+v", data)
	}
}

// What Wails fills in for macOS and Windows is well-formed with our project's
// words, and leaves nothing open.
func TestTheManifestsOfOtherSystemsAreWellFormed(t *testing.T) {
	project := readProject(t)
	for _, name := range []string{
		"darwin/Info.plist", "darwin/Info.dev.plist", "windows/wails.exe.manifest", "windows/info.json",
	} {
		words,
			err := template.New(name).Funcs(template.FuncMap{"safeBundleID": strings.ToLower}).Parse(text(t, "build/"+name))
		if err != nil {
			t.Error(err)
			continue
		}
		var out strings.Builder
		if err := words.Execute(&out, project); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if strings.HasSuffix(name, ".json") {
			if !json.Valid([]byte(out.String())) {
				t.Errorf("%s is no JSON: %s", name, out.String())
			}
			continue
		}
		for reader := xml.NewDecoder(strings.NewReader(out.String())); ; {
			if _, err := reader.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Errorf("%s: %v", name, err)
				break
			}
		}
		if strings.HasSuffix(name, ".plist") &&
			!strings.Contains(out.String(), "<string>"+window.LinkScheme+"</string>") {
			t.Errorf("%s: its links are missing: %s", name, out.String())
		}
		if !strings.Contains(out.String(), "com.wails.conclave") ||
			!regexp.MustCompile(`>?"?\d+\.\d+\.\d+`).MatchString(out.String()) {
			t.Errorf("%s: its identity or version is missing: %s", name, out.String())
		}
	}
}

// project is wails.json, as far as Wails' templates read it.
type project struct {
	Name           string
	OutputFilename string
	Info           struct {
		CompanyName, ProductName, ProductVersion, Comments, Copyright string

		Protocols []struct{ Scheme, Role string }
	}
}

func readProject(t *testing.T) project {
	t.Helper()
	var p project
	must(t, json.Unmarshal([]byte(text(t, "wails.json")), &p))
	return p
}

func text(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.FromSlash(name))
	must(t, err)
	return string(data)
}

func TestWithoutADisplayTheWindowSaysSoInsteadOfPanicking(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the window needs no display server here")
	}
	t.Setenv("DISPLAY", "")
	t.Setenv("WAYLAND_DISPLAY", "")
	data := filepath.Join(t.TempDir(), "data")
	var stderr strings.Builder
	status := desktop.Main(desktop.Contents{}, []string{"--data", data}, &stderr)
	if said := stderr.String(); status != 1 || !strings.Contains(said, "There is no display to show the window on.") ||
		!strings.Contains(said, "conclave chat") {
		t.Errorf("it ended with %d and wrote %q", status, said)
	}
	if _, err := os.Stat(data); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its data folder was made: %v", err)
	}
}
