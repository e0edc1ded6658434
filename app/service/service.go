package service

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/chat/conversation"
	"conclave/app/council"
	"conclave/app/plugin"
)

// The permissions that services ask for, in the words of permit.
const (
	generation   = "generation"
	chats        = "chats"
	chatMutation = "chat_mutation"
	web          = "cors_proxy"
	// LocalNetwork lets http.request reach this computer and the network it is
	// in. No manifest asks for it: the person grants it by hand.
	LocalNetwork = "local_network"
)

// Web makes requests for plugins; egress.Proxy is the real one.
type Web interface {
	// Client returns a client that asks for each host whether the plugin may connect to it.
	// call is the call that the plugin says the request is for. The errors of refusals are
	// fetch.Refused and fetch.ErrPrivate.
	Client(plugin, call string) *http.Client
}

// Options configure the services. A field that is nil leaves the services that need it
// unavailable.
type Options struct {
	Chats Chats
	// Conversations changes what chats say; required with Chats.
	Conversations *conversation.Owner

	Models Models
	// Spending bounds what models cost that plugins ask; nil bounds nothing.
	Spending Spending

	Keys    Keys
	Lending Lending // required with Keys
	Values  Values
	Shared  Records  // what plugins share
	Web     Web      // the way to other computers
	Bus     *bus.Bus // for notices of toasts and of changed chats
	Log     *slog.Logger
	// Active is the chat that is open, or nil.
	Active func(ctx context.Context) (*chat.Conversation, error)
	// Given returns, by the id of an open call, what the council member was given that makes
	// it; false says that no member does. nil knows none.
	Given func(call string) (Given, bool)
	// Publish tells plugins that listen of an event of Conclave's life.
	Publish func(event string, payload any)
	// Council returns the council that holds in a chat; an empty id is a chat that is not
	// there yet.
	Council func(ctx context.Context, id chat.ConversationID) (council.Council, error)
	// Now is the clock; nil is the system's.
	Now func() time.Time
}

// Services answers the requests of plugins. Each subject is a type with its own state and lock.
// Use New. It is safe for concurrent use.
type Services struct {
	Secrets *Secrets
	Memory  *Memory
	Toasts  *Toasts

	o         *Options
	members   *members
	chats     *chatServices
	models    *modelServices
	variables *variableServices
	web       *webServices
	council   *councilServices
	writes    *writeLimit
}

// New returns the services.
func New(o Options) *Services {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Bus == nil {
		o.Bus = bus.New()
	}
	if o.Publish == nil {
		o.Publish = func(string, any) {}
	}
	if o.Active == nil {
		o.Active = func(context.Context) (*chat.Conversation, error) { return nil, nil }
	}
	members := &members{&o}
	chats := &chatServices{o: &o, members: members, later: map[string]chat.MessageSeq{}}
	secrets := &Secrets{o: &o, changing: map[string]*sync.Mutex{}}
	return &Services{
		o: &o, members: members, chats: chats, Secrets: secrets,
		Memory: &Memory{o: &o, members: members},
		Toasts: &Toasts{o: &o, recent: map[string][]time.Time{}},
		models: &modelServices{
			o: &o, chats: chats, ledger: newLedger(&o), budgets: map[string]*budget{},
			open: map[requestKey]context.CancelFunc{},
		},
		variables: &variableServices{o: &o, chats: chats, members: members},
		web:       &webServices{o: &o, secrets: secrets, rests: map[string]*rest{}},
		council:   &councilServices{&o},
		writes:    &writeLimit{o: &o, wrote: map[string]*written{}},
	}
}

// All returns the services by name.
func (s *Services) All() map[string]plugin.Service {
	all := map[string]plugin.Service{
		"toast":        define("", s.Toasts.toast),
		"tokens.count": define("", count),
	}
	add := func(there bool, more map[string]plugin.Service) {
		for name, service := range more {
			if there {
				all[name] = service
			}
		}
	}
	add(s.o.Web != nil, map[string]plugin.Service{
		"http.request": define(web, s.web.request),
		"http.read":    define(web, s.web.readRest),
	})
	add(s.o.Models != nil, map[string]plugin.Service{
		"models.generate":    define(generation, s.models.generate),
		"models.connections": define(generation, s.models.connections),
		"models.stop":        define("", s.models.stop),
	})
	add(s.o.Chats != nil, map[string]plugin.Service{
		"chats.active":   define(chats, s.chats.active),
		"chats.get":      define(chats, s.chats.chat),
		"chats.list":     define(chats, s.chats.list),
		"chats.update":   s.members.notForMembers(define(chats, s.chats.update)),
		"chats.messages": define(chatMutation, s.chats.messages),
		"chats.append":   s.members.notForMembers(define(chatMutation, s.chats.append)),
		"chats.edit":     s.members.notForMembers(define(chatMutation, s.chats.edit)),
		"chats.remove":   s.members.notForMembers(define(chatMutation, s.chats.remove)),
	})
	add(s.o.Keys != nil, map[string]plugin.Service{
		"secrets.get":    define("", s.Secrets.get),
		"secrets.put":    define("", s.Secrets.put),
		"secrets.delete": define("", s.Secrets.delete),
		"secrets.has":    define("", s.Secrets.has),
		"secrets.list":   define("", s.Secrets.list),
	})
	add(s.o.Values != nil, map[string]plugin.Service{
		"variables.get":    remembering(s.members, "", noVariable, variableArgs.ofChat, s.variables.get),
		"variables.set":    remembering(s.members, "", nil, variableArgs.ofChat, s.variables.set),
		"variables.delete": remembering(s.members, "", nil, variableArgs.ofChat, s.variables.delete),
		"variables.list":   remembering(s.members, "", noVariables, variableArgs.ofChat, s.variables.list),
	})
	add(s.o.Shared != nil, s.Memory.records())
	add(s.o.Council != nil, s.council.all())
	for _, name := range writing {
		if service, there := all[name]; there {
			all[name] = s.writes.bounded(service)
		}
	}
	for _, name := range append([]string{"secrets.put"}, writing...) {
		if service, there := all[name]; there {
			service.Keeps = true
			all[name] = service
		}
	}
	return all
}

// define returns a service that reads its arguments into an A.
func define[A any](permission string,
	do func(ctx context.Context, by plugin.Caller, args A) (any, error),
) plugin.Service {
	return plugin.Service{Permission: permission, Do: func(ctx context.Context, by plugin.Caller,
		raw json.RawMessage,
	) (any, error) {
		var args A
		if len(raw) > 0 {
			if err := json.Unmarshal(raw, &args); err != nil {
				return nil, invalid("The arguments cannot be read: " + err.Error() + ".")
			}
		}
		return do(ctx, by, args)
	}}
}

// done is the answer of what has nothing to say.
var done = struct{}{}

func invalid(message string) error { return fault.New(fault.Invalid, "service", message, "") }

func missing(message string) error { return fault.New(fault.NotFound, "service", message, "") }

func refused(message string) error { return fault.New(fault.NotAllowed, "service", message, "") }
