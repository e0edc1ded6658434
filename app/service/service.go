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
	"conclave/app/model/cost"
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

// Services answers the requests of plugins. Use New. It is safe for concurrent use.
type Services struct {
	o    Options
	held held // of what http.request answers

	keeping sync.Mutex          // orders changes of what plugins share
	paying  sync.Mutex          // orders changes of days
	days    map[string]cost.Day // what each plugin spent, as far as that was asked for
	// what the requests under way can come to, by plugin; paid is closed when one of them ends
	reserved map[string]cost.Cap
	paid     chan struct{}

	mu     sync.Mutex                        // guards the fields below
	spent  map[string]*budget                // of model calls, by plugin
	open   map[requestKey]context.CancelFunc // model calls under way
	rests  map[string]*rest                  // bodies that are still to be read
	later  map[string]chat.MessageSeq        // messages that were kept back, by the id given for them
	toasts []Toast                           // the newest, oldest first
	toastN uint64                            // the number of the newest
	pace   map[string][]time.Time            // of toasts, by plugin
	wrote  map[string]*written               // by plugin
	secret map[string]*sync.Mutex            // orders changes of a plugin's list of secrets
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
	return &Services{
		o: o, spent: map[string]*budget{}, open: map[requestKey]context.CancelFunc{}, rests: map[string]*rest{},
		later: map[string]chat.MessageSeq{}, pace: map[string][]time.Time{}, secret: map[string]*sync.Mutex{},
		wrote: map[string]*written{}, days: map[string]cost.Day{}, reserved: map[string]cost.Cap{},
		paid: make(chan struct{}),
	}
}

// All returns the services by name.
func (s *Services) All() map[string]plugin.Service {
	all := map[string]plugin.Service{
		"toast":        define("", s.toast),
		"tokens.count": define("", s.count),
	}
	add := func(there bool, more map[string]plugin.Service) {
		for name, service := range more {
			if there {
				all[name] = service
			}
		}
	}
	add(s.o.Web != nil, map[string]plugin.Service{
		"http.request": define(web, s.request),
		"http.read":    define(web, s.readRest),
	})
	add(s.o.Models != nil, map[string]plugin.Service{
		"models.generate":    define(generation, s.generate),
		"models.connections": define(generation, s.connections),
		"models.stop":        define("", s.stop),
	})
	add(s.o.Chats != nil, map[string]plugin.Service{
		"chats.active":   define(chats, s.active),
		"chats.get":      define(chats, s.chat),
		"chats.list":     define(chats, s.list),
		"chats.update":   s.notForMembers(define(chats, s.update)),
		"chats.messages": define(chatMutation, s.messages),
		"chats.append":   s.notForMembers(define(chatMutation, s.append)),
		"chats.edit":     s.notForMembers(define(chatMutation, s.edit)),
		"chats.remove":   s.notForMembers(define(chatMutation, s.remove)),
	})
	add(s.o.Keys != nil, map[string]plugin.Service{
		"secrets.get":    define("", s.getSecret),
		"secrets.put":    define("", s.putSecret),
		"secrets.delete": define("", s.deleteSecret),
		"secrets.has":    define("", s.hasSecret),
		"secrets.list":   define("", s.listSecrets),
	})
	add(s.o.Values != nil, map[string]plugin.Service{
		"variables.get":    remembering(s, "", noVariable, variableArgs.ofChat, s.getVariable),
		"variables.set":    remembering(s, "", nil, variableArgs.ofChat, s.setVariable),
		"variables.delete": remembering(s, "", nil, variableArgs.ofChat, s.deleteVariable),
		"variables.list":   remembering(s, "", noVariables, variableArgs.ofChat, s.listVariables),
	})
	add(s.o.Shared != nil, s.records())
	add(s.o.Council != nil, s.councils())
	for _, name := range writing {
		if service, there := all[name]; there {
			all[name] = s.bounded(service)
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
