package core

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/council"
	"conclave/app/model"
)

// recordingServer is a model server that is not ours: Python's, which writes down the bytes
// of every request that it gets, in their order, and answers with a word.
const recordingServer = `
import http.server, sys
folder, count = sys.argv[1], 0

class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        global count
        body = self.rfile.read(int(self.headers["Content-Length"]))
        count += 1
        open(f"{folder}/{count}.body", "wb").write(body)
        open(f"{folder}/{count}.head", "w").write(f"{self.path}\n{self.headers}")
        said = b'data: {"id":"1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":' \
            b'{"role":"assistant","content":"Blue."},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,' \
            b'"completion_tokens":3}}\n\ndata: [DONE]\n\n'
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)
    def log_message(self, *args):
        pass

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
`

// recording starts the server for a connection "rec", and returns where it writes.
func (w *whole) recording() string {
	w.t.Helper()
	folder := w.t.TempDir()
	ctx, cancel := context.WithCancel(context.Background()) // ends with the test
	server := exec.CommandContext(ctx, "python3", "-c", recordingServer, folder)
	out, err := server.StdoutPipe()
	must(w.t, err)
	must(w.t, server.Start())
	w.t.Cleanup(func() {
		cancel()
		_ = server.Wait() // it was killed
	})
	port, err := bufio.NewReader(out).ReadString('\n')
	must(w.t, err)
	must(w.t, w.Models.Add(w.t.Context(), model.Connection{
		Name: "rec", Kind: "openai", URL: "http://127.0.0.1:" + strings.TrimSpace(port) + "/v1", Models: []string{"m"},
	}, ""))
	return folder
}

func TestQuestionOnlyIsAllThatAnIndependentServerIsSent(t *testing.T) {
	w := reading(t)
	folder := w.recording()
	c := chat.Conversation{Title: "TITLE-secret", System: "SYSTEM-secret"}
	must(t, w.Store.Chats.CreateConversation(t.Context(), &c))
	file := chat.Media{MIME: "text/plain", Name: "FILE-name.txt", Data: []byte("FILE-secret")}
	must(t, w.Store.Media.PutMedia(t.Context(), &file))
	file.Data = nil
	last := chat.MessageSeq(0)
	for i, text := range []string{"EARLIER-question", "EARLIER-answer"} {
		m := chat.Message{
			Conversation: c.ID, Parent: last, Turn: "t", Role: []chat.Role{chat.RoleUser, chat.RoleAssistant}[i],
			State: chat.Complete,
			Parts: []chat.Part{chat.TextPart(text)},
		}
		if i == 0 {
			m.Parts = append(m.Parts, chat.Part{Kind: chat.PartMedia, Media: &file})
		}
		must(t, w.Store.Chats.Append(t.Context(), &m))
		last = m.Seq
	}
	_, run := w.deliberate(c.ID, "Which COLOUR is the sky?", council.Council{
		Enabled: true, Mode: council.Opinions, Parallel: 1, Tool: council.Default().Tool, Members: []council.Member{
			{ID: "ada", Name: "Ada", Model: "rec/m", Context: council.ContextPolicy{Span: council.Question}},
			{ID: "bo", Name: "Bo", Model: "rec/m"},
		},
	})
	hidden := []string{"TITLE-secret", "SYSTEM-secret", "EARLIER-question", "EARLIER-answer", "FILE-secret", "FILE-name"}
	for i, task := range run.Tasks {
		if task.State != council.Done || len(task.End.Requests) != 1 {
			t.Fatalf("%s is %s: %+v", task.ID, task.State, task.End)
		}
		sent, err := os.ReadFile(filepath.Join(folder, string(rune('1'+i))+".body"))
		must(t, err)
		kept, err := w.Councils.Texts(t.Context(), run.Begin.Run)(task.End.Requests[0].Body)
		must(t, err)
		if kept != string(sent) || len(sent) != task.End.Requests[0].Bytes {
			t.Errorf("%s was sent\n%s\nand the record says\n%s", task.Member, sent, kept)
		}
		head, err := os.ReadFile(filepath.Join(folder, string(rune('1'+i))+".head"))
		must(t, err)
		if !strings.Contains(string(sent), "Which COLOUR is the sky?") {
			t.Errorf("%s was not asked: %s", task.Member, sent)
		}
		for _, secret := range hidden {
			if is, given := strings.Contains(string(sent)+string(head), secret), task.Member == "bo" &&
				secret != "TITLE-secret"; is != given {
				t.Errorf("%s was sent %q: %v", task.Member, secret, is)
			}
		}
	}
}
