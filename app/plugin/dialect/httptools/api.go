package httptools

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/net/loopback"
	"conclave/app/plugin"
)

// Handler answers the requests of programs (contracts/neko, section 8). Who may make them
// at all is decided before: package loopback.
func (p *Pool) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/tools/register", p.posted(p.serveRegister))
	mux.HandleFunc("POST /api/tools/unregister", p.posted(p.serveUnregister))
	mux.HandleFunc("POST /api/tools/clear", p.posted(p.serveClear))
	mux.HandleFunc("GET /api/tools", p.serveList)
	mux.HandleFunc("POST /api/llm-tools/callback/{plugin}/{tool}", p.posted(p.serveCallback))
	return mux
}

// answer holds the status and the JSON that a request is answered.
type answer struct {
	status int
	body   any
}

// detail is the body of an answer that refuses.
func detail(status int, why any) answer { return answer{status, map[string]any{"detail": why}} }

func (a answer) write(w http.ResponseWriter) {
	raw, err := encode(a.body)
	if err != nil {
		a.status, raw = http.StatusInternalServerError, []byte(`{"detail":"the answer cannot be written"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	_, _ = w.Write(raw) // whoever asked may be gone
}

// posted reads the JSON object of a request and answers what do says.
func (p *Pool) posted(do func(r *http.Request, f *form) answer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
			loopback.Refuse(w, http.StatusRequestEntityTooLarge,
				strings.ReplaceAll("the body has more than SIZE, the most that is read", "SIZE",
					limit.Size(tooLarge.Limit)))
			return
		}
		if err != nil {
			loopback.Refuse(w, http.StatusRequestTimeout, "the body did not arrive in time")
			return
		}
		f := &form{}
		err = json.Unmarshal(body, &f.fields)
		switch {
		case !json.Valid(body):
			f.wrong = []invalid{{"json_invalid", []string{"body"}, "JSON decode error", json.RawMessage("{}")}}
		case err != nil || f.fields == nil || !isJSON(r.Header.Get("Content-Type")):
			f.wrong = []invalid{{
				"model_attributes_type", []string{"body"}, "Input should be a valid JSON object, of the content type " +
					"application/json", json.RawMessage("null"),
			}}
		default:
			do(r, f).write(w)
			return
		}
		detail(http.StatusUnprocessableEntity, f.wrong).write(w)
	}
}

// isJSON reports whether a content type is JSON.
func isJSON(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && (kind == "application/json" ||
		strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json"))
}

// known returns all roles, and the answer to a request for one that is not there.
func (p *Pool) known(ctx context.Context, role string) ([]string, *answer) {
	roles, err := p.roles(ctx)
	if err != nil {
		a := detail(http.StatusInternalServerError, fault.Of(err).Message)
		return nil, &a
	}
	if role != "" && !slices.Contains(roles, role) {
		a := detail(http.StatusNotFound, "unknown role: "+role)
		return nil, &a
	}
	return roles, nil
}

// failedRole is a role for which something could not be done.
type failedRole struct {
	Role  string `json:"role"`
	Error string `json:"error"`
}

// concerned returns the roles that a request is about.
func concerned(roles []string, role string) []string {
	if role != "" {
		return []string{role}
	}
	return roles
}

func (p *Pool) serveRegister(r *http.Request, f *form) answer {
	made := f.registration()
	addresses, err := callbackAddress(made.CallbackURL)
	if err != nil && made.CallbackURL != "" {
		f.bad("value_error", "callback_url", "Value error, "+err.Error())
	}
	if len(addresses) > 0 && atOurs(r, addresses[0].Port()) {
		f.bad("value_error", "callback_url", "Value error, callback_url must be a port of the program's own, not this one")
	}
	if len(f.wrong) > 0 {
		return detail(http.StatusUnprocessableEntity, f.wrong)
	}
	roles, refused := p.known(r.Context(), made.Role)
	if refused != nil {
		return *refused
	}
	err = p.full(&made)
	if err == nil {
		made.Address = resolve(r.Context(), addresses)
		made.Listener = programAt(made.Address)
		by, _ := loopback.Caller(r)
		made.Program = by.Name
		err = p.register(r.Context(), &made)
	}
	if err != nil {
		f := fault.Of(err)
		failed := []failedRole{}
		for _, role := range concerned(roles, made.Role) {
			failed = append(failed, failedRole{role, "RegistryError: " + f.Message})
		}
		return answer{http.StatusOK, map[string]any{
			"ok": false, "registered": made.Name, "affected_roles": []string{}, "failed_roles": failed,
			"error": "no role accepted the registration: " + f.Message,
		}}
	}
	return answer{http.StatusOK, map[string]any{
		"ok": true, "registered": made.Name, "affected_roles": concerned(roles, made.Role), "failed_roles": []failedRole{},
	}}
}

// atOurs reports whether a port is the one that a request came to: a tool that is called
// there would have Conclave ask itself.
func atOurs(r *http.Request, port uint16) bool {
	ours, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ok && ours.AddrPort().Port() == port
}

func (p *Pool) serveUnregister(r *http.Request, f *form) answer {
	name, role := f.text("name", true, 1, maxName, ""), f.role()
	if len(f.wrong) > 0 {
		return detail(http.StatusUnprocessableEntity, f.wrong)
	}
	its := func(r *Registration) bool { return r.Name == name }
	return p.serveDrop(r, role, its, func(removed gone) map[string]any {
		return map[string]any{"removed": len(removed) > 0, "name": name}
	})
}

func (p *Pool) serveClear(r *http.Request, f *form) answer {
	source, role := f.text("source", true, 1, 0, ""), f.role()
	if len(f.wrong) > 0 {
		return detail(http.StatusUnprocessableEntity, f.wrong)
	}
	its := func(r *Registration) bool { return r.Source == source }
	return p.serveDrop(r, role, its, func(removed gone) map[string]any {
		n := 0
		for _, each := range removed {
			n += each
		}
		return map[string]any{"removed": n, "source": source}
	})
}

// serveDrop answers a request to remove what is meant.
func (p *Pool) serveDrop(r *http.Request, role string, meant func(*Registration) bool,
	say func(gone) map[string]any,
) answer {
	roles, refused := p.known(r.Context(), role)
	if refused != nil {
		return *refused
	}
	removed, err := p.drop(r.Context(), role, roles, meant)
	affected, failed := []string{}, []failedRole{}
	for _, each := range concerned(roles, role) {
		switch {
		case err != nil:
			failed = append(failed, failedRole{each, "RegistryError: " + fault.Of(err).Message})
		case removed[each] > 0:
			affected = append(affected, each)
		}
	}
	if err != nil {
		removed = nil
	}
	body := say(removed)
	body["ok"], body["affected_roles"], body["failed_roles"] = err == nil, affected, failed
	return answer{http.StatusOK, body}
}

// listed is one tool of GET /api/tools. The keys after is_remote are Conclave's.
type listed struct {
	Name        string  `json:"name"`
	Description string  `json:"description"`
	Source      string  `json:"source"`
	CallbackURL *string `json:"callback_url"`
	Remote      bool    `json:"is_remote"`
	// live, unverified until its address answers, waiting for a person, or off
	Status string `json:"status"`
	Role   string `json:"role,omitempty"` // in the flat list
}

func (p *Pool) serveList(w http.ResponseWriter, r *http.Request) {
	role := r.URL.Query().Get("role")
	roles, refused := p.known(r.Context(), role)
	if refused != nil {
		refused.write(w)
		return
	}
	flat, byRole := []listed{}, map[string][]listed{}
	for _, each := range concerned(roles, role) {
		rows := p.listOf(each, r.Host)
		byRole[each] = rows
		for _, row := range rows {
			row.Role = each
			flat = append(flat, row)
		}
	}
	answer{http.StatusOK, map[string]any{"ok": true, "tools_by_role": byRole, "tools": flat}}.write(w)
}

// listOf returns the tools of a role, those of N.E.K.O plugins behind those that were
// registered.
func (p *Pool) listOf(role, host string) []listed {
	rows := []listed{}
	p.mu.Lock()
	seen := p.visible(role)
	p.mu.Unlock()
	status := map[string]string{}
	for _, t := range seen {
		id := t.plugin()
		if _, asked := status[id]; !asked {
			status[id] = p.statusOf(id)
		}
		now := status[id]
		if !t.live {
			now = "unverified"
		}
		rows = append(rows, listed{t.Name, t.Description, t.Source, &t.CallbackURL, true, now, ""})
	}
	if p.o.Others == nil {
		return rows
	}
	for _, t := range p.o.Others() {
		if t.Role != "" && t.Role != role {
			continue
		}
		at := "http://" + host + "/api/llm-tools/callback/" + url.PathEscape(t.Plugin) + "/" + url.PathEscape(t.Name)
		rows = append(rows, listed{t.Name, t.Description, "plugin:" + t.Plugin, &at, true, "live", ""})
	}
	return rows
}

// statusOf returns how a plugin stands.
func (p *Pool) statusOf(id string) string {
	s, err := p.o.Host.Status(id)
	switch {
	case err != nil:
		return "unverified"
	case s.State == plugin.Disabled:
		return "off"
	case s.State == plugin.Ready:
		return "live"
	}
	return "waiting"
}

// Other is a tool of an N.E.K.O plugin that Conclave itself runs.
type Other struct {
	Plugin      string // as its manifest calls it
	Name        string
	Description string
	Role        string
	ID          string // of the tool in Conclave
}

// serveCallback answers at the address that the list names for a tool of a plugin that
// Conclave runs (contracts/neko, items 42 and 53).
func (p *Pool) serveCallback(r *http.Request, f *form) answer {
	of, name := r.PathValue("plugin"), r.PathValue("tool")
	failed := func(kind, why string) answer {
		return answer{
			http.StatusOK, map[string]any{"output": map[string]string{"error": why}, "is_error": true, "error": kind},
		}
	}
	var found *Other
	if p.o.Others != nil {
		for _, t := range p.o.Others() {
			if t.Plugin == of && t.Name == name {
				found = &t
			}
		}
	}
	if found == nil || p.o.Call == nil {
		return failed("TOOL_NOT_REGISTERED", "there is no tool "+name+" of a plugin "+of+" that runs")
	}
	arguments := string(f.object("arguments", json.RawMessage("{}")))
	if len(f.wrong) > 0 {
		return detail(http.StatusUnprocessableEntity, f.wrong)
	}
	by := "" // a program that the system does not name
	if program, known := loopback.Caller(r); known && program.Name != "" {
		by = program.Name
	}
	o, err := p.o.Call(r.Context(), by, *found, arguments)
	switch {
	case err != nil:
		return failed("PLUGIN_NOT_RUNNING", fault.Of(err).Message)
	case o.TimedOut:
		return failed("TOOL_TIMEOUT", "the tool took too long")
	case o.Failed:
		return failed(o.Kind, o.Text)
	case o.Value != nil:
		return answer{http.StatusOK, map[string]any{"output": o.Value, "is_error": false}}
	}
	return answer{http.StatusOK, map[string]any{"output": o.Text, "is_error": false}}
}
