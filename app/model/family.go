package model

import (
	"strings"

	"conclave/app/base/pattern"
)

// Families of models are known by name wherever they run, and most servers say
// nothing more about them. The lists are public model names as of early 2026;
// a provider that tells us better overrules them.
var (
	sees       = pattern.Lazy(`gpt-4o|gpt-4\.1|gpt-4-turbo|gpt-[5-9]|chatgpt-4o|(^|[/-])o[134]($|-)|claude-(3|opus|sonnet|haiku|[4-9])|gemini|gemma-?3|llava|bakllava|moondream|minicpm-?v|pixtral|mistral-(small-3|small3|medium-3|large-3)|magistral|llama-?(3\.2-(11b|90b)|3\.2-vision|4)|qwen[0-9.]*-?vl|qwen3\.5|qvq|glm-4\.[0-9]v|glm-4v|internvl|phi-?(3\.5-vision|4-multimodal)|step-(1v|1o|3)|kimi-(vl|k2\.5)|grok-(4|2-vision|vision)|nova-(lite|pro|premier)|-vision|-vl($|[-:])`)
	thinks     = pattern.Lazy(`(^|[/-])o[134]($|-)|gpt-[5-9]|gpt-oss|claude-3-7|claude-(opus|sonnet)-[4-9]|claude-haiku-(4-5|[5-9])|claude-(fable|mythos)|gemini-(2\.5|[3-9])|deepseek-(r1|reasoner|v3\.[1-9])|qwq|qvq|qwen3|glm-(4\.[5-9]|[5-9]|z1)|kimi-k2(-thinking|\.5)|magistral|grok-(3-mini|4)|step-3|minimax-m[12]|think|reason`)
	notForChat = pattern.Lazy(`embed|rerank|moderation|whisper|transcri|(^|[/-])(tts|stt|asr)($|[-:])|-tts($|[-:])|speech|voice|kokoro|parakeet|dall-?e|(gpt|chatgpt)-image|stable-?diffusion|sdxl|(^|[/-])flux|imagen|(^|[/-])veo|(^|[/-])sora|(^|[/-])(bge|e5|gte|clip|siglip|all-minilm|nomic-bert)-`)
	cannotCall = pattern.Lazy(`gemma-?[12](:|-|$)|llava|bakllava|moondream|deepseek-r1:|-base($|:)|phi-?[23](:|-|$)|codellama|embed`)
)

// FeaturesOf guesses what a model can do from its id.
func FeaturesOf(id string) Features {
	id = strings.ToLower(id)
	return Features{
		Tools: !cannotCall().MatchString(id), Vision: sees().MatchString(id), Reasoning: thinks().MatchString(id),
	}
}

// Chats reports whether a model, by its id, is for conversations: lists also name
// models that make vectors, pictures, speech or ranks.
func Chats(id string) bool { return !notForChat().MatchString(strings.ToLower(id)) }
