package window

import (
	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/tool/elicit"
	"conclave/app/view"

	"github.com/wailsapp/wails/v2/pkg/runtime"
)

// Questions is bound: what plugins ask the person while they work.
type Questions struct {
	*lifecycle
	core Core
	open *openChats
}

// QuestionList holds all questions that wait.
type QuestionList struct {
	Revision  uint64          `json:"revision"`
	Questions []view.Question `json:"questions"` // oldest first
}

// List returns the questions that wait.
func (q *Questions) List() (QuestionList, error) {
	revision := q.core.Bus.Revision(bus.Questions, "")
	return QuestionList{revision, view.Map(q.core.Elicit.List(), func(one elicit.Question) view.Question {
		v := view.NewQuestion(one)
		if one.Chat != "" {
			v.ChatTitle = q.open.titleNow(one.Chat)
		}
		return v
	})}, nil
}

// Answer answers a question: accept with the values of its fields, decline or cancel. It returns what is
// wrong with values; then the question waits on. The kind is conflict for one that was settled.
func (q *Questions) Answer(question string, action elicit.Action, values map[string]any) ([]elicit.Wrong, error) {
	wrong, err := q.core.Elicit.Answer(question, elicit.Answer{Action: action, Values: values})
	return view.List(wrong), err
}

// OpenAddress opens the page that a question asks the person to visit in the system's browser.
func (q *Questions) OpenAddress(question string) error {
	for _, one := range q.core.Elicit.List() {
		if one.ID != question || one.Address == "" {
			continue
		}
		ctx := q.window()
		if ctx == nil {
			return errNoContext
		}
		runtime.BrowserOpenURL(ctx, one.Address)
		return nil
	}
	return fault.New(fault.Conflict, "app.question", "This question was settled already.", "Look again.")
}
