package desktop

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	goruntime "runtime"

	"conclave/app/base/settings"

	"github.com/wailsapp/wails/v2/pkg/options"
	"github.com/wailsapp/wails/v2/pkg/runtime"
)

// maxPlaces is the number of arrangements of displays that a place is kept for.
const maxPlaces = 8

// placeKeeper restores the window's place and size when it opens, and saves them when it closes.
type placeKeeper struct {
	settings *settings.Current
	log      *slog.Logger
}

// begin gives the window its size and state before it is shown: those that it had last.
func (k placeKeeper) begin(ctx context.Context, o *options.App) {
	set, err := k.settings.Settings(ctx)
	if err != nil || len(set.WindowPlaces) == 0 {
		return
	}
	last := set.WindowPlaces[0]
	o.Width, o.Height = max(last.Width, minWidth), max(last.Height, minHeight)
	if last.Maximised {
		o.WindowStartState = options.Maximised
	}
}

// restore moves the window that was just shown to where it was on the displays there are. ctx is
// of Wails' runtime, which centres the window before the first of these calls returns.
func (k placeKeeper) restore(ctx context.Context) {
	screens, err := runtime.ScreenGetAll(ctx)
	if err != nil || len(screens) == 0 {
		k.log.Debug("the window's place is not restored", "err", err)
		return
	}
	set, err := k.settings.Settings(ctx)
	if err != nil || len(set.WindowPlaces) == 0 || runtime.WindowIsMaximised(ctx) {
		return
	}
	place, known := placeOn(set.WindowPlaces, screens)
	at, whole := origin(ctx, screens)
	runtime.WindowSetSize(ctx, place.Width, place.Height)
	switch {
	case !known: // it may be smaller now than when it was centred
		runtime.WindowCenter(ctx)
	case whole:
		runtime.WindowSetPosition(ctx, place.X-at.x, place.Y-at.y)
	}
}

// save keeps where the window is. ctx is of Wails' runtime.
func (k placeKeeper) save(ctx context.Context) {
	screens, err := runtime.ScreenGetAll(ctx)
	if err != nil || len(screens) == 0 || runtime.WindowIsMinimised(ctx) || runtime.WindowIsFullscreen(ctx) {
		return
	}
	now := settings.WindowPlace{Displays: displays(screens), Maximised: runtime.WindowIsMaximised(ctx)}
	now.Width, now.Height = runtime.WindowGetSize(ctx)
	now.X, now.Y = runtime.WindowGetPosition(ctx)
	_, err = k.settings.ChangeSettings(ctx, func(set *settings.Settings) {
		set.WindowPlaces = withPlace(set.WindowPlaces, now)
	})
	if err != nil {
		k.log.Warn("the window's place could not be saved", "err", err)
	}
}

// displays names an arrangement of displays by their sizes.
func displays(screens []runtime.Screen) string {
	var sizes []string
	for _, s := range screens {
		sizes = append(sizes, fmt.Sprintf("%dx%d", s.Size.Width, s.Size.Height))
	}
	return strings.Join(sizes, " ")
}

// placeOn returns the place for the displays there are: the one that was saved with them, and
// known, else the last size. It is not larger than a display, and on a single one within it.
func placeOn(saved []settings.WindowPlace, screens []runtime.Screen) (place settings.WindowPlace, known bool) {
	place = saved[0]
	here := displays(screens)
	if i := slices.IndexFunc(saved, func(p settings.WindowPlace) bool { return p.Displays == here }); i >= 0 {
		place, known = saved[i], true
	}
	mostWide, mostHigh := 0, 0
	for _, s := range screens {
		mostWide, mostHigh = max(mostWide, s.Size.Width), max(mostHigh, s.Size.Height)
	}
	place.Width = max(min(place.Width, mostWide), minWidth)
	place.Height = max(min(place.Height, mostHigh), minHeight)
	if len(screens) == 1 {
		place.X = max(0, min(place.X, mostWide-place.Width))
		place.Y = max(0, min(place.Y, mostHigh-place.Height))
	}
	return place, known
}

// withPlace returns the places with a new one first. A window that is maximised keeps the place
// and size that it had before.
func withPlace(saved []settings.WindowPlace, now settings.WindowPlace) []settings.WindowPlace {
	places := []settings.WindowPlace{now}
	for _, p := range saved {
		if p.Displays != now.Displays {
			places = append(places, p)
		} else if now.Maximised {
			p.Maximised = true
			places[0] = p
		}
	}
	return places[:min(len(places), maxPlaces)]
}

// point is a place on all displays together, in pixels.
type point struct{ x, y int }

// origin returns the corner of the display that the window is on, which Wails adds to a position
// that is set and does not take from one that it returns. It does not say where displays lie: the
// corner is found from the window, which is centred. whole is false where it cannot be found.
func origin(ctx context.Context, screens []runtime.Screen) (at point, whole bool) {
	if len(screens) == 1 || goruntime.GOOS == "darwin" { // which also returns positions on a display
		return point{}, true
	}
	if goruntime.GOOS != "linux" { // Windows leaves room for the task bar, whose height Wails does not know
		return point{}, false
	}
	x, y := runtime.WindowGetPosition(ctx)
	width, height := runtime.WindowGetSize(ctx)
	for _, s := range screens {
		if s.IsCurrent {
			return point{x - (s.Size.Width-width)/2, y - (s.Size.Height-height)/2}, true
		}
	}
	return point{}, false
}
