package host

// The rules of events and of hooks, for the tests that go through all of them.
var (
	EventRules = func() map[string][2]string {
		out := map[string][2]string{}
		for name, rule := range eventRules {
			out[name] = [2]string{rule.hear, rule.content}
		}
		return out
	}()
	HookPermissions = func() map[string][]string {
		out := map[string][]string{}
		for kind, rule := range hookKinds {
			out[kind] = rule.permissions
		}
		return out
	}()
)

// Opened has a file opened for a plugin's code.
func Opened(h *Host, id string) { h.entry(id).memory.mayRepeat(savedState{Outside: true}) }

// LastError returns the words of a card for how a program ended.
var LastError = lastError
