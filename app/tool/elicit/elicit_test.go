package elicit

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
)

// order is the form of a shop.
func order() []Field {
	least, most, one := 1.0, 9.0, 1
	return []Field{
		{Name: "name", Type: Text, Required: true},
		{Name: "mail", Type: Text, Format: "email"},
		{Name: "count", Type: Integer, Required: true, Minimum: &least, Maximum: &most},
		{Name: "gift", Type: Boolean},
		{Name: "size", Type: One, Choices: []Choice{{"s", "Small"}, {"l", "Large"}}},
		{Name: "tops", Type: Several, MinChoices: &one, Choices: []Choice{{"nut", ""}, {"jam", ""}}},
	}
}

func TestValuesBecomeWhatTheFieldsWant(t *testing.T) {
	got, wrong := Check(order(), map[string]any{
		"name": "Ada", "mail": "", "count": " 3 ", "gift": "yes", "size": "l", "tops": []any{"jam"}, "other": 1,
	})
	want := map[string]any{"name": "Ada", "count": 3.0, "gift": true, "size": "l", "tops": []string{"jam"}}
	if len(wrong) > 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("checked %v, wrong %v, want %v", got, wrong, want)
	}
}

func TestMC57AFieldThatThePersonEmptiedDoesNotGetItsDefaultBack(t *testing.T) {
	fields := []Field{
		{Name: "name", Type: Text, Default: "Ada"},
		{Name: "count", Type: Integer, Default: 2.0},
		{Name: "tops", Type: Several, Default: []any{"nut"}, Choices: []Choice{{"nut", ""}}},
	}
	for name, c := range map[string]struct{ given, want map[string]any }{
		"untouched": {nil, map[string]any{"name": "Ada", "count": 2.0, "tops": []string{"nut"}}},
		"emptied":   {map[string]any{"name": "", "count": "", "tops": []any{}}, map[string]any{}},
		"one of them": {
			map[string]any{"name": ""}, map[string]any{"count": 2.0, "tops": []string{"nut"}},
		},
	} {
		if got, wrong := Check(fields, c.given); len(wrong) > 0 || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, wrong %v, not %v", name, got, wrong, c.want)
		}
	}
}

func TestEachWrongValueHasItsSentence(t *testing.T) {
	for value, want := range map[[2]string]string{
		{"name", ""}:           "This is needed.",
		{"mail", "ada"}:        "An e-mail address is needed, like name@example.org.",
		{"count", "2.5"}:       "A whole number is needed.",
		{"count", "10"}:        "The most is 9.",
		{"count", "0"}:         "The least is 1.",
		{"count", "NaN"}:       "A number is needed.",
		{"gift", "perhaps"}:    "Yes or no is needed.",
		{"size", "Large"}:      "Choose one of those offered.",
		{"tops", "nut, honey"}: "“honey” is not offered.",
	} {
		values := map[string]any{"name": "Ada", "count": 1.0}
		values[value[0]] = value[1]
		_, wrong := Check(order(), values)
		if len(wrong) != 1 || wrong[0] != (Wrong{value[0], want}) {
			t.Errorf("%s = %q: %v, want %q", value[0], value[1], wrong, want)
		}
	}
}

func TestTheFirstRightAnswerCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New(bus.New())
		defer d.Attach()()
		answered := make(chan Answer, 1)
		go func() { answered <- d.Ask(t.Context(), Question{Plugin: "shop", Fields: order()}) }()
		synctest.Wait()
		q := d.List()[0]
		if wrong, err := d.Answer(q.ID, Answer{Action: Accept}); err != nil || len(wrong) != 2 {
			t.Errorf("an empty form: %v, %v, want two wrong fields", wrong, err)
		}
		full := map[string]any{"name": "Ada", "count": "2"}
		if wrong, err := d.Answer(q.ID, Answer{Action: Accept, Values: full}); err != nil || len(wrong) > 0 {
			t.Fatal(wrong, err)
		}
		if a := <-answered; a.Action != Accept || string(a.Object()) != `{"count":2,"name":"Ada"}` {
			t.Errorf("the plugin got %v %s", a.Action, a.Object())
		}
		if _, err := d.Answer(q.ID, Answer{Action: Decline}); fault.KindOf(err) != fault.Conflict {
			t.Errorf("a second answer: %v, want conflict", err)
		}
	})
}

func TestAQuestionEndsWithTenMinutesItsCallOrTheWindow(t *testing.T) {
	for name, end := range map[string]func(stop context.CancelFunc, detach func()){
		"ten minutes": func(context.CancelFunc, func()) { time.Sleep(Wait) },
		"stopped":     func(stop context.CancelFunc, _ func()) { stop() },
		"was closed":  func(_ context.CancelFunc, detach func()) { detach() },
	} {
		synctest.Test(t, func(t *testing.T) {
			d := New(bus.New())
			detach := d.Attach()
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			answered := make(chan Answer, 1)
			go func() { answered <- d.Ask(ctx, Question{Plugin: "shop", Message: "Which?"}) }()
			synctest.Wait()
			end(stop, detach)
			if a := <-answered; a.Action != Cancel || !strings.Contains(a.Why, name) || len(d.List()) > 0 {
				t.Errorf("%s: %+v, %d wait", name, a, len(d.List()))
			}
		})
	}
}

func TestMC59AVisitThatThePluginReportsAsOverIsAccepted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, over := New(bus.New()), make(chan struct{})
		defer d.Attach()()
		answered := make(chan Answer, 1)
		go func() {
			answered <- d.Ask(t.Context(), Question{Plugin: "shop", Address: "https://shop.example/", Finished: over})
		}()
		synctest.Wait()
		close(over)
		if a := <-answered; a.Action != Accept || len(d.List()) > 0 {
			t.Errorf("it is %+v, %d wait", a, len(d.List()))
		}
	})
}

func TestMC60WithNobodyThereAQuestionIsCancelledAtOnce(t *testing.T) {
	a := New(bus.New()).Ask(t.Context(), Question{Plugin: "shop"})
	if a.Action != Cancel || !strings.Contains(a.Why, "nobody") {
		t.Errorf("it is %+v, want cancel and why", a)
	}
}

func TestAFloodOfQuestionsIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New(bus.New())
		defer d.Attach()()
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		for range maxOpen {
			go d.Ask(ctx, Question{Plugin: "flood"})
		}
		synctest.Wait()
		if a := d.Ask(ctx, Question{Plugin: "flood"}); a.Action != Cancel || !strings.Contains(a.Why, "five") {
			t.Errorf("one more: %+v", a)
		}
	})
}

func TestAQuestionIsShownWithoutHiddenCharacters(t *testing.T) {
	q, why := cleaned(Question{
		Message: "Pay\u202e no", Fields: []Field{{Name: "x", Title: "a\u200bb", Choices: []Choice{{"v", "c\u2066d"}}}},
	})
	if why != "" || q.Message != "Pay no" || q.Fields[0].Title != "ab" || q.Fields[0].Choices[0].Title != "cd" {
		t.Errorf("it is %+v, %q", q, why)
	}
}

func TestAttackAFieldHidesWhatItIs(t *testing.T) {
	for why, f := range map[string]Field{
		"a name with an escape":    {Name: "\x1b]0;owned\x07x"},
		"a name read backwards":    {Name: "\u202exyz"},
		"a name without end":       {Name: strings.Repeat("x", 1<<20)},
		"a choice that is hidden":  {Name: "x", Choices: []Choice{{"pay\u200b", "Cancel"}}},
		"a choice that is there":   {Name: "x", Choices: []Choice{{"pay", "Pay"}, {"pay", "Cancel"}}},
		"a choice without an end":  {Name: "x", Choices: []Choice{{strings.Repeat("x", 1<<20), "Cancel"}}},
		"the name of another one":  {Name: "first"},
		"five hundred one choices": {Name: "x", Choices: make([]Choice, 501)},
	} {
		if _, said := cleaned(Question{Fields: []Field{{Name: "first"}, f}}); said == "" {
			t.Errorf("%s is shown", why)
		}
	}
	q, why := cleaned(Question{Fields: []Field{{Name: "x", Default: "a\u202eb", Pattern: "\x1b[31m"}}})
	if f := q.Fields[0]; why != "" || f.Default != "ab" || f.Pattern != "" {
		t.Errorf("it is %+v, %q", q, why)
	}
	t.Log("stopped by: a form with what cannot be shown is declined")
}

func TestMC59AnAddressThatABrowserShouldNotOpenIsDeclined(t *testing.T) {
	for _, address := range []string{
		"file:///etc/passwd", "javascript:alert(1)", "https://", "https://bank.example@evil.example/", "https://a/\nb",
		"https://a/\u202eb", "/page",
	} {
		if _, why := cleaned(Question{Address: address}); why == "" {
			t.Errorf("%q is shown", address)
		}
	}
	if _, why := cleaned(Question{Address: "https://login.example/ask?x=1"}); why != "" {
		t.Error(why)
	}
}

type teller struct{ asked []string }

func (a *teller) AskForm(_ context.Context, q Question) (Answer, error) {
	a.asked = append(a.asked, fmt.Sprint(q.Message))
	return Answer{Action: Decline}, nil
}

func TestATerminalIsAskedInPlaceOfTheWindow(t *testing.T) {
	d, at := New(bus.New()), &teller{}
	defer d.Attach()()
	a := d.Ask(WithAsker(t.Context(), at), Question{Message: "Which?"})
	if a.Action != Decline || len(at.asked) != 1 {
		t.Errorf("it is %+v, asked %v", a, at.asked)
	}
}
