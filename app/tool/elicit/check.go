package elicit

import (
	"fmt"
	"math"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Wrong names a field whose value it does not take, and why.
type Wrong struct {
	Field   string `json:"field"`
	Message string `json:"message"` // a sentence
}

// Check returns the values of a form as its fields want them (numbers as numbers, empty ones left out),
// and what is wrong with them, in the fields' order. A field that nobody touched, for which values has
// nothing, has its default; one that the person emptied is left out. Values of fields that the form does
// not have are left out.
func Check(fields []Field, values map[string]any) (map[string]any, []Wrong) {
	checked, wrong := map[string]any{}, []Wrong{}
	for _, f := range fields {
		given, touched := values[f.Name]
		if !touched {
			given = f.Default
		}
		value, message := f.check(given)
		switch {
		case message != "":
			wrong = append(wrong, Wrong{f.Name, message})
		case value != nil:
			checked[f.Name] = value
		}
	}
	return checked, wrong
}

// check returns the value as the field wants it, nil for none, and a sentence about what is wrong.
func (f Field) check(value any) (any, string) {
	if text, ok := value.(string); ok && strings.TrimSpace(text) == "" && f.Type != Text || value == "" {
		value = nil
	}
	if value == nil {
		if f.Required {
			return nil, "This is needed."
		}
		return nil, ""
	}
	switch f.Type {
	case Number, Integer:
		return f.checkNumber(value)
	case Boolean:
		return f.checkBoolean(value)
	case One:
		text, ok := value.(string)
		if !ok || !f.offers(text) {
			return nil, "Choose one of those offered."
		}
		return text, ""
	case Several:
		return f.checkSeveral(value)
	}
	text, ok := value.(string)
	if !ok {
		return nil, "A text is needed."
	}
	return text, f.checkText(text)
}

func (f Field) checkNumber(value any) (any, string) {
	number, ok := value.(float64)
	if text, isText := value.(string); isText {
		parsed, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		number, ok = parsed, err == nil
	}
	switch {
	case !ok || math.IsNaN(number) || math.IsInf(number, 0):
		return nil, "A number is needed."
	case f.Type == Integer && number != math.Trunc(number):
		return nil, "A whole number is needed."
	case f.Minimum != nil && number < *f.Minimum:
		return nil, fmt.Sprintf("The least is %s.", written(*f.Minimum))
	case f.Maximum != nil && number > *f.Maximum:
		return nil, fmt.Sprintf("The most is %s.", written(*f.Maximum))
	}
	return number, ""
}

func written(number float64) string { return strconv.FormatFloat(number, 'f', -1, 64) }

func (f Field) checkBoolean(value any) (any, string) {
	switch value {
	case true, "true", "yes", "y":
		return true, ""
	case false, "false", "no", "n":
		return false, ""
	}
	return nil, "Yes or no is needed."
}

func (f Field) checkSeveral(value any) (any, string) {
	var chosen []string
	switch list := value.(type) {
	case []string:
		chosen = list
	case []any:
		for _, one := range list {
			text, _ := one.(string)
			chosen = append(chosen, text)
		}
	case string:
		for text := range strings.SplitSeq(list, ",") {
			chosen = append(chosen, strings.TrimSpace(text))
		}
	}
	if i := slices.IndexFunc(chosen, func(text string) bool { return !f.offers(text) }); i >= 0 {
		return nil, fmt.Sprintf("“%s” is not offered.", chosen[i])
	}
	switch {
	case f.Required && len(chosen) == 0:
		return nil, "Choose at least one."
	case f.MinChoices != nil && len(chosen) < *f.MinChoices:
		return nil, fmt.Sprintf("Choose at least %d.", *f.MinChoices)
	case f.MaxChoices != nil && len(chosen) > *f.MaxChoices:
		return nil, fmt.Sprintf("Choose at most %d.", *f.MaxChoices)
	case len(chosen) == 0:
		return nil, ""
	}
	return chosen, ""
}

func (f Field) offers(value string) bool {
	return slices.ContainsFunc(f.Choices, func(c Choice) bool { return c.Value == value })
}

// checkText returns what is wrong with a text that is not empty.
func (f Field) checkText(text string) string {
	length := utf8.RuneCountInString(text)
	switch {
	case f.MinLength != nil && length < *f.MinLength:
		return fmt.Sprintf("At least %d characters are needed.", *f.MinLength)
	case f.MaxLength != nil && length > *f.MaxLength:
		return fmt.Sprintf("At most %d characters fit.", *f.MaxLength)
	case !f.formatted(text):
		return map[string]string{
			"email":     "An e-mail address is needed, like name@example.org.",
			"uri":       "An address is needed, like https://example.org.",
			"date":      "A date is needed, like 2026-11-28.",
			"date-time": "A date and time are needed, like 2026-11-28T09:30:00Z.",
		}[f.Format]
	}
	if f.Pattern == "" || len(text) > maxMatched {
		return ""
	}
	// RE2 takes linear time; a pattern that it does not know is the plugin's to check.
	if pattern, err := regexp.Compile(f.Pattern); err == nil && !pattern.MatchString(text) {
		return "This does not look as the plugin wants it (" + f.Pattern + ")."
	}
	return ""
}

// maxMatched is the longest text that a pattern is tried on, in bytes.
const maxMatched = 64 << 10

func (f Field) formatted(text string) bool {
	switch f.Format {
	case "email":
		address, err := mail.ParseAddress(text)
		return err == nil && address.Address == text
	case "uri":
		u, err := url.Parse(text)
		return err == nil && u.IsAbs()
	case "date":
		_, err := time.Parse(time.DateOnly, text)
		return err == nil
	case "date-time":
		_, err := time.Parse(time.RFC3339, text)
		return err == nil
	}
	return true
}
