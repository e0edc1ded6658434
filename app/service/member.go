package service

import (
	"context"
	"encoding/json"
	"slices"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/plugin"
)

// Given is the part of a chat that a council member was given.
type Given struct {
	Message func(chat.Message) bool // whether it was given a message of its chat
	Memory  bool                    // it was given personas, characters and world information
}

// members knows what council members were given.
type members struct{ o *Options }

// given returns what a council member was given, where a call of such a member is open in the
// plugin that asks; false says that none is. A plugin that works for a member reads only what the member got of the
// chat and of its background, and writes nothing into it,
// whatever it does meanwhile, since one call of a process can use what another one
// read. Where calls of several members are open, it reads what all of them were given.
func (s *members) given(by plugin.Caller) (Given, bool) {
	var all []Given
	for _, call := range by.Open {
		if given, is := s.givenTo(call); is {
			all = append(all, given)
		}
	}
	return Given{
		Message: func(m chat.Message) bool {
			return !slices.ContainsFunc(all, func(g Given) bool { return !g.Message(m) })
		},
		Memory: !slices.ContainsFunc(all, func(g Given) bool { return !g.Memory }),
	}, len(all) > 0
}

// givenTo returns what the member was given that makes a call.
func (s *members) givenTo(call string) (Given, bool) {
	if s.o.Given == nil {
		return Given{}, false
	}
	return s.o.Given(call)
}

// remembers reports whether a plugin may read memory: not while it works
// for a member that is given no memory.
func (s *members) remembers(by plugin.Caller) bool {
	given, is := s.given(by)
	return !is || given.Memory
}

// remembering is a service of memory, or of the arguments that about
// names. Without memory it answers nothing, as where nothing is kept; a service that changes
// something has no such answer, and refuses.
func remembering[A any](s *members, permission string, nothing any, about func(A) bool,
	do func(ctx context.Context, by plugin.Caller, args A) (any, error),
) plugin.Service {
	return define(permission, func(ctx context.Context, by plugin.Caller, args A) (any, error) {
		switch {
		case s.remembers(by) || !about(args):
			return do(ctx, by, args)
		case nothing == nil:
			return nil, fault.New(fault.NotAllowed, "service.member",
				"A member of the council that is given no memory changes none of it.", "")
		}
		return nothing, nil
	})
}

// pathFor is the path of a chat as a plugin may read it.
func (s *chatServices) pathFor(ctx context.Context, by plugin.Caller, id chat.ConversationID) ([]chat.Message, error) {
	path, err := s.o.Chats.Path(ctx, id)
	if given, is := s.members.given(by); is {
		path = slices.DeleteFunc(path, func(m chat.Message) bool { return !given.Message(m) })
	}
	return path, err
}

// chatFor is a chat as a plugin may read it: without its title and system text for a
// member, who has what it was given of them.
func (s *chatServices) chatFor(by plugin.Caller, c chat.Conversation) Chat {
	if _, is := s.members.given(by); is {
		c.Title, c.System = "", ""
	}
	return ChatOf(c)
}

// ofMember refuses what a council member's call asks of another chat than its own.
func (s *members) ofMember(by plugin.Caller, id chat.ConversationID) error {
	if _, is := s.given(by); is && id != "" && id != by.Conversation {
		return missing("A member of the council reads the chat that it is asked in, and no other.")
	}
	return nil
}

// notForMembers is a service that calls of council members do not get.
func (s *members) notForMembers(service plugin.Service) plugin.Service {
	do := service.Do
	service.Do = func(ctx context.Context, by plugin.Caller, args json.RawMessage) (any, error) {
		if _, is := s.given(by); is {
			return nil, fault.New(fault.NotAllowed, "service.member", "A member of the council changes no chats.", "")
		}
		return do(ctx, by, args)
	}
	return service
}
