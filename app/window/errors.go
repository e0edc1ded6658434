package window

import (
	"crypto/rand"
	"encoding/hex"
	"log/slog"

	"conclave/app/base/fault"
	"conclave/app/base/language"
)

// failure turns an error into what the page shows. One that is no fault of a
// known kind is logged under a short reference, which is all the page learns of
// it.
func (a *App) failure(err error) Failure { return failure(a.log, err) }

func failure(log *slog.Logger, err error) Failure {
	f := fault.Of(err)
	out := Failure{Kind: f.Kind, Message: language.Say(f.Message), Hint: language.Say(f.Hint), Detail: f.Detail}
	if f.Kind == fault.Internal {
		out.Ref = reference()
		log.Error("an error reached the window", "ref", out.Ref, "err", err)
	}
	return out
}

func optionalFailure(log *slog.Logger, err error) *Failure {
	if err == nil {
		return nil
	}
	f := failure(log, err)
	return &f
}

// reference is a short text to find a line of the log by.
func reference() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand, Go 1.24)
	return hex.EncodeToString(b[:])
}
