package deliberation

import (
	"cmp"
	"context"
	"slices"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/council"
	"conclave/app/model"
	"conclave/app/tool"

	"github.com/google/uuid"
)

// session is the council of one answer: its settings before the turn begins, and what its run works
// with after that.
type session struct {
	r       *Runner
	req     turn.Request
	how     How
	council council.Council
	log     council.Log
	before  council.Run // the run that is continued or repeated; zero for none

	keptFrom   council.RunID // the run whose results are reused
	substitute string        // why another model than intended writes the answer: a sentence, or ""

	// Read by begin, and not changed later.
	chat       chat.Conversation
	path       []chat.Message // up to the question
	background []council.Background
	tools      *tool.Set
}

// session returns the session of an answer, or nil where no council works.
func (r *Runner) session(ctx context.Context, req turn.Request, how How) (*session, error) {
	if how.Skip || r.ctx.Err() != nil {
		return nil, nil
	}
	s := &session{r: r, req: req, how: how, log: r.o.Log}
	if req.Log != nil {
		s.log = r.temporary
	}
	switch from := cmp.Or(how.Resume, how.Again); {
	case from != "":
		if err := s.loadBefore(ctx, from); err != nil {
			return nil, err
		}
	case how.Council != nil:
		s.council = *how.Council
	default:
		var err error
		if s.council, _, err = r.Council(ctx, req.Conversation, how.Project); err != nil {
			return nil, err
		}
		if !s.council.Enabled && how.Only == "" {
			return nil, nil
		}
	}
	if how.Only != "" && !slices.ContainsFunc(s.council.Members, func(m council.Member) bool { return m.ID == how.Only }) {
		return nil, fault.New(fault.NotFound, "deliberation.run", "The council has no member "+how.Only+".",
			"conclave council show lists its members.")
	}
	if len(s.council.Members) == 0 {
		return nil, nil
	}
	s.chooseModel(ctx)
	return s, nil
}

// chooseModel opens the model that writes the answer, unless the person chose one: the council's
// chair, or the model of the run that is continued or repeated, or the chat's. Where one cannot be
// opened, the next is used, and substitute explains that.
func (s *session) chooseModel(ctx context.Context) {
	if s.how.Chosen {
		return
	}
	why := ""
	for _, name := range []string{s.council.Chair, s.before.Models[""]} {
		if name == "" {
			continue
		}
		model, err := s.r.o.Models.Open(ctx, name)
		if err == nil {
			s.req.Model = model
			break
		}
		why = cmp.Or(why, name+" cannot be asked to write the answer: "+fault.Of(err).Message)
	}
	if why != "" && s.req.Model != nil {
		s.substitute = why + " " + s.req.Model.Info().Name() + " writes it."
	}
}

// toolsAlone reports whether the main model calls the members' tools itself, so that there is no run.
func (s *session) toolsAlone() bool {
	return s.council.Mode == council.Tools && s.council.Tool.Mode == council.Inline
}

// begin reads what the run works with, and returns its first step.
func (s *session) begin(ctx context.Context, turnID string) (council.Begin, error) {
	if err := s.read(ctx); err != nil {
		return council.Begin{}, err
	}
	b := council.Begin{
		Run: council.RunID(uuid.Must(uuid.NewV7()).String()), Conversation: s.req.Conversation, Turn: turnID,
		Question: s.path[len(s.path)-1].Seq, Path: pathHash(s.path), Council: s.council, Seed: s.r.o.Seed(), Only: s.how.Only,
		Asks: s.how.Asks, Places: true,
	}
	s.seats(ctx, &b)
	estimate := s.estimate(ctx, b)
	b.Estimate = &estimate
	b.Titles, b.Lacks = titlesOf(s.council, s.tools), s.r.lacks(s.council, s.tools)
	b.Window = s.window()
	s.keptFrom = s.before.Begin.Run
	if s.how.Again != "" {
		s.repeat(&b)
		return b, nil
	}
	var err error
	s.keptFrom, err = retained(ctx, s.log, &b)
	return b, err
}

// read reads the chat. Its question is saved, and no other turn writes.
func (s *session) read(ctx context.Context) error {
	err := s.readChat(ctx, func(path []chat.Message) []chat.Message {
		for len(path) > 0 && path[len(path)-1].Role != chat.RoleUser {
			path = path[:len(path)-1]
		}
		return path
	})
	if err == nil && len(s.path) == 0 {
		err = fault.New(fault.Invalid, "deliberation.run", "There is nothing to answer.", "Write a message first.")
	}
	if err != nil {
		return err
	}
	if s.tools, err = s.r.load(ctx, s.council); err != nil {
		return err
	}
	s.council = s.council.WithTools(s.tools.Tools())
	return s.nameTools(ctx)
}

// readChat reads the chat, the part of its path that matters, and what is known in addition to it. A
// new chat, "", has an empty path.
func (s *session) readChat(ctx context.Context, part func(path []chat.Message) []chat.Message) (err error) {
	id := s.req.Conversation
	if id != "" {
		if s.chat, err = s.chats().Conversation(ctx, id); err != nil {
			return err
		}
		if s.path, err = s.chats().Path(ctx, id); err != nil {
			return err
		}
	}
	s.path = part(s.path)
	s.background, err = s.r.o.Background(ctx, id, s.path)
	return err
}

// nameTools gives the tools of the run the names by which models know them in its chat: all
// that members are given at once, so that it does not matter whose turn begins first.
func (s *session) nameTools(ctx context.Context) error {
	_, err := turn.NameTools(ctx, s.chats(), &s.chat, s.tools.Filter(func(t tool.Tool) bool {
		if s.req.Tools != nil {
			if _, offered := s.req.Tools.ByID(t.ID()); offered {
				return true
			}
		}
		return slices.ContainsFunc(s.council.Members, func(m council.Member) bool {
			return !m.Off && slices.Contains(m.Tools, t.ID())
		})
	}))
	s.tools, _ = s.tools.Named(s.chat.ToolNames)
	return err
}

// window returns the hash of what the members' tools see of the chat.
func (s *session) window() council.Hash {
	var all []council.Given
	for _, m := range s.council.Members {
		all = append(all, council.Give(s.giveInput(m, council.Task{Kind: council.UseTool, Member: m.ID})))
	}
	return windowOf(all)
}

// chats returns where the chat is stored.
func (s *session) chats() Chats {
	if s.req.Log != nil {
		return s.req.Log
	}
	return s.r.o.Chats
}

// seats fills in the members' models, those without one, and the maximum cost of each task.
func (s *session) seats(ctx context.Context, b *council.Begin) {
	b.Out, b.Models, b.Reserve = map[string]string{}, map[string]string{}, map[string]float64{}
	local := len(s.council.Members) > 0
	for _, m := range s.council.Members {
		model, why := s.voice(ctx, m)
		if why != "" {
			if s.council.Mode != council.Tools {
				b.Out[m.ID] = why
			}
			continue
		}
		b.Models[m.ID] = model.Info().Name()
		local = local && s.isLocal(model.Info())
		if cost := s.r.o.Price(model.Info(), s.maxUsage(m)).Cost; cost > 0 {
			for _, key := range s.reserves(m) {
				b.Reserve[key] = cost
			}
		}
	}
	b.Models[""] = s.req.Model.Info().Name()
	if s.substitute != "" {
		b.Out[""] = s.substitute
	}
	if cost := s.r.o.Price(s.req.Model.Info(), s.maxAnswerUsage()).Cost; cost > 0 {
		b.Reserve[""] = cost
	}
	if local && b.Council.Parallel == 0 && s.council.Mode != council.Tools {
		b.Council.Parallel = 1
	}
}

// voice opens the model of a member, or explains why it has none.
func (s *session) voice(ctx context.Context, m council.Member) (opened model.Model, why string) {
	name := cmp.Or(m.Model, s.council.Helper.Model)
	if name == "" {
		return nil, m.Name + " has no model. Choose one for it, or a helper model for the council."
	}
	opened, err := s.r.o.Models.Open(ctx, name)
	if err != nil {
		return nil, m.Name + " has no model that can be asked: " + fault.Of(err).Message
	}
	return opened, ""
}

// reserves returns the keys in Begin.Reserve for a member's tasks that need a model.
func (s *session) reserves(m council.Member) []string {
	if s.council.Mode != council.Tools {
		return []string{m.ID}
	}
	var keys []string
	for _, tool := range m.Tools {
		if NeedsModel(s.tools, tool, m) != "" {
			keys = append(keys, council.ReserveOf(m.ID, tool))
		}
	}
	return keys
}

// demo is the provider of scripted models, any number of which work at once.
const demo = "demo"

// isLocal reports whether a model runs on this computer, which is as fast with one request at a time
// as with several.
func (s *session) isLocal(m model.Info) bool {
	u := s.r.o.Price(m, chat.Usage{Input: million, Output: million})
	return m.Provider != demo && u.Known() && u.Cost == 0
}

const million = 1_000_000

// UsualAnswer is the assumed length of an answer without a bound, in tokens.
const UsualAnswer = 1500

// maxUsage estimates the maximum usage of one task of a member.
func (s *session) maxUsage(m council.Member) chat.Usage {
	g := council.Give(s.giveInput(m, council.Task{Kind: council.Opine, Member: m.ID}))
	u := chat.Usage{Output: usual(m, s.council)}
	for _, b := range g.Blocks {
		u.Input += b.Tokens
	}
	return u
}

// maxAnswerUsage estimates the maximum usage of the main answer.
func (s *session) maxAnswerUsage() chat.Usage {
	u := chat.Usage{Input: model.Tokens(s.chat.System), Output: UsualAnswer}
	for _, m := range s.path {
		for _, p := range m.Parts {
			if p.Kind != chat.PartReasoning { // earlier reasoning is not sent
				u.Input += tokensIn(p)
			}
		}
	}
	if s.toolsAlone() { // there are no notes
		return u
	}
	for _, m := range s.council.Members {
		u.Input += usual(m, s.council)
	}
	return u
}

func (s *session) giveInput(m council.Member, task council.Task) council.GiveInput {
	return council.GiveInput{
		Council: s.council, Member: m, Task: task, Chat: s.chat, Path: s.path, Background: s.background,
	}
}
