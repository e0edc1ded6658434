package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"conclave/app/tool"
	"conclave/app/tool/elicit"
)

// AskForm implements elicit.Asker: it asks for one field after the other.
func (p *person) AskForm(ctx context.Context, q elicit.Question) (elicit.Answer, error) {
	if err := p.desk.take(ctx); err != nil {
		return elicit.Answer{}, unanswered(err)
	}
	defer p.desk.give(p.Err)
	fmt.Fprint(p.Err, "\n"+form(q))
	if err := p.arm(ctx); err != nil {
		return elicit.Answer{}, unanswered(err)
	}
	if q.Address != "" {
		agreed := "I will"
		if q.Waits {
			agreed = "I have finished"
		}
		action, err := p.action(ctx, "  Open it in your browser. [y] "+agreed+"  [n] decline  Enter to close: ")
		return elicit.Answer{Action: action}, err
	}
	answer := elicit.Answer{Action: elicit.Accept, Values: map[string]any{}}
	for _, field := range q.Fields {
		value, action, err := p.fill(ctx, field)
		if err != nil || action != elicit.Accept {
			return elicit.Answer{Action: action}, err
		}
		if value != nil {
			answer.Values[field.Name] = value
		}
	}
	return p.send(ctx, answer)
}

// form returns what the terminal shows of a question before its fields.
func form(q elicit.Question) string {
	var b strings.Builder
	of := ""
	if q.Of > 1 {
		of = fmt.Sprintf(" (question %d of %d)", q.Number, q.Of)
	}
	fmt.Fprintf(&b, "? The plugin %s asks%s:\n%s", oneLine(q.PluginName), of, indented(q.Message))
	if q.Tool != "" {
		fmt.Fprintf(&b, "  %-8s %s\n", "for", oneLine(q.Tool))
	}
	if q.Address != "" {
		host := q.Address
		if u, err := url.Parse(q.Address); err == nil {
			host = elicit.Host(u)
		}
		fmt.Fprintf(&b, "  %-8s %s\n  %-8s %s\n", "visit", q.Address, "at", host)
		return b.String()
	}
	b.WriteString("  Enter takes the value in brackets, - leaves a field empty, !no declines, !cancel closes.\n")
	return b.String()
}

// fill asks for the value of one field until it is right; nil for none. An action other than accept ends
// the form.
func (p *person) fill(ctx context.Context, f elicit.Field) (value any, action elicit.Action, err error) {
	fmt.Fprintf(p.Err, "  %s%s\n", oneLine(f.Label()), hint(f))
	if f.Description != "" {
		fmt.Fprint(p.Err, indented(indented(f.Description)))
	}
	if f.Secret {
		fmt.Fprintln(p.Err, "    This looks like a secret. A plugin should not ask for one here.")
	}
	for i, c := range f.Choices {
		title := ""
		if c.Title != "" && c.Title != c.Value {
			title = "  " + oneLine(c.Title)
		}
		fmt.Fprintf(p.Err, "    %d  %s%s\n", i+1, tool.ShowLine(c.Value), title)
	}
	for {
		fmt.Fprint(p.Err, "  > ")
		line, err := p.line(ctx)
		switch {
		case errors.Is(err, io.EOF):
			fmt.Fprintln(p.Err)
			return nil, elicit.Cancel, nil
		case err != nil:
			return nil, elicit.Cancel, unanswered(err)
		}
		var given any
		switch line {
		case "":
			given = f.Default
		case "-":
		case "!no":
			return nil, elicit.Decline, nil
		case "!cancel":
			return nil, elicit.Cancel, nil
		default:
			given = chosen(f, line)
		}
		checked, wrong := elicit.Check([]elicit.Field{f}, map[string]any{f.Name: given})
		if len(wrong) == 0 {
			return checked[f.Name], elicit.Accept, nil
		}
		fmt.Fprintln(p.Err, "  "+wrong[0].Message)
	}
}

// chosen returns a typed line as the value of a field: choices may be given by their numbers.
func chosen(f elicit.Field, line string) any {
	if len(f.Choices) == 0 {
		return line
	}
	words := strings.Split(line, ",")
	for i, word := range words {
		words[i] = strings.TrimSpace(word)
		for n, c := range f.Choices {
			if words[i] == fmt.Sprint(n+1) {
				words[i] = c.Value
				break
			}
		}
	}
	if f.Type == elicit.Several {
		return words
	}
	return strings.Join(words, ",")
}

// hint returns what a field takes, and its default in brackets.
func hint(f elicit.Field) string {
	words := map[string]string{
		elicit.Number: "a number", elicit.Integer: "a whole number", elicit.Boolean: "yes or no",
		elicit.One: "one of these", elicit.Several: "any of these, with commas",
	}[f.Type]
	if words == "" && f.Format != "" {
		words = map[string]string{
			"email": "an e-mail address", "uri": "an address", "date": "a date",
			"date-time": "a date and time",
		}[f.Format]
	}
	if f.Required {
		words = strings.TrimPrefix(words+", required", ", ")
	}
	if words != "" {
		words = " (" + words + ")"
	}
	switch given := f.Default.(type) {
	case nil:
	case []any:
		var all []string
		for _, one := range given {
			all = append(all, fmt.Sprint(one))
		}
		words += " [" + oneLine(strings.Join(all, ", ")) + "]"
	default:
		words += fmt.Sprintf(" [%s]", oneLine(fmt.Sprint(given)))
	}
	return words
}

// send asks whether the values are to be sent.
func (p *person) send(ctx context.Context, answer elicit.Answer) (elicit.Answer, error) {
	action, err := p.action(ctx, "  [y] send  [n] decline  Enter to close: ")
	if action != elicit.Accept {
		answer.Values = nil
	}
	answer.Action = action
	return answer, err
}

// action asks whether a question is accepted. The end of input closes it.
func (p *person) action(ctx context.Context, prompt string) (elicit.Action, error) {
	for {
		fmt.Fprint(p.Err, prompt)
		line, err := p.line(ctx)
		switch {
		case errors.Is(err, io.EOF):
			fmt.Fprintln(p.Err)
			return elicit.Cancel, nil
		case err != nil:
			return elicit.Cancel, unanswered(err)
		}
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			return elicit.Accept, nil
		case "n", "no":
			return elicit.Decline, nil
		case "":
			return elicit.Cancel, nil
		}
	}
}
