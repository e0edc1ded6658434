package service

import (
	"context"
	"fmt"
	"unicode/utf8"

	"conclave/app/chat"
	"conclave/app/plugin"
)

// Values stores variables: texts by scope, chat and key; store.PluginData is the real one.
// A variable that does not exist is no error.
type Values interface {
	Variable(ctx context.Context, scope string, in chat.ConversationID, key string) (v chat.Variable, set bool, err error)
	Variables(ctx context.Context, scope string, in chat.ConversationID) (map[string]chat.Variable, error)
	PutVariable(ctx context.Context, scope string, in chat.ConversationID, key string, v chat.Variable) error
	DeleteVariable(ctx context.Context, scope string, in chat.ConversationID, key string) (there bool, err error)
}

// Bounds of variables. They are shared by all plugins, as their ecosystem has
// them (contracts/spindle, section 5.2): what one extension or a macro sets, another may
// read. A secret does not belong there.
const (
	maxVariableKey   = 256
	maxVariable      = 64 << 10
	maxVariables     = 1000 // of one scope of one chat
	scopeGlobal      = "global"
	scopeLocal       = "local"
	scopeChat        = "chat"
	variableSentence = "The scope of a variable is local, global or chat."
)

// variableServices read and change variables.
type variableServices struct {
	o       *Options
	chats   *chatServices
	members *members
}

type variableArgs struct {
	Scope string              `json:"scope"`
	Chat  chat.ConversationID `json:"chat"`
	Key   string              `json:"key"`
	Value string              `json:"value"`
}

// place checks the scope and finds the chat.
func (s *variableServices) place(ctx context.Context, by plugin.Caller, a variableArgs) (chat.ConversationID, error) {
	switch a.Scope {
	case scopeGlobal:
		return "", nil
	case scopeLocal, scopeChat:
	default:
		return "", invalid(variableSentence)
	}
	if s.o.Chats == nil {
		return a.Chat, nil
	}
	c, err := s.chats.find(ctx, by, a.Chat)
	return c.ID, err
}

// ofChat reports whether it is about variables of a chat, which are part of its
// background.
func (a variableArgs) ofChat() bool { return a.Scope != scopeGlobal }

// What is answered where nothing is set.
var (
	noVariable  = map[string]any{"value": nil}
	noVariables = map[string]any{"values": map[string]string{}}
)

func (a variableArgs) check() error {
	if a.Key == "" || utf8.RuneCountInString(a.Key) > maxVariableKey {
		return invalid(fmt.Sprintf("The name of a variable has 1 to %d characters.", maxVariableKey))
	}
	return nil
}

func (s *variableServices) get(ctx context.Context, by plugin.Caller, a variableArgs) (any, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	at, err := s.place(ctx, by, a)
	if err != nil {
		return nil, err
	}
	v, there, err := s.o.Values.Variable(ctx, a.Scope, at, a.Key)
	if err != nil || !there {
		return noVariable, err
	}
	gives(by, v.Authors)
	return map[string]any{"value": v.Value}, nil
}

func (s *variableServices) set(ctx context.Context, by plugin.Caller, a variableArgs) (any, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	if len(a.Value) > maxVariable {
		return nil, invalid(fmt.Sprintf("A variable may hold at most %d KB.", maxVariable>>10))
	}
	at, err := s.place(ctx, by, a)
	if err != nil {
		return nil, err
	}
	if _, there, err := s.o.Values.Variable(ctx, a.Scope, at, a.Key); err != nil {
		return nil, err
	} else if !there {
		all, err := s.o.Values.Variables(ctx, a.Scope, at)
		if err != nil {
			return nil, err
		}
		if len(all) >= maxVariables {
			return nil, invalid(fmt.Sprintf("There are %d variables here already, which is the most there may be.",
				maxVariables))
		}
	}
	return done, s.o.Values.PutVariable(ctx, a.Scope, at, a.Key, chat.Variable{Value: a.Value, Authors: authors(by)})
}

func (s *variableServices) delete(ctx context.Context, by plugin.Caller, a variableArgs) (any, error) {
	at, err := s.place(ctx, by, a)
	if err != nil {
		return nil, err
	}
	there, err := s.o.Values.DeleteVariable(ctx, a.Scope, at, a.Key)
	return map[string]any{"deleted": there}, err
}

func (s *variableServices) list(ctx context.Context, by plugin.Caller, a variableArgs) (any, error) {
	at, err := s.place(ctx, by, a)
	if err != nil {
		return nil, err
	}
	all, err := s.o.Values.Variables(ctx, a.Scope, at)
	values := map[string]string{}
	for key, v := range all {
		values[key] = v.Value
		gives(by, v.Authors)
	}
	return map[string]any{"values": values}, err
}
