package gate

import (
	"slices"
	"strings"
	"testing"

	"conclave/app/tool"
)

func TestRiskComesOnlyFromWhatAPermissionCanDoHere(t *testing.T) {
	c := PluginVersion{Plugin: "ext", Convention: tool.Convention{Chat: true}, Isolation: "process+landlock"}
	unused := []string{
		"app_manipulation", "images", "image_gen", "oauth", "databanks", "memories", "event_tracking", "web_search",
		"ui_panels", "push_notification", "screen_capture",
	}
	capabilities, sentence := capabilitiesOf(c, unused, nil), reachOf(c, unused, nil, "")
	if len(capabilities) != 1 || capabilities[0] != Compute ||
		sentence != "Can touch: its own storage folder. "+tool.ChatNotice {
		t.Errorf("with permissions that do nothing it can %v: %s", capabilities, sentence)
	}
	for _, capability := range capabilities {
		if table[capability].member != Allow {
			t.Errorf("a council member is refused %s", capability)
		}
	}
}

func TestSP27TheCardSaysWhichToolsAreGivenTheChat(t *testing.T) {
	for _, told := range []bool{true, false} {
		sentence := reachOf(PluginVersion{Convention: tool.Convention{Chat: told}, Isolation: isolated}, nil, nil, "")
		if strings.Contains(sentence, tool.ChatNotice) != told {
			t.Errorf("given the chat: %v; the card says %q", told, sentence)
		}
	}
	const given = "This call sees the part of the chat that its member sees: the question only."
	sentence := reachOf(PluginVersion{Convention: tool.Convention{Chat: true}, Isolation: isolated}, nil, nil, given)
	if want := "Can touch: its own storage folder. " + given; sentence != want {
		t.Errorf("of one whose caller gives less, the card says %q, want %q", sentence, want)
	}
}

func TestOfFilesInFoldersOnlyThoseGivenForWritingAreChangedAndDeleted(t *testing.T) {
	c := PluginVersion{Plugin: "papers", Isolation: "process+landlock"}
	reads, writes := Folder{Path: "/papers"}, Folder{Path: "/desk", Write: true}
	for _, one := range []struct {
		folders []Folder
		want    []Capability
	}{
		{[]Folder{reads}, []Capability{Compute, ReadFiles}},
		{[]Folder{reads, writes}, []Capability{Compute, ReadFiles, WriteFiles, Delete}},
	} {
		if got := capabilitiesOf(c, []string{Filesystem}, one.folders); !slices.Equal(got, one.want) {
			t.Errorf("with %v it can %v", one.folders, got)
		}
	}
}

func TestTheCardNamesTheFoldersThatAPluginCanTouch(t *testing.T) {
	c := PluginVersion{Plugin: "papers", Isolation: isolated}
	of := func(names ...string) (folders []Folder) {
		for _, name := range names {
			folders = append(folders, Folder{Path: name, Write: name == "Desk"})
		}
		return folders
	}
	for _, one := range []struct {
		granted []string
		folders []Folder
		want    string
	}{
		{[]string{Filesystem}, of("Documents/Notes"), "read files in Documents/Notes"},
		{
			[]string{Filesystem, Network},
			of("Desk", "Notes"),
			"read and write files in Desk, read files in Notes, fetch from the web and send to the web",
		},
		{
			[]string{Filesystem},
			of("a", "b", "c", "d", "e", "f"),
			"read files in a, read files in b, read files in c, read files in d and touch 2 more folders",
		},
	} {
		want := "Can touch: its own storage folder. It may also " + one.want + "."
		if got := reachOf(c, one.granted, one.folders, ""); got != want {
			t.Errorf("with %v the card says %q", one.folders, got)
		}
	}
}
