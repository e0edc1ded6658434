package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// Identity returns a digest of what starts or reaches a server, which is equal for two entries of the same server
// whatever they are called. It is empty for a server with settings: two with the same entry may have other values,
// and be two accounts.
func Identity(s Server) string {
	if len(s.Inputs) > 0 {
		return ""
	}
	raw, err := json.Marshal([]any{
		s.Command, append([]string{}, s.Args...), s.Env, s.EnvFile, s.Dir, strings.TrimRight(s.URL, "/"), s.Headers, s.OAuth,
	})
	if err != nil {
		return "" // texts
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}
