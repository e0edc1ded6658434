package neko

import (
	"strconv"
	"strings"
)

// satisfies reports whether version is in a range of PEP 440: comparisons
// separated by commas, all of which must hold. A comparison that is not
// understood holds: a manifest is never refused for its spelling.
func satisfies(version, ranges string) bool {
	for one := range strings.SplitSeq(ranges, ",") {
		one = strings.TrimSpace(one)
		if one == "" {
			continue
		}
		operator := one[:len(one)-len(strings.TrimLeft(one, "<>=!~"))]
		wanted := strings.TrimSpace(one[len(operator):])
		prefix, wild := strings.CutSuffix(wanted, ".*")
		want, ok := release(prefix)
		if !ok {
			continue
		}
		have, _ := release(version)
		if !holds(operator, have, want, wild) {
			return false
		}
	}
	return true
}

func holds(operator string, have, want []int, wild bool) bool {
	order := compare(have, want)
	if wild {
		order = compare(have[:min(len(have), len(want))], want)
	}
	switch operator {
	case "==", "===", "":
		return order == 0
	case "!=":
		return order != 0
	case ">=":
		return order >= 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	case "<":
		return order < 0
	case "~=":
		same := want[:max(1, len(want)-1)]
		return order >= 0 && compare(have[:min(len(have), len(same))], same) == 0
	}
	return true
}

// release returns the numbers at the beginning of a version.
func release(text string) (numbers []int, ok bool) {
	for part := range strings.SplitSeq(strings.TrimPrefix(text, "v"), ".") {
		digits := part[:len(part)-len(strings.TrimLeft(part, "0123456789"))]
		n, err := strconv.Atoi(digits)
		if err != nil {
			break
		}
		numbers = append(numbers, n)
		if digits != part {
			break // 1.0rc1, 1.0.7_1
		}
	}
	return numbers, len(numbers) > 0
}

// compare orders two releases; missing numbers are 0.
func compare(a, b []int) int {
	for i := range max(len(a), len(b)) {
		var x, y int
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			return x - y
		}
	}
	return 0
}
