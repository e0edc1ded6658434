package render

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

func TestColoursOfCodeCanBeRead(t *testing.T) {
	for _, c := range codeColours {
		if got := contrast(t, c.light, "#ECE9E2"); got < 4.5 {
			t.Errorf("%s in the light theme has a contrast of %.2f, want 4.5", c.class, got)
		}
		if got := contrast(t, c.dark, "#100F0E"); got < 4.5 {
			t.Errorf("%s in the dark theme has a contrast of %.2f, want 4.5", c.class, got)
		}
	}
}

// contrast is that of WCAG 2.2.
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	luminance := func(colour string) float64 {
		sum := 0.0
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			v, err := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
			must(t, err)
			c := float64(v) / 255
			if c <= 0.04045 {
				c /= 12.92
			} else {
				c = math.Pow((c+0.055)/1.055, 2.4)
			}
			sum += weight * c
		}
		return sum
	}
	x, y := luminance(a)+0.05, luminance(b)+0.05
	return max(x, y) / min(x, y)
}

func TestEveryThemeHasARuleForEveryClass(t *testing.T) {
	light, dark := HighlightCSS(Light), HighlightCSS(Dark)
	if light == dark {
		t.Error("both themes are the same")
	}
	for name, css := range map[string]string{"light": light, "dark": dark} {
		for _, class := range []string{
			"k", "kc", "kt", "nb", "nf", "nv", "na", "nt", "s", "m", "c", "nd", "gh", "gi", "gd", "gs",
		} {
			if !strings.Contains(css, "figure.code ."+class+"{color:#") {
				t.Errorf("%s has no rule for %s", name, class)
			}
		}
	}
}
