package permit_test

import (
	"slices"
	"testing"

	"conclave/app/permit"
)

func TestApprovingGrantsNoWayThroughTheWalls(t *testing.T) {
	g, c := trusted(t, permit.Options{}, func(c *permit.Candidate) {
		c.Contract, c.Permissions = "neko", []string{"chat_mutation", "network", "programs", "filesystem"}
	})
	if granted, denied := g.Permissions(c.Plugin); !slices.Equal(granted, []string{"chat_mutation"}) || len(denied) != 0 {
		t.Errorf("granted %v, denied %v", granted, denied)
	}
	if err := g.SetPermission(t.Context(), c.Plugin, "network", permit.Allow); err != nil {
		t.Fatal(err)
	}
	if granted, _ := g.Permissions(c.Plugin); !slices.Equal(granted, []string{"chat_mutation", "network"}) {
		t.Errorf("after a yes of its own, granted %v", granted)
	}
}
