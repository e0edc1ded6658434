package service

import (
	"context"
	"encoding/json"
	"slices"

	"conclave/app/chat"
	"conclave/app/fault"
	"conclave/app/plugin"
)

// given returns which messages of its chat a council member was given, where a call of
// such a member is open in the plugin that asks; false says that none is. Whoever works
// for a member reads no more of the chat than the member does, and writes nothing into it:
// whatever it does meanwhile, since what is told to one call of a process can be answered by
// another. Where calls of several members are open, it reads what all of them were given.
func (s *Services) given(by plugin.Caller) (func(chat.Message) bool, bool) {
	var all []func(chat.Message) bool
	for _, call := range by.Open {
		if given, is := s.givenTo(call); is {
			all = append(all, given)
		}
	}
	return func(m chat.Message) bool {
		return !slices.ContainsFunc(all, func(given func(chat.Message) bool) bool { return !given(m) })
	}, len(all) > 0
}

// givenTo returns which messages the member was given that makes a call.
func (s *Services) givenTo(call string) (func(chat.Message) bool, bool) {
	if s.o.Given == nil {
		return nil, false
	}
	return s.o.Given(call)
}

// pathFor is the path of a chat as a plugin may read it.
func (s *Services) pathFor(ctx context.Context, by plugin.Caller, id chat.ConversationID) ([]chat.Message, error) {
	path, err := s.o.Chats.Path(ctx, id)
	if given, is := s.given(by); is {
		path = slices.DeleteFunc(path, func(m chat.Message) bool { return !given(m) })
	}
	return path, err
}

// chatFor is a chat as a plugin may read it: without its title and system text for a
// member, who has what it was given of them.
func (s *Services) chatFor(by plugin.Caller, c chat.Conversation) Chat {
	if _, is := s.given(by); is {
		c.Title, c.System = "", ""
	}
	return ChatOf(c)
}

// ofMember refuses what a council member's call asks of another chat than its own.
func (s *Services) ofMember(by plugin.Caller, id chat.ConversationID) error {
	if _, is := s.given(by); is && id != "" && id != by.Conversation {
		return missing("A member of the council reads the chat that it is asked in, and no other.")
	}
	return nil
}

// notForMembers is a service that calls of council members do not get.
func (s *Services) notForMembers(service plugin.Service) plugin.Service {
	do := service.Do
	service.Do = func(ctx context.Context, by plugin.Caller, args json.RawMessage) (any, error) {
		if _, is := s.given(by); is {
			return nil, fault.New(fault.NotAllowed, "service.member", "A member of the council changes no chats.", "")
		}
		return do(ctx, by, args)
	}
	return service
}
