package desktop

import (
	"fmt"
	"slices"
	"testing"

	"conclave/app/base/settings"

	"github.com/wailsapp/wails/v2/pkg/runtime"
)

// screens returns displays of these sizes.
func screens(sizes ...[2]int) []runtime.Screen {
	var all []runtime.Screen
	for _, size := range sizes {
		var s runtime.Screen
		s.Size.Width, s.Size.Height = size[0], size[1]
		all = append(all, s)
	}
	return all
}

func TestTheWindowReturnsToItsPlaceOnTheDisplaysThereAre(t *testing.T) {
	laptop, desk := screens([2]int{1366, 768}), screens([2]int{1366, 768}, [2]int{2560, 1440})
	saved := []settings.WindowPlace{
		{Displays: displays(desk), X: 2000, Y: 100, Width: 1800, Height: 1200},
		{Displays: displays(laptop), X: 900, Y: -20, Width: 1000, Height: 700},
	}
	for _, c := range []struct {
		name    string
		screens []runtime.Screen
		want    settings.WindowPlace
		known   bool
	}{
		{"the same displays", desk, saved[0], true},
		{
			"one display, partly outside of it", laptop,
			settings.WindowPlace{Displays: displays(laptop), X: 366, Width: 1000, Height: 700},
			true,
		},
		{
			"one that was never there", screens([2]int{1024, 400}),
			settings.WindowPlace{Displays: displays(desk), Width: 1024, Height: 480},
			false,
		},
	} {
		if place, known := placeOn(saved, c.screens); place != c.want || known != c.known {
			t.Errorf("%s: %+v, %v", c.name, place, known)
		}
	}
}

func TestAMaximisedWindowKeepsTheSizeThatItHadBefore(t *testing.T) {
	before := settings.WindowPlace{Displays: "a", X: 5, Y: 6, Width: 1000, Height: 700}
	var places []settings.WindowPlace
	for i := range 2 * maxPlaces {
		places = withPlace(places, settings.WindowPlace{Displays: fmt.Sprint(i)})
	}
	places = withPlace(places, before)
	places = withPlace(places, settings.WindowPlace{Displays: "a", Width: 1920, Height: 1080, Maximised: true})
	before.Maximised = true
	if len(places) != maxPlaces || places[0] != before {
		t.Errorf("the places are %+v", places)
	}
	if slices.IndexFunc(places[1:], func(p settings.WindowPlace) bool { return p.Displays == "a" }) >= 0 {
		t.Errorf("one arrangement has two places: %+v", places)
	}
}
