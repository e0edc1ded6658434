package hosttest

import (
	"encoding/pem"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// serveGit makes a repository of files and serves it as /same.git over https on
// loopback, with a certificate that git trusts for as long as the test runs.
// /private.git asks for a password.
func serveGit(t *testing.T, files tree) (address string) {
	t.Helper()
	program, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	where, err := exec.Command(program, "--exec-path").Output()
	must(t, err)
	backend := filepath.Join(strings.TrimSpace(string(where)), "git-http-backend")
	if _, err := os.Stat(backend); err != nil {
		t.Skip("git was installed without its server")
	}
	work, served := lay(t, "work", files), t.TempDir()
	git := func(arguments ...string) {
		t.Helper()
		cmd := exec.Command(program, arguments...)
		cmd.Dir = work
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
			"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.org")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", arguments, err, out)
		}
	}
	git("init", "--quiet", "--initial-branch=main", ".")
	git("add", ".")
	git("commit", "--quiet", "--message", "All of it")
	git("clone", "--quiet", "--bare", work, filepath.Join(served, "same.git"))
	handler := &cgi.Handler{
		Path: backend, Dir: served, Stderr: t.Output(),
		Env: []string{"GIT_PROJECT_ROOT=" + served, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"},
	}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/private.git") {
			w.Header().Set("WWW-Authenticate", `Basic realm="private"`)
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	certificate := filepath.Join(t.TempDir(), "certificate.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	must(t, os.WriteFile(certificate, block, 0o600))
	t.Setenv("GIT_SSL_CAINFO", certificate)
	return server.URL
}
