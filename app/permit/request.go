package permit

import "slices"

// Lasting returns the narrowest answer after which such a call is not asked about again, in
// words that follow “Allow”, and whether there is one.
func (p Request) Lasting() (a Answer, words string, ok bool) {
	a = Answer{Effect: Allow, Scope: Once}
	if p.Kind != KindCall {
		return a, "", false
	}
	if len(p.Here) > 0 {
		a.Scope, a.Match = ThisChat, p.Here[:1]
		return a, p.HereWords(), true
	}
	if trusted, can := p.Vouchable(); can {
		a.Vouch = p.Origins
		return a, "once, and trust " + trusted + " in this chat", true
	}
	if !slices.Contains(p.Scopes, Always) {
		return a, "", false
	}
	a.Scope, words = Always, "always"
	if offers := p.Offers(); len(offers) > 0 && offers[0][0].reaches() {
		a.Match = offers[0]
		words += ", " + p.OfferWords(a.Match)
	}
	return a, words, true
}

// ForCouncil reports whether an answer for longer than once may be one for all members of the
// council: a person who is asked by one of them may say so, and nothing says it for them.
func (p Request) ForCouncil() bool {
	return p.Kind == KindCall && p.Caller.IsMember() && !p.Fixed && (len(p.Scopes) > 1 || len(p.Here) > 0)
}

// HereWords returns what Here offers, in words that follow “Allow”; "" where it offers
// nothing.
func (p Request) HereWords() string {
	if len(p.Here) == 0 {
		return ""
	}
	return "in this chat, " + p.Here[0].Sentence() + ", even though it contains " + OriginWords(p.Origins)
}

// OnlyReads reports whether the call can do nothing but compute and read on this computer.
func (p Request) OnlyReads() bool {
	return len(p.Capabilities) > 0 && !slices.ContainsFunc(p.Capabilities, func(c Capability) bool {
		return c != Compute && c != ReadFiles && c != ReadChat
	})
}
