package council

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"conclave/app/base/limit"
	"conclave/app/base/shorten"
	"conclave/app/chat"
	"conclave/app/model"
)

// Background is one piece of what is known in addition to a chat.
type Background struct {
	Kind, Title, Text string
	Origins           []chat.Origin // of Text, where a plugin wrote it
}

// The kinds of Background.
const (
	PersonaInfo   = "persona"   // of the person
	CharacterInfo = "character" // of the character that the main model plays
	WorldInfo     = "world"
)

// GiveInput is the input of Give.
type GiveInput struct {
	Council    Council
	Member     Member
	Task       Task
	Chat       chat.Conversation
	Path       []chat.Message // up to the question
	Background []Background
	Summary    string   // the text of the task of kind Summarize
	Others     []Said   // see Run.Others
	Choices    []string // of a ballot: see Run.Choices
	Tools      []string // titles of the tools it can call
	Seed       uint64
}

// Said holds one member's words for another.
type Said struct {
	Member string
	Letter string
	Name   string // empty: unsigned
	Text   string
	Cut    string // the part of a long answer that is left out
}

// Given is all that a member sees for a task.
type Given struct {
	System string
	// Path begins with messages of RoleSystem, the background, where Task is UseTool.
	Path   []chat.Message
	Blocks []BlockText
	Seqs   []chat.MessageSeq // the messages of the chat that are in it
	// Memory allows personas, characters and world information, whether there are any or not.
	Memory bool
	// Origins are those of the background.
	Origins []chat.Origin
}

// BlockText is a Block with its text.
type BlockText struct {
	Block
	Words string
}

// NewBlock returns a piece of a request.
func NewBlock(from Source, title, words string) BlockText {
	return BlockText{
		Block: Block{Source: from, Title: title, Text: HashOf([]byte(words)), Tokens: model.Tokens(words)}, Words: words,
	}
}

// Blocks returns the pieces of a request, or none where they were not stored. A block whose text was
// not stored has no words.
func (r Request) Blocks(text ReadText) (all []BlockText) {
	for _, b := range blocksIn(text.Words(r.Given)) {
		all = append(all, BlockText{b, text.Words(b.Text)})
	}
	return all
}

// Give decides what a member sees for a task. Nothing else decides that.
func Give(in GiveInput) Given {
	g := giver{in: in, policy: in.Member.Context.In(in.Council), who: in.Member.Name}
	g.out.Memory = g.policy.Memory
	switch in.Task.Kind {
	case Summarize:
		g.summarize()
	case UseTool:
		g.forTool()
	default:
		g.forMember()
	}
	return g.out
}

// giver builds a Given.
type giver struct {
	in     GiveInput
	policy ContextPolicy
	who    string
	out    Given
}

// forMember gives a member its role, its part of the chat, and its task.
func (g *giver) forMember() {
	var system []string
	add := func(text string) {
		if text = strings.TrimSpace(text); text != "" {
			system = append(system, text)
		}
	}
	add(g.system())
	role := roleText(g.in.Member) + "\n" + rulesText(g.in.Tools)
	if kind := g.in.Task.Kind; kind == Opine || kind == Draft {
		role += "\n" + pointsText
	}
	add(g.block(FromRole, "Role", role))
	var unknown int64 // tokens
	for _, b := range g.in.Background {
		if !g.policy.Memory {
			unknown += model.Tokens(b.Text)
			continue
		}
		add("## " + b.Title + "\n" + g.block(FromMemory, b.Title, b.Text))
		g.out.Origins = chat.AddOrigins(g.out.Origins, b.Origins...)
	}
	if unknown > 0 {
		g.left(FromMemory, "Memory", unknown, g.who+" is not given personas, characters and world information.")
	}
	add(g.summary())
	g.out.System = strings.Join(system, "\n\n")
	g.messages(g.chosen())
	for _, text := range append(g.others(), g.task()...) {
		g.append(text)
	}
	for _, text := range g.in.Task.Nudges {
		g.append("The person adds: " + g.block(FromNudge, "Your nudge", text))
	}
}

// forTool gives a tool, as text, the part of the chat that its member sees.
func (g *giver) forTool() {
	set := g.in.Council.Tool
	explicit := g.in.Member.Context.Span != AsMode
	add := func(title, text string) {
		g.out.Path = append(g.out.Path, Message(chat.RoleSystem, title+"\n"+text))
	}
	title := "System Text"
	if !explicit {
		title = "Character Information" // the system text describes the main model's character
	}
	if !explicit && !set.Character {
		if text := g.in.Chat.System; text != "" {
			g.left(FromSystem, "System prompt", model.Tokens(text), "The tools of the council are not given it.")
		}
	} else if text := g.system(); text != "" {
		add(title, text)
	}
	for _, kind := range []struct {
		kind, title string
		on          bool
	}{
		{CharacterInfo, "Character Information", set.Character},
		{PersonaInfo, "User Persona", set.UserPersona},
		{WorldInfo, "Activated World Info", set.WorldInfo},
	} {
		for _, b := range g.in.Background {
			switch {
			case b.Kind != kind.kind:
			case !g.policy.Memory:
				g.left(FromMemory, b.Title, model.Tokens(b.Text), g.who+" is not given it.")
			case !kind.on:
				g.left(FromMemory, b.Title, model.Tokens(b.Text), "The tools of the council are not given it.")
			default:
				add(kind.title, g.block(FromMemory, b.Title, b.Text))
				g.out.Origins = chat.AddOrigins(g.out.Origins, b.Origins...)
			}
		}
	}
	if text := g.summary(); text != "" {
		add("Summary", text)
	}
	path := g.chosen()
	if n := len(path) - 1; set.ExcludeLatest && n >= 0 && path[n].Role == chat.RoleUser {
		g.left(FromTurn, "Your question", model.Tokens(chat.TextOf(path[n].Parts)), "Tools are not given the latest message.")
		path = path[:n]
	}
	g.messages(path)
}

// summarize gives the helper the part of the chat that it sums up.
func (g *giver) summarize() {
	g.policy = ContextPolicy{Span: Whole}
	g.out.System = g.block(FromRole, "Role", "You sum up chats.\n"+material)
	var b strings.Builder
	for _, m := range g.in.earlier() {
		if text := wordsOf(m); text != "" {
			g.out.Seqs = append(g.out.Seqs, m.Seq)
			fmt.Fprintf(&b, "%s: %s\n\n", speaker(m.Role), g.block(FromTurn, speaker(m.Role), text))
		}
	}
	g.append(Fence(g.in.Seed, g.in.Task.Member, "", "the chat", b.String()))
	g.append(summaryTask)
}

// NeedsSummary reports whether a chat has more than its last turn.
func NeedsSummary(path []chat.Message) bool { return len(GiveInput{Path: path}.earlier()) > 0 }

// earlier returns the messages before the last turn.
func (in GiveInput) earlier() []chat.Message {
	all := in.readable()
	return all[:len(all)-len(lastTurns(all, 1))]
}

// system returns the chat's system text, where the member sees it.
func (g *giver) system() string {
	text := g.in.Chat.System
	if text != "" && !g.policy.System {
		g.left(FromSystem, "System prompt", model.Tokens(text), g.who+" is not given the chat's system prompt.")
		return ""
	}
	return g.block(FromSystem, "System prompt", text)
}

// summary returns the text that replaces earlier messages.
func (g *giver) summary() string {
	earlier := g.in.earlier()
	if g.policy.Span != Summary || len(earlier) == 0 {
		return ""
	}
	if text := strings.TrimSpace(g.in.Summary); text != "" {
		return "A summary of the chat up to the last turn:\n" + g.block(FromTurn, "Summary", text)
	}
	var b strings.Builder
	for _, m := range earlier {
		if text := wordsOf(m); text != "" {
			fmt.Fprintf(&b, "%s: %s\n", speaker(m.Role), firstSentence(text))
		}
	}
	text := "The first sentences of the messages up to the last turn:\n" + g.block(FromTurn, "Extract", b.String())
	g.out.Blocks[len(g.out.Blocks)-1].Why = "There is no summary: these are the first sentences of the messages."
	return text
}

// readable returns the messages of the chat that models see.
func (in GiveInput) readable() (all []chat.Message) {
	for _, m := range in.Path {
		if !m.Hidden && (m.Role == chat.RoleUser || m.Role == chat.RoleAssistant) {
			all = append(all, m)
		}
	}
	return all
}

// chosen returns the messages that the policy allows, and records those that it leaves out.
func (g *giver) chosen() []chat.Message {
	all, last := g.in.readable(), g.policy.Last
	path, what := all, ""
	switch g.policy.Span {
	case Question:
		path, what = lastTurns(all, 0), "the last question alone"
	case Turns:
		path, what = lastTurns(all, last), "the last "+limit.Counted(last, "turn")
	case Messages:
		path, what = all[max(0, len(all)-last):], "the last "+limit.Counted(last, "message")
	case Summary:
		path, what = lastTurns(all, 1), "a summary and the last turn"
	}
	if left := all[:len(all)-len(path)]; len(left) > 0 {
		var tokens int64
		for _, m := range left {
			tokens += model.Tokens(chat.TextOf(m.Parts))
		}
		g.left(FromTurn, limit.Counted(len(left), "earlier message"), tokens, g.who+" is given "+what+".")
	}
	return path
}

// lastTurns returns the last question with so many turns before it.
func lastTurns(all []chat.Message, turns int) []chat.Message {
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Role == chat.RoleUser {
			if turns == 0 {
				return all[i:]
			}
			turns--
		}
	}
	return all
}

// messages adds messages of the chat, with the results of their calls as text.
func (g *giver) messages(path []chat.Message) {
	question := len(path) - 1
	for i, m := range path {
		title := speaker(m.Role)
		if i == question && m.Role == chat.RoleUser {
			title = "Your question"
		}
		var parts []chat.Part
		if text := wordsOf(m); text != "" {
			parts = append(parts, chat.TextPart(g.block(FromTurn, title, text)))
		}
		for _, r := range g.results(m) {
			parts = append(parts, chat.TextPart(g.block(FromCall, "Result of a tool", r)))
		}
		parts = append(parts, g.files(m)...)
		if len(parts) == 0 {
			continue
		}
		g.out.Seqs = append(g.out.Seqs, m.Seq)
		g.out.Path = append(g.out.Path, chat.Message{Role: m.Role, State: chat.Complete, Parts: parts})
	}
}

// maxResult bounds, in bytes, how much of a tool result in the chat a member sees.
const maxResult = 4000

func wordsOf(m chat.Message) string { return strings.TrimSpace(chat.TextOf(m.Parts)) }

// results returns the results of the tools that a message called. They are text, because a member has
// other tools than the chat.
func (g *giver) results(m chat.Message) (texts []string) {
	for _, p := range m.Parts {
		if m.Role != chat.RoleAssistant || p.Call == nil {
			continue
		}
		for _, other := range g.in.Path {
			if other.Role != chat.RoleTool || other.Hidden || other.Turn != m.Turn {
				continue
			}
			for _, q := range other.Parts {
				if q.Result != nil && q.Result.CallID == p.Call.ID {
					texts = append(texts, fmt.Sprintf("[%s returned] %s", q.Result.Tool, cut(q.Result.Text(), maxResult)))
				}
			}
		}
	}
	return texts
}

// files returns the attachments of a message that the member sees.
func (g *giver) files(m chat.Message) []chat.Part {
	var parts []chat.Part
	for _, p := range m.Parts {
		if p.Kind != chat.PartMedia || p.Media == nil {
			continue
		}
		name, tokens, why := cmp.Or(p.Media.Name, "A file"), FileTokens(p.Media), ""
		switch {
		case g.in.Task.Kind == UseTool:
			why = "Tools are given text alone."
		case !g.policy.Files:
			why = g.who + " is not given attached files."
		case slices.Contains(g.policy.Without, p.Media.ID):
			why = g.who + " is not given this file."
		}
		if why != "" {
			g.left(FromFile, name, tokens, why)
			continue
		}
		parts = append(parts, p)
		g.out.Blocks = append(g.out.Blocks, BlockText{Block: Block{Source: FromFile, Title: name, Tokens: tokens}})
	}
	return parts
}

// FileTokens estimates the tokens of an attachment: a thousand for a picture.
func FileTokens(m *chat.Media) int64 {
	if strings.HasPrefix(m.MIME, "image/") {
		return 1000
	}
	return m.Size / 4
}

// others returns other members' words, each in its own fence.
func (g *giver) others() []string {
	var texts []string
	for _, o := range g.in.Others {
		who := "another member, whose answer is called " + o.Letter
		title := "Answer " + o.Letter
		if o.Name != "" {
			who, title = o.Name+", a member of the council, who is called "+o.Letter, o.Name
		}
		if !g.policy.Others {
			g.left(FromMember, title, model.Tokens(o.Text), g.who+" is not given what others say.")
			continue
		}
		texts = append(texts, Fence(g.in.Seed, g.in.Task.Member, o.Member, who, g.block(FromMember, title, o.Text)))
		if o.Cut != "" {
			last := &g.out.Blocks[len(g.out.Blocks)-1]
			last.Cut, last.Why = model.Tokens(o.Cut), "The end of a long answer is left out."
		}
	}
	return texts
}

// task returns the instructions of the task, where the role does not include them.
func (g *giver) task() []string {
	text, kind, others := "", g.in.Task.Kind, g.in.Others
	switch {
	case kind == Cast && len(g.in.Choices) > 0:
		first := g.in.Choices[0]
		text = fmt.Sprintf(ballotTask, strings.Join(g.in.Choices, ", "), first, first)
	case kind == Look:
		text = reviewTask
	case kind == Oppose && len(others) > 0:
		text = fmt.Sprintf(critiqueTask, others[0].Letter)
	case kind == Opine && len(others) == 1 && g.policy.Others:
		text = relayOne + relayTask
	case kind == Opine && len(others) > 1 && g.policy.Others:
		text = relaySome + relayTask
	default:
		return nil
	}
	return []string{g.block(FromRole, "Task", text)}
}

// append adds a text to the end of the last message of the person.
func (g *giver) append(text string) {
	if n := len(g.out.Path) - 1; n >= 0 && g.out.Path[n].Role == chat.RoleUser {
		g.out.Path[n].Parts = append(slices.Clip(g.out.Path[n].Parts), chat.TextPart(text))
		return
	}
	g.out.Path = append(g.out.Path, Message(chat.RoleUser, text))
}

// block records a text that the member sees, and returns it.
func (g *giver) block(from Source, title, text string) string {
	if text != "" {
		g.out.Blocks = append(g.out.Blocks, NewBlock(from, title, text))
	}
	return text
}

// left records what was left out, and why.
func (g *giver) left(from Source, title string, tokens int64, why string) {
	g.out.Blocks = append(g.out.Blocks, BlockText{Block: Block{Source: from, Title: title, Cut: tokens, Why: why}})
}

// Message returns a whole message with one text.
func Message(role chat.Role, text string) chat.Message {
	return chat.Message{Role: role, State: chat.Complete, Parts: []chat.Part{chat.TextPart(text)}}
}

func speaker(role chat.Role) string {
	if role == chat.RoleUser {
		return "The person"
	}
	return "The assistant"
}

// cut returns the beginning of a text that is too long.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return shorten.Bytes(text, most) + " … (cut)"
}

// firstSentence returns the beginning of a text up to its first full stop, or 200 bytes.
func firstSentence(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	if i := strings.IndexAny(text, ".?!。？！"); i >= 0 {
		_, size := utf8.DecodeRuneInString(text[i:])
		text = text[:i+size]
	}
	return cut(text, 200)
}
