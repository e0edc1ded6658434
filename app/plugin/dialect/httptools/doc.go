// Package httptools is the tool API that N.E.K.O offers over loopback HTTP
// (contracts/neko, sections 8, 9 and 11): programs register tools, which are called at an
// address of theirs. It is a dialect of plugins without files: what one program registers
// under one source, to be called at one address, for one role, is one plugin, whose tools
// are approved, switched and called like all others.
//
//	api.go       the requests of programs, and what they are answered
//	pool.go      what is registered, whose names win, for whom
//	publish.go   what the host of plugins gets of it
//	probe.go     which addresses answer; what is dropped
//	dialect.go   a registration as a plugin
//	backend.go   that plugin as a backend of the host
//	callback.go  one call: a request to the program's address
//	envelope.go  what the answer means
//
// Read Pool first.
package httptools
