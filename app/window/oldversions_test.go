package window

import (
	"strings"
	"testing"

	"conclave/app/record/undo"
)

func TestWhatIsNotSeenOfAFolderIsSaidWithWhatACallChanged(t *testing.T) {
	v := fileChanges(undo.Set{Cut: true, Shared: true, Changes: []undo.Change{
		{Folder: "/notes", Name: "a", After: &undo.State{Kind: "file"}, Unseen: true},
		{Folder: "/notes", Name: "b", Before: &undo.State{Kind: "file"}},
	}})
	if v.Sentence != "Deleted 1 file, 1 file seen first." || !strings.HasPrefix(v.Note, "Another call used the folder") ||
		!strings.HasSuffix(v.Note, "The folder has more than 20,000 files; changes to those beyond are not seen.") ||
		v.Files[0].NotKept == "" || v.Files[1].NotKept != "" {
		t.Errorf("the page is told %+v", v)
	}
}
