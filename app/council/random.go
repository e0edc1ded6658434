package council

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
)

// A run draws from the seed in its first step, so that a replay draws the same.

// digest returns 32 bytes that follow from a seed and from what is drawn.
func digest(seed uint64, what string) [32]byte {
	return sha256.Sum256(append(binary.BigEndian.AppendUint64(nil, seed), what...))
}

// random returns the run's random number for what is drawn.
func (b *Begin) random(what string) uint64 {
	sum := digest(b.Seed, what)
	return binary.BigEndian.Uint64(sum[:])
}

// Rolls returns the dice of each member whose chance is neither 0 nor 100, in mode tools, from 0 to
// under 100 (contracts/spindle, section 10.2). One member's roll does not depend on the others.
func Rolls(seed uint64, c Council) []*float64 {
	rolls := make([]*float64, len(c.Members))
	for i, m := range c.Members {
		if c.Mode == Tools && m.Chance > 0 && m.Chance < 100 {
			b := Begin{Seed: seed}
			rolls[i] = new(float64(b.random(m.ID)>>11) / (1 << 53) * 100)
		}
	}
	return rolls
}

// marker returns the eight characters that mark the words of a member for a reader, "" for the main
// model.
func marker(seed uint64, reader, member string) string {
	sum := digest(seed, reader+"\x00"+member)
	return base64.RawURLEncoding.EncodeToString(sum[:])[:8]
}
