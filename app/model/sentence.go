package model

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"time"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
)

// Sentence returns what happened, and to what, in one sentence for a person.
// It holds no secret and nothing the provider wrote; that is in Details.
func (e *Error) Sentence() string {
	if inner, ok := e.inner(); ok {
		return inner.Message
	}
	who := e.Provider
	if who == "" {
		who = "the provider"
	}
	model := e.Model
	if model == "" {
		model = "the model"
	}
	switch e.Kind {
	case KeyRefused:
		return fmt.Sprintf("%s did not accept the key%s.", upper(who), e.status())
	case KeyMissing:
		return fmt.Sprintf("There is no key for %s.", who)
	case RateLimited:
		if e.RetryAfter > 0 {
			return fmt.Sprintf("%s accepts no further requests for %s.", upper(who), duration(e.RetryAfter))
		}
		return fmt.Sprintf("%s accepts no further requests for the moment%s.", upper(who), e.status())
	case QuotaUsedUp:
		return fmt.Sprintf("The quota at %s is used up%s.", who, e.status())
	case Overloaded:
		if e.Status == 503 || e.Status == 529 || e.Status == 0 {
			return fmt.Sprintf("%s is overloaded%s.", upper(who), e.status())
		}
		return fmt.Sprintf("%s failed to answer%s.", upper(who), e.status())
	case ContextTooLong:
		return fmt.Sprintf("This chat is too long for %s.", model)
	case ModelUnknown:
		return fmt.Sprintf("%s has no model “%s”.", upper(who), e.Model)
	case NoTools:
		return fmt.Sprintf("%s cannot use tools.", upper(model))
	case BadRequest:
		return fmt.Sprintf("%s did not accept the request%s.", upper(who), e.status())
	case Unreachable:
		return fmt.Sprintf("%s could not be reached%s.", upper(who), e.at())
	case TimedOut:
		return fmt.Sprintf("%s stopped answering%s.", upper(who), e.at())
	case StreamCut:
		if e.Unanswered {
			return fmt.Sprintf("%s closed the connection without an answer.", upper(who))
		}
		return fmt.Sprintf("The answer from %s was cut off.", who)
	case Malformed:
		return fmt.Sprintf("%s sent something that is not an answer of its kind%s%s.", upper(who), e.at(), e.found())
	case Filtered:
		return fmt.Sprintf("%s declined to answer.", upper(who))
	case TooMuch:
		return fmt.Sprintf("%s wrote more than %s as the arguments of its tool calls, and was stopped.", upper(model),
			limit.Size(limit.CallArguments))
	case StrangersServer:
		if e.User == "" {
			return fmt.Sprintf("This computer does not say whose program answers%s, so nothing was sent.", e.at())
		}
		return fmt.Sprintf("A program of the user %s answers%s, so nothing was sent.", e.User, e.at())
	case TooManyTools:
		return fmt.Sprintf("%s takes no request with so many tools%s.", upper(who), e.status())
	case Failed:
		if e.Found != "" {
			return fmt.Sprintf("The answer from %s may not be whole%s.", who, e.found())
		}
		return fmt.Sprintf("%s reported an error%s.", upper(who), e.status())
	case WrongAddress:
		if e.at() == "" && e.Host != "" { // the connection is called as the server is
			return fmt.Sprintf("There is no model server at %s%s%s.", e.Host, e.status(), e.found())
		}
		return fmt.Sprintf("There is no model server for %s%s%s%s.", who, e.at(), e.status(), e.found())
	}
	return fmt.Sprintf("%s failed.", upper(who))
}

// Hint returns what to do next, in one sentence.
func (e *Error) Hint() string {
	if e.Advice != "" {
		return e.Advice
	}
	if inner, ok := e.inner(); ok {
		return inner.Hint
	}
	switch e.Kind {
	case KeyRefused:
		return "Paste it again, or a new one, in Settings > Models."
	case KeyMissing:
		return "Add it in Settings > Models."
	case RateLimited:
		if e.RetryAfter > 30*time.Second {
			return "Try again after that, or use another model."
		}
		return "Try again in a moment, or use another model."
	case Overloaded, TimedOut:
		return "Try again in a moment, or use another model."
	case QuotaUsedUp:
		return "Add credit with the provider, or use another model."
	case ContextTooLong:
		return "Hide older messages, start a new chat, or use a model with a larger context."
	case ModelUnknown:
		return "Choose another model; Settings > Models lists what there is now."
	case NoTools:
		return "Send without tools, or choose a model that can use them."
	case BadRequest:
		if e.Detail != "" {
			return "The details say why; another model may accept it."
		}
		return "It did not say why; another model may accept it."
	case TooMuch:
		return "Ask for less at once, or use another model."
	case Unreachable:
		switch {
		case isCertificate(e.Err):
			return "Its certificate is not trusted by this computer. Check the address in Settings > Models."
		case IsLoopback(e.Host):
			return "Start the model server, or check its address in Settings > Models."
		}
		return "Check the network, and the address in Settings > Models."
	case StreamCut:
		if e.Unanswered {
			return "Try again in a moment, or use another model."
		}
		return "What came so far is kept. Try again to get the rest."
	case TooManyTools:
		return "Switch some of them off in the plugins, or name those it needs with -T."
	case Failed:
		switch {
		case e.Found != "" && e.Unanswered:
			return "Try again, or use another model."
		case e.Found != "":
			return "What came so far is kept. Try again, or use another model."
		}
		return "The details hold its words. Try again, or use another model."
	case Malformed:
		if e.Found != "" && e.Err != nil { // it is one, and something is wrong with it
			return "Try again; if it stays so, look into the log of the server, or use another model."
		}
		return "Try again; if it stays so, check the address in Settings > Models."
	case Filtered:
		return "Say it in other words, or use another model."
	case StrangersServer:
		who, named := e.User, e.User
		if who == "" {
			who, named = "that program", unknownUser
		}
		name := e.Connection
		if name == "" {
			return "If " + who + " may read what you ask: conclave models add KIND NAME --url http://" + e.Host +
				" --served-by " + named + "."
		}
		return "If " + who + " may read what you ask: conclave models served-by " + name + " " + named + "."
	case WrongAddress:
		return "Check the address in Settings > Models; many end in /v1."
	}
	return "Try again, or use another model."
}

// Details returns what a person is shown below sentence and hint: the provider's
// own words, cleaned. It is empty where there is nothing to add.
func (e *Error) Details() string {
	switch {
	case e.Kind == Unreachable, e.Kind == TimedOut, e.Kind == StreamCut,
		e.Kind == Malformed && e.Err != nil && e.Found == "":
		return "" // the operating system's words, or a parser's, for what the sentence says
	}
	return e.Detail
}

// inner is the fault of a key store that would not give the key: it knows better
// than we do what to say.
func (e *Error) inner() (*fault.Error, bool) {
	if e.Kind != KeyMissing {
		return nil, false
	}
	return errors.AsType[*fault.Error](e.Err)
}

func (e *Error) status() string {
	if e.Status == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d)", e.Status)
}

func (e *Error) found() string {
	if e.Found == "" {
		return ""
	}
	return ": " + e.Found
}

func (e *Error) at() string {
	if e.Host == "" || strings.Contains(e.Provider, e.Host) { // a connection is often called as its server is
		return ""
	}
	return " at " + e.Host
}

// upper returns s fit for the start of a sentence. Names of connections and
// models are written as the person wrote them.
func upper(s string) string {
	switch s {
	case "the provider":
		return "The provider"
	case "the model":
		return "The model"
	}
	return s
}

// duration rounds up, so that nobody waits too little.
func duration(d time.Duration) string {
	switch {
	case d <= time.Second:
		return "1 s"
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int64((d+time.Second-1)/time.Second))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int64((d+time.Minute-1)/time.Minute))
	}
	return fmt.Sprintf("%d h", int64((d+time.Hour-1)/time.Hour))
}

func isCertificate(err error) bool {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return true
	}
	_, ok := errors.AsType[x509.HostnameError](err)
	return ok
}
