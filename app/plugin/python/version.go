package python

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"conclave/app/base/pattern"
)

// Version is a version of a package (PEP 440).
type Version struct {
	epoch   int
	Release []int  // its numbers
	pre     [2]int // 1 a, 2 b, 3 rc; 4 is none, so that it sorts last
	post    int    // -1 is none
	dev     int    // maxDev is none
	local   string
}

// maxDev stands for no development release: those come before the release.
const maxDev = int(^uint(0) >> 1)

// maxVersion bounds the text of one version; longer ones are nobody's.
const maxVersion = 200

// versionPattern is compiled when the first version is read, as not every command reads one.
var versionPattern = pattern.Lazy(`(?i)^v?(?:(\d+)!)?(\d+(?:\.\d+)*)(?:[-_.]?(alpha|a|beta|b|preview|pre|c|rc)[-_.]?(\d+)?)?(?:-(\d+)|[-_.]?(post|rev|r)[-_.]?(\d+)?)?(?:[-_.]?(dev)[-_.]?(\d+)?)?(?:\+([a-z0-9]+(?:[-_.][a-z0-9]+)*))?$`)

// ParseVersion reads a version and reports whether it is one.
func ParseVersion(text string) (Version, bool) {
	text = strings.TrimSpace(text)
	if len(text) > maxVersion {
		return Version{}, false
	}
	m := versionPattern().FindStringSubmatch(text)
	if m == nil {
		return Version{}, false
	}
	v := Version{epoch: number(m[1]), pre: [2]int{4, 0}, post: -1, dev: maxDev, local: strings.ToLower(m[10])}
	for part := range strings.SplitSeq(m[2], ".") {
		v.Release = append(v.Release, number(part))
	}
	if m[3] != "" {
		v.pre = [2]int{map[byte]int{'a': 1, 'b': 2, 'c': 3, 'r': 3, 'p': 3}[strings.ToLower(m[3])[0]], number(m[4])}
	}
	switch {
	case m[5] != "":
		v.post = number(m[5])
	case m[6] != "":
		v.post = number(m[7])
	}
	if m[8] != "" {
		v.dev = number(m[9])
		if m[3] == "" && v.post < 0 {
			v.pre = [2]int{0, 0} // before every pre-release
		}
	}
	return v, true
}

// number reads digits; too many of them are a very large number.
func number(digits string) int {
	if digits == "" {
		return 0
	}
	n, err := strconv.Atoi(digits)
	if err != nil {
		return maxDev - 1
	}
	return n
}

// compare orders two versions; local parts only among equals.
func (v Version) compare(o Version) int {
	return cmp.Or(v.comparePublic(o), strings.Compare(v.local, o.local))
}

func (v Version) comparePublic(o Version) int {
	return cmp.Or(cmp.Compare(v.epoch, o.epoch), compareRelease(v.Release, o.Release), slices.Compare(v.pre[:], o.pre[:]),
		cmp.Compare(v.post, o.post), cmp.Compare(v.dev, o.dev))
}

// compareRelease compares release numbers; missing ones are 0.
func compareRelease(a, b []int) int {
	for i := range max(len(a), len(b)) {
		if c := cmp.Compare(at(a, i), at(b, i)); c != 0 {
			return c
		}
	}
	return 0
}

func at(list []int, i int) int {
	if i < len(list) {
		return list[i]
	}
	return 0
}

func (v Version) prerelease() bool { return v.pre[0] < 4 || v.dev != maxDev }

var clausePattern = pattern.Lazy(`^\s*(===|~=|==|!=|<=|>=|<|>)\s*([^\s,;]+)\s*$`)

// Satisfies reports whether an installed version fits a specifier set such as
// ">=2,<3". What cannot be read fits: the installer has the last word.
func Satisfies(text, specifiers string) bool {
	v, ok := ParseVersion(text)
	for clause := range strings.SplitSeq(strings.Trim(strings.TrimSpace(specifiers), "()"), ",") {
		m := clausePattern().FindStringSubmatch(clause)
		if m == nil {
			continue
		}
		if m[1] == "===" {
			if !strings.EqualFold(strings.TrimSpace(text), m[2]) {
				return false
			}
			continue
		}
		if ok && !v.Fits(m[1], m[2]) {
			return false
		}
	}
	return true
}

// Fits answers one clause of a specifier set (PEP 440, "Version specifiers").
func (v Version) Fits(operator, text string) bool {
	prefix, wild := strings.CutSuffix(text, ".*")
	o, ok := ParseVersion(prefix)
	if !ok {
		return true
	}
	public := v
	if o.local == "" {
		public.local = ""
	}
	switch operator {
	case "==":
		if wild {
			return v.begins(o)
		}
		return public.compare(o) == 0
	case "!=":
		if wild {
			return !v.begins(o)
		}
		return public.compare(o) != 0
	case "~=":
		if len(o.Release) < 2 {
			return true
		}
		return v.comparePublic(o) >= 0 && v.begins(Version{epoch: o.epoch, Release: o.Release[:len(o.Release)-1]})
	case ">=":
		return v.comparePublic(o) >= 0
	case "<=":
		return v.comparePublic(o) <= 0
	case ">": // 1.0.post1 is not above 1.0, nor is 1.0+local
		return v.comparePublic(o) > 0 && (o.post >= 0 || v.post < 0 || compareRelease(v.Release, o.Release) != 0)
	}
	// <: 3.0rc1 is not below 3.0
	return v.comparePublic(o) < 0 && (o.prerelease() || !v.prerelease() || compareRelease(v.Release, o.Release) != 0)
}

// begins reports whether v's release begins with that of o.
func (v Version) begins(o Version) bool {
	return v.epoch == o.epoch && compareRelease(v.Release[:min(len(v.Release), len(o.Release))], o.Release) == 0
}
