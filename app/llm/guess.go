package llm

import "strings"

// Guess is whom a key may belong to.
type Guess struct {
	Kind  string `json:"kind"`  // of the connection; empty = no idea
	Name  string `json:"name"`  // a name for the connection
	Title string `json:"title"` // for a person
	URL   string `json:"url"`   // empty = the vendor's own
	// Certain says that the shape belongs to this provider alone. A key must not
	// be sent to a guess: where it is not certain the person says whose it is.
	Certain bool `json:"certain"`
}

// keyPrefixes are beginnings that vendors document, the longer ones first where
// one is a prefix of another.
var keyPrefixes = []struct {
	prefix string
	Guess
}{
	{"sk-ant-", Guess{"anthropic", "anthropic", "Anthropic", "", true}},
	{"sk-or-", Guess{"openai", "openrouter", "OpenRouter", "https://openrouter.ai/api/v1", true}},
	{"sk-proj-", Guess{"openai", "openai", "OpenAI", "", true}},
	{"sk-svcacct-", Guess{"openai", "openai", "OpenAI", "", true}},
	{"sk-admin-", Guess{"openai", "openai", "OpenAI", "", true}},
	{"AIza", Guess{"google", "google", "Google", "", true}},
	{"gsk_", Guess{"openai", "groq", "Groq", "https://api.groq.com/openai/v1", true}},
	{"xai-", Guess{"openai", "xai", "xAI", "https://api.x.ai/v1", true}},
	{"hf_", Guess{"openai", "huggingface", "Hugging Face", "https://router.huggingface.co/v1", true}},
	{"nvapi-", Guess{"openai", "nvidia", "NVIDIA", "https://integrate.api.nvidia.com/v1", true}},
	{"pplx-", Guess{"openai", "perplexity", "Perplexity", "https://api.perplexity.ai", true}},
	{"csk-", Guess{"openai", "cerebras", "Cerebras", "https://api.cerebras.ai/v1", true}},
	{"fw_", Guess{"openai", "fireworks", "Fireworks", "https://api.fireworks.ai/inference/v1", true}},
	{"tgp_", Guess{"openai", "together", "Together", "https://api.together.xyz/v1", true}},
}

// GuessProvider says whom a key may belong to, from its shape alone. It asks
// nobody.
func GuessProvider(key string) Guess {
	key = strings.TrimSpace(key)
	for _, p := range keyPrefixes {
		if strings.HasPrefix(key, p.prefix) && len(key) >= len(p.prefix)+8 {
			return p.Guess
		}
	}
	if rest, ok := strings.CutPrefix(key, "sk-"); ok {
		switch {
		case len(rest) == 32 && isHex(rest): // Alibaba's look the same
			return Guess{"openai", "deepseek", "DeepSeek", "https://api.deepseek.com/v1", false}
		case len(rest) >= 40:
			return Guess{"openai", "openai", "OpenAI", "", false} // Moonshot and others copied the shape
		}
	}
	if id, secret, ok := strings.Cut(key, "."); ok && len(id) == 32 && isHex(id) && len(secret) == 16 {
		return Guess{"openai", "glm", "GLM", "https://open.bigmodel.cn/api/paas/v4", false} // or https://api.z.ai/api/paas/v4
	}
	return Guess{}
}

func isHex(s string) bool {
	return strings.Trim(s, "0123456789abcdef") == ""
}
