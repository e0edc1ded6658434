package view

import (
	"conclave/app/tool/mcpserver"
)

// Program is a program that uses Conclave's tools, or may.
type Program struct {
	Name  string `json:"name"`
	Token bool   `json:"token"` // it connects over HTTP, with a token; else over standard streams
	Made  Time   `json:"made"`
	Used  Time   `json:"used"`  // when it called last
	Calls int    `json:"calls"` // how many it made
	Open  int    `json:"open"`  // how many sessions it has open
}

// NewProgram returns the view of a program.
func NewProgram(s mcpserver.Status) Program {
	return Program{
		Name: s.Name, Token: s.Token, Made: Time{s.Made}, Used: Time{s.Used}, Calls: s.Calls, Open: s.Open,
	}
}

// OfferedTool is a tool that the person offers to other programs.
type OfferedTool struct {
	ID   string `json:"id"`
	Name string `json:"name"` // under which programs see it; "" where it is not there now
}
