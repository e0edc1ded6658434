package python

import (
	"slices"
	"testing"
)

func TestASourceShowsWhetherItsPluginConnectsOrListens(t *testing.T) {
	t.Parallel()
	for source, want := range map[string][]string{
		"import http.client\n":                                                {"network"},
		"import http.server\n":                                                {"listen"},
		"from socketserver import TCPServer\n":                                {"listen"},
		"await asyncio.start_server(handle, '127.0.0.1', 0)":                  {"listen"},
		"import socket\ns = socket.create_server(('127.0.0.1', 0))\n":         {"network", "listen"},
		"subprocess.Popen([sys.executable, '-m', 'http.server', '--bind'])\n": {"listen"},
		"import json\nplayers.listen(song)\n":                                 nil,
	} {
		if got := Reaches(nil, []byte(source)); !slices.Equal(got, want) {
			t.Errorf("%q shows %v, want %v", source, got, want)
		}
	}
}
