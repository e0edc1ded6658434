package config

import (
	"errors"
	"io"
	"strings"

	"go.yaml.in/yaml/v4"
)

// readYAML reads the first document of a YAML text.
func readYAML(all string) (node, error) {
	var document yaml.Node
	if err := yaml.NewDecoder(strings.NewReader(all)).Decode(&document); err != nil {
		if errors.Is(err, io.EOF) {
			return node{}, nil
		}
		message, line, column := strings.TrimPrefix(err.Error(), "yaml: "), 0, 0
		if wrong, ok := errors.AsType[*yaml.LoadError](err); ok {
			message, line, column = wrong.Message, wrong.Mark.Line, wrong.Mark.Column
		}
		return node{}, &syntaxError{line, column, "It is no YAML: " + message}
	}
	budget := maxNodes
	return fromYAML(&document, 0, &budget)
}

var errTooLarge = &syntaxError{0, 0, "It is nested too deeply, or too large, for a configuration"}

func fromYAML(y *yaml.Node, depth int, budget *int) (node, error) {
	if *budget--; *budget < 0 || depth > maxDepth {
		return node{}, errTooLarge
	}
	n := node{line: y.Line, column: y.Column, text: y.Value}
	switch y.Kind {
	case yaml.DocumentNode:
		if len(y.Content) == 0 {
			return n, nil
		}
		return fromYAML(y.Content[0], depth, budget)
	case yaml.AliasNode:
		return fromYAML(y.Alias, depth+1, budget)
	case yaml.SequenceNode:
		n.kind = list
		for _, item := range y.Content {
			one, err := fromYAML(item, depth+1, budget)
			if err != nil {
				return n, err
			}
			n.items = append(n.items, one)
		}
	case yaml.MappingNode:
		n.kind = object
		var merged []member // what the object says itself wins, wherever the merge stands
		for i := 0; i+1 < len(y.Content); i += 2 {
			value, err := fromYAML(y.Content[i+1], depth+1, budget)
			if err != nil {
				return n, err
			}
			if y.Content[i].Tag == "!!merge" {
				merged = append(merged, value.members...)
				continue
			}
			n.members = append(n.members, member{y.Content[i].Value, value})
		}
		n.members = append(merged, n.members...)
	case yaml.ScalarNode:
		n.kind = map[string]kind{"!!null": null, "!!bool": boolean, "!!int": number, "!!float": number}[y.ShortTag()]
		if n.kind == null && y.ShortTag() != "!!null" {
			n.kind = text
		}
	}
	return n, nil
}
