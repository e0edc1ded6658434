package cost

// The vendors' own pages.
const (
	openai    = "developers.openai.com/api/docs/pricing"
	anthropic = "platform.claude.com/docs/en/about-claude/pricing"
	google    = "ai.google.dev/gemini-api/docs/pricing"
)

// Default returns the prices that Conclave comes with: those of the vendors' standard
// service for requests of ordinary length. Longer ones, faster service, and what writing
// to a cache costs are not in them, so a bill can be higher.
func Default() Table {
	return Table{Date: "2026-10-16", Prices: []Price{
		{"openai/gpt-6.1-sol", 2, 10, 0.10, openai},
		{"openai/gpt-6-astra", 10, 50, 1, openai},
		{"openai/gpt-6-sol", 2, 10, 0.20, openai},
		{"openai/gpt-6-luna", 0.10, 0.50, 0.01, openai},
		{"openai/gpt-5.6-sol", 5, 30, 0.50, openai},
		{"openai/gpt-5.6-terra", 2, 12, 0.20, openai},
		{"openai/gpt-5.6-luna", 0.20, 1.20, 0.02, openai},
		{"openai/gpt-5.5", 5, 30, 0.50, openai},
		{"openai/gpt-5.4", 2.50, 15, 0.25, openai},
		{"openai/gpt-5.4-mini", 0.75, 4.50, 0.075, openai},
		{"openai/gpt-5.4-nano", 0.20, 1.25, 0.02, openai},
		{"openai/gpt-5.2", 1.75, 14, 0.175, openai},
		{"openai/gpt-5.1", 1.25, 10, 0.125, openai},
		{"openai/gpt-5", 1.25, 10, 0.125, openai},
		{"openai/gpt-5-mini", 0.25, 2, 0.025, openai},
		{"openai/gpt-5-nano", 0.05, 0.40, 0.005, openai},
		{"openai/gpt-4.1", 2, 8, 0.50, openai},
		{"openai/gpt-4.1-mini", 0.40, 1.60, 0.10, openai},
		{"openai/gpt-4.1-nano", 0.10, 0.40, 0.025, openai},
		{"openai/gpt-4o", 2.50, 10, 1.25, openai},
		{"openai/gpt-4o-mini", 0.15, 0.60, 0.075, openai},
		{"openai/o3", 2, 8, 0.50, openai},
		{"openai/o4-mini", 1.10, 4.40, 0.275, openai},

		{"anthropic/claude-fable-5-1", 10, 50, 0.25, anthropic},
		{"anthropic/claude-fable-5", 10, 50, 1, anthropic},
		{"anthropic/claude-opus-5-5", 4, 20, 0.20, anthropic},
		{"anthropic/claude-opus-5", 5, 25, 0.50, anthropic},
		{"anthropic/claude-opus-4-8", 5, 25, 0.50, anthropic},
		{"anthropic/claude-opus-4-7", 5, 25, 0.50, anthropic},
		{"anthropic/claude-opus-4-6", 5, 25, 0.50, anthropic},
		{"anthropic/claude-opus-4-5", 5, 25, 0.50, anthropic},
		{"anthropic/claude-opus-4-1", 15, 75, 1.50, anthropic},
		{"anthropic/claude-sonnet-5-5", 2, 10, 0.10, anthropic},
		{"anthropic/claude-sonnet-5", 2, 10, 0.20, anthropic},
		{"anthropic/claude-sonnet-4-6", 3, 15, 0.30, anthropic},
		{"anthropic/claude-sonnet-4-5", 3, 15, 0.30, anthropic},
		{"anthropic/claude-haiku-5-5", 0.10, 0.50, 0.01, anthropic},
		{"anthropic/claude-haiku-4-5", 1, 5, 0.10, anthropic},

		{"google/gemini-3.8-flash", 0.75, 3.75, 0.075, google},
		{"google/gemini-3.7-flash", 0.75, 3.75, 0.075, google},
		{"google/gemini-3.6-flash", 0.75, 3.75, 0.075, google},
		{"google/gemini-3.1-pro*", 2, 12, 0.20, google},
		{"google/gemini-2.5-pro", 1.25, 10, 0.125, google},
		{"google/gemini-2.5-flash", 0.30, 2.50, 0.03, google},
		{"google/gemini-2.5-flash-lite", 0.10, 0.40, 0.01, google},
	}}
}
