package store

import (
	"context"
	"fmt"

	"conclave/app/base/fault"
	"conclave/app/chat/prompt"

	"github.com/google/uuid"
	"go.etcd.io/bbolt"
)

// Prompts are the texts that the person saved to begin messages with.
type Prompts struct{ *file }

var bucketPrompts = kind("prompts") // id → prompt.Prompt

// Prompts returns all saved prompts. One that cannot be read is left out.
func (p *Prompts) Prompts(ctx context.Context) ([]prompt.Prompt, error) {
	all := []prompt.Prompt{}
	err := p.view(ctx, "store.prompts", func(tx *bbolt.Tx) error {
		return eachOf(tx, bucketPrompts, nil, func(_ []byte, one prompt.Prompt) error {
			all = append(all, one)
			return nil
		}, func(k []byte, err error) {
			p.log.Warn("A prompt cannot be read and is left out.", "prompt", string(k), "err", err)
		})
	})
	return all, err
}

// PutPrompts saves prompts, all or none; one without an id is new and gets one. The kind is invalid for one that Check
// refuses, and when there would be more than prompt.Most.
func (p *Prompts) PutPrompts(ctx context.Context, prompts ...prompt.Prompt) error {
	const op = "store.put_prompts"
	return p.write(ctx, op, func(tx *bbolt.Tx) error {
		have := len(bucketPrompts.keys(tx, nil))
		for i := range prompts {
			one := &prompts[i]
			if err := one.Check(); err != nil {
				return err
			}
			if one.ID == "" {
				one.ID = uuid.Must(uuid.NewV7()).String()
				have++
			}
			if have > prompt.Most {
				return fault.New(fault.Invalid, op, fmt.Sprintf("There can be %d prompts at most.", prompt.Most),
					"Delete some that you do not use.")
			}
			if err := checkID(op, "prompt", one.ID); err != nil {
				return err
			}
			one.Updated = p.now()
			if err := bucketPrompts.putJSON(tx, []byte(one.ID), one); err != nil {
				return err
			}
		}
		return nil
	})
}

// DeletePrompt removes a prompt, and returns it. The kind is not_found where there is none.
func (p *Prompts) DeletePrompt(ctx context.Context, id string) (gone prompt.Prompt, err error) {
	const op = "store.delete_prompt"
	err = p.write(ctx, op, func(tx *bbolt.Tx) error {
		there, err := getJSON(tx, bucketPrompts, []byte(id), &gone)
		if err != nil {
			return err
		}
		if !there {
			return fault.New(fault.NotFound, op, "That prompt is no longer there.", "")
		}
		return bucketPrompts.delete(tx, []byte(id))
	})
	return gone, err
}
