package service

import (
	"cmp"
	"slices"

	"conclave/app/chat"
	"conclave/app/plugin"
)

// authors returns who wrote a text that a plugin writes where others read it: the plugin,
// and whoever wrote what its process was given of what plugins share.
func authors(by plugin.Caller) []chat.Author {
	all := []chat.Author{{Plugin: by.Plugin, Name: cmp.Or(by.Name, by.Plugin)}}
	if by.Read != nil {
		all = chat.AddAuthors(all, by.Read()...)
	}
	return all
}

// writtenBy says whose text a plugin writes into a chat.
func writtenBy(by plugin.Caller) []chat.Origin { return chat.OriginsBy(authors(by)) }

// gives notes that a plugin is given a text of these authors. Its own text tells it
// nothing new.
func gives(by plugin.Caller, of []chat.Author) {
	others := slices.DeleteFunc(slices.Clone(of), func(a chat.Author) bool { return a.Plugin == by.Plugin })
	if by.Gave != nil && len(others) > 0 {
		by.Gave(others...)
	}
}
