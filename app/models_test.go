package app

import (
	"slices"
	"testing"
)

func TestConnectionsWithOneTitleAreToldApartByTheirNames(t *testing.T) {
	views := []ConnectionView{
		{Name: "demo", Title: "Demo guide"}, {Name: "127.0.0.1-8080", Title: "127.0.0.1:8080"},
		{Name: "127.0.0.1-8080-2", Title: "127.0.0.1:8080"}, {Name: "mine", Title: "OpenAI"},
	}
	tellApart(views)
	var got []string
	for _, v := range views {
		got = append(got, v.Title)
	}
	want := []string{"Demo guide", "127.0.0.1:8080 (127.0.0.1-8080)", "127.0.0.1:8080 (127.0.0.1-8080-2)", "OpenAI"}
	if !slices.Equal(got, want) {
		t.Errorf("the window shows %q, want %q", got, want)
	}
}
