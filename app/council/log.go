package council

import (
	"context"

	"conclave/app/chat"
)

// Log stores runs; the store is the main one. Errors are *fault.Error. Deleting a chat deletes its
// runs.
type Log interface {
	// AppendSteps writes the next steps of a run, the texts that they name, and the new header, in one
	// durable transaction. A Log that also stores chats adds the increase of Header.Usage to the chat.
	AppendSteps(ctx context.Context, h Header, steps []Step, texts map[Hash][]byte) error
	// Runs lists the runs of a chat, oldest first; of "" those of all chats, by chat.
	Runs(ctx context.Context, id chat.ConversationID) ([]Header, error)
	// Steps reads a run. The kind is not_found when there is none.
	Steps(ctx context.Context, id RunID) ([]Step, error)
	// Text reads a text that AppendSteps was given with the run.
	Text(ctx context.Context, id RunID, h Hash) ([]byte, error)
}

// Settings stores councils; the store is the real one. Errors are *fault.Error.
type Settings interface {
	// Council reads the council of a scope; there is false when none was set there.
	Council(ctx context.Context, s Scope) (c Council, there bool, err error)
	// PutCouncil writes it; nil removes it, so that the next wider scope applies.
	PutCouncil(ctx context.Context, s Scope, c *Council) error
	// Presets reads the person's presets, by name.
	Presets(ctx context.Context) (map[string]Council, error)
}

// Scope names the chats to which a council applies: "global", "project <folder>", "chat <id>", "next
// chat", or "preset <name>" for a preset. The narrowest scope with a council applies.
type Scope string

// Global applies where nothing narrower is set.
const Global Scope = "global"

// NextChat is the scope of the next new chat: its council becomes that of the chat which the next
// message begins.
const NextChat Scope = "next chat"

// OfChat is the scope of one chat.
func OfChat(id chat.ConversationID) Scope { return Scope("chat " + string(id)) }

// OfProject is the scope of all chats of a project, see chat.Conversation.Project.
func OfProject(folder string) Scope { return Scope("project " + folder) }

// OfPreset is the scope of a preset.
func OfPreset(name string) Scope { return Scope("preset " + name) }
