package window

// providers lists what can be connected, as the page offers it: vendors by how many people use them, then
// servers of this computer, then any other. Addresses are those of the vendors' documentation, read in
// November 2026; shapes of keys are those that they document, the more particular first.
var providers = []ProviderView{
	{
		ID: "openai", Kind: "openai", Title: "OpenAI", NeedsKey: true, KeyPage: "https://platform.openai.com/api-keys",
		KeyShapes: []string{"^sk-(proj|svcacct|admin)-", "^sk-"},
		Models:    []string{},
	},
	{
		ID: "anthropic", Kind: "anthropic", Title: "Anthropic", NeedsKey: true,
		KeyPage: "https://console.anthropic.com/settings/keys", KeyShapes: []string{"^sk-ant-"}, Models: []string{},
	},
	{
		ID: "google", Kind: "google", Title: "Google Gemini", NeedsKey: true, KeyPage: "https://aistudio.google.com/apikey",
		KeyShapes: []string{"^AIza", "^AQ\\."}, Models: []string{},
	},
	vendor("openrouter", "OpenRouter", "https://openrouter.ai/api/v1", "https://openrouter.ai/settings/keys", "^sk-or-"),
	vendor("deepseek", "DeepSeek", "https://api.deepseek.com", "https://platform.deepseek.com/api_keys",
		"^sk-[0-9a-f]{32}$"),
	vendor("groq", "Groq", "https://api.groq.com/openai/v1", "https://console.groq.com/keys", "^gsk_"),
	vendor("mistral", "Mistral", "https://api.mistral.ai/v1", "https://console.mistral.ai/api-keys",
		"^[A-Za-z0-9]{32}$"),
	vendor("xai", "xAI", "https://api.x.ai/v1", "https://console.x.ai", "^xai-"),
	vendor("moonshot", "Moonshot (Kimi)", "https://api.moonshot.ai/v1", "https://platform.moonshot.ai/console/api-keys",
		"^sk-[A-Za-z0-9]{48}$"),
	vendor("moonshot-cn", "Moonshot (Kimi), China", "https://api.moonshot.cn/v1",
		"https://platform.moonshot.cn/console/api-keys", "^sk-[A-Za-z0-9]{48}$"),
	vendor("qwen", "Qwen (Alibaba Cloud)", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
		"https://modelstudio.console.alibabacloud.com", "^sk-[0-9a-f]{32}$"),
	vendor("qwen-cn", "Qwen (DashScope), China", "https://dashscope.aliyuncs.com/compatible-mode/v1",
		"https://bailian.console.aliyun.com", "^sk-[0-9a-f]{32}$"),
	vendor("zhipu", "Z.ai (GLM)", "https://api.z.ai/api/paas/v4", "https://z.ai/manage-apikey/apikey-list",
		"^[0-9a-f]{32}\\.[A-Za-z0-9]{16}$"),
	vendor("zhipu-cn", "Zhipu (GLM), China", "https://open.bigmodel.cn/api/paas/v4",
		"https://open.bigmodel.cn/usercenter/apikeys", "^[0-9a-f]{32}\\.[A-Za-z0-9]{16}$"),
	vendor("siliconflow", "SiliconFlow", "https://api.siliconflow.com/v1", "https://cloud.siliconflow.com/account/ak",
		"^sk-[a-z]{48}$"),
	vendor("siliconflow-cn", "SiliconFlow, China", "https://api.siliconflow.cn/v1",
		"https://cloud.siliconflow.cn/account/ak", "^sk-[a-z]{48}$"),
	vendor("minimax", "MiniMax", "https://api.minimax.io/v1",
		"https://platform.minimax.io/user-center/basic-information/interface-key", "^eyJ"),
	vendor("minimax-cn", "MiniMax, China", "https://api.minimaxi.com/v1",
		"https://platform.minimaxi.com/user-center/basic-information/interface-key", "^eyJ"),
	vendor("together", "Together", "https://api.together.xyz/v1", "https://api.together.ai/settings/api-keys",
		"^tgp_v1_", "^[0-9a-f]{64}$"),
	vendor("fireworks", "Fireworks", "https://api.fireworks.ai/inference/v1",
		"https://app.fireworks.ai/settings/users/api-keys", "^fw_"),
	vendor("cerebras", "Cerebras", "https://api.cerebras.ai/v1", "https://cloud.cerebras.ai", "^csk-"),
	perplexity,
	local("ollama", "ollama", "Ollama", "http://localhost:11434"),
	local("lmstudio", "openai", "LM Studio", "http://localhost:1234/v1"),
	local("llamacpp", "openai", "llama.cpp", "http://localhost:8080/v1"),
	local("vllm", "openai", "vLLM", "http://localhost:8000/v1"),
	local("jan", "openai", "Jan", "http://localhost:1337/v1"),
	local("koboldcpp", "openai", "KoboldCpp", "http://localhost:5001/v1"),
	{
		ID: "other", Kind: "openai", Title: "OpenAI-compatible server", AsksURL: true, KeyShapes: []string{},
		Models: []string{},
	},
}

// vendor is a vendor whose server speaks the OpenAI wire.
func vendor(id, title, url, keyPage string, shapes ...string) ProviderView {
	return ProviderView{
		ID: id, Kind: "openai", Title: title, URL: url, NeedsKey: true, KeyPage: keyPage, KeyShapes: shapes,
		Models: []string{},
	}
}

// local is a server of this computer, at the port where it listens by default.
func local(id, kind, title, url string) ProviderView {
	return ProviderView{
		ID: id, Kind: kind, Title: title, URL: url, AsksURL: true, Local: true, KeyShapes: []string{}, Models: []string{},
	}
}

// perplexity lists no models, so those that it documents are written down.
var perplexity = func() ProviderView {
	p := vendor("perplexity", "Perplexity", "https://api.perplexity.ai", "https://www.perplexity.ai/account/api/keys",
		"^pplx-")
	p.Models = []string{"sonar", "sonar-pro", "sonar-reasoning-pro", "sonar-deep-research"}
	return p
}()
