package client

import (
	"bytes"
	"fmt"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// traffic shows the messages of a session to whoever looks for a fault (Options.Traffic).
type traffic struct{ *Session }

// leftOut stands for what the person answered, which may be a password.
const leftOut = "(what the person answered is left out)"

// sent shows a message to the server, which body holds.
func (t traffic) sent(m jsonrpc.Message, body []byte) {
	if t.o.Traffic == nil {
		return
	}
	switch m := m.(type) {
	case *jsonrpc.Response:
		if m.Error == nil {
			body = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%#v,"result":%q}`, m.ID.Raw(), leftOut)
		}
	case *jsonrpc.Request:
		if bytes.Contains(body, []byte(`"inputResponses"`)) {
			body = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%#v,"method":%q,"params":%q}`, m.ID.Raw(), m.Method, leftOut)
		}
	}
	t.o.Traffic(true, body)
}

// got reads the messages that came, and shows them.
func (t traffic) got(data []byte) ([]jsonrpc.Message, error) {
	all, err := messages(data)
	if err == nil && t.o.Traffic != nil {
		t.o.Traffic(false, data)
	}
	return all, err
}

// refused shows the status of a response without a message.
func (t traffic) refused(res *http.Response) {
	if t.o.Traffic != nil {
		t.o.Traffic(false, []byte("HTTP "+res.Status))
	}
}
