package service

import (
	"context"
	"encoding/json"
	"maps"

	"conclave/app/base/fault"
	"conclave/app/council"
	"conclave/app/plugin"
)

// councilServices describe councils.
type councilServices struct{ o *Options }

// all returns the services that tell of the council of the chat a call is made in, or
// of the open one. What members are and may do is free to read (contracts/spindle, section
// 14); which models they use is not.
func (s *councilServices) all() map[string]plugin.Service {
	return map[string]plugin.Service{
		"council.settings": define("", func(ctx context.Context, by plugin.Caller, _ struct{}) (any, error) {
			c, err := s.councilOf(ctx, by)
			if err != nil {
				return nil, err
			}
			settings, err := councilFields(c)
			return map[string]any{"settings": settings}, err
		}),
		"council.members": define("", func(ctx context.Context, by plugin.Caller, _ struct{}) (any, error) {
			c, err := s.councilOf(ctx, by)
			members := []json.RawMessage{}
			for _, m := range c.Members {
				if !m.Off {
					members = append(members, council.MemberContext(m))
				}
			}
			return map[string]any{"members": members}, err
		}),
		"council.personas": define("", func(ctx context.Context, by plugin.Caller, _ struct{}) (any, error) {
			c, err := s.councilOf(ctx, by)
			items := []map[string]string{}
			for _, m := range c.Members {
				if m.ItemID != "" {
					items = append(items, map[string]string{
						"packId": m.PackID, "packName": m.Pack, "itemId": m.ItemID, "itemName": m.Item,
					})
				}
			}
			return map[string]any{"items": items}, err
		}),
	}
}

func (s *councilServices) councilOf(ctx context.Context, by plugin.Caller) (council.Council, error) {
	id := by.Conversation
	if id == "" {
		switch open, err := s.o.Active(ctx); {
		case err != nil && fault.KindOf(err) != fault.NotFound:
			return council.Council{}, err
		case open != nil:
			id = open.ID
		}
	}
	return s.o.Council(ctx, id)
}

// councilFields writes a council in the keys of contracts/spindle, section 9, with those
// that nobody knows as they came.
func councilFields(c council.Council) (map[string]any, error) {
	fields := map[string]any{}
	for key, value := range c.Extra {
		fields[key] = value
	}
	members := make([]map[string]json.RawMessage, len(c.Members))
	for i, m := range c.Members {
		raw, err := json.Marshal(m)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(raw, &members[i]); err != nil {
			return nil, err
		}
		maps.DeleteFunc(members[i], func(key string, _ json.RawMessage) bool {
			_, unknown := m.Extra[key]
			return !unknown && !memberKeys[key]
		})
	}
	fields["councilMode"], fields["members"], fields["toolsSettings"] = c.Enabled, members, c.Tool
	return fields, nil
}

// memberKeys are the keys of a member that plugins get.
var memberKeys = map[string]bool{
	"id": true, "name": true, "packId": true, "packName": true, "itemId": true, "itemName": true, "tools": true,
	"role": true, "chance": true, "toolHistoryRetention": true,
}
