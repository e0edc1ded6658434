package window

import (
	"fmt"
	"net/url"
	"strings"
	"sync"
	"unicode/utf8"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/tool"
	"conclave/app/view"
)

// LinkScheme begins the links that Conclave opens.
const LinkScheme = "conclave"

// Limits of a link, which any page of any browser can offer.
const (
	maxLink        = 64 << 10 // bytes of the whole, with three for each that is encoded
	maxLinkText    = 8000     // characters
	maxLinkAddress = 2000
	maxLinkModel   = 200
	maxLinks       = 8 // that wait for the page
)

// LinkKind names what a link fills in.
type LinkKind string

// What links fill in. None sends or installs anything.
const (
	LinkAsk    LinkKind = "ask"    // the message of a new chat
	LinkPlugin LinkKind = "plugin" // the address of a plugin to add
)

// LinkView is a link conclave://… that was opened in another program.
type LinkView struct {
	Kind    LinkKind `json:"kind"`
	Text    string   `json:"text"`    // of the message
	Model   string   `json:"model"`   // name of the model that shall answer; "" leaves that to the person
	Address string   `json:"address"` // of the plugin
	Hidden  int      `json:"hidden"`  // how many hidden characters were taken out of the text
	// Why the link is not followed; null where it is.
	Refused *Failure `json:"refused"`
}

// links holds the links that the page has not taken yet. Its zero value is ready.
type links struct {
	mu      sync.Mutex
	waiting []LinkView
}

func (l *links) add(link LinkView) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) < maxLinks {
		l.waiting = append(l.waiting, link)
	}
}

func (l *links) take() []LinkView {
	l.mu.Lock()
	defer l.mu.Unlock()
	taken := l.waiting
	l.waiting = nil
	return view.List(taken)
}

// OpenLink brings the window to the front and shows what a link fills in, or why it is
// refused. It sends and installs nothing. It may be called before Startup, and concurrently.
func (a *App) OpenLink(address string) {
	link, err := readLink(address)
	link.Refused = optionalFailure(a.log, err)
	a.Window.links.add(link)
	a.core.Bus.Changed(bus.Links, "")
	a.Focus()
}

// Links returns the links that were opened since the last call, the oldest first.
func (w *Window) Links() ([]LinkView, error) { return w.links.take(), nil }

// readLink reads a link. Whatever it does not know it refuses, so that a link cannot seem to do
// more than it does.
func readLink(address string) (LinkView, error) {
	if len(address) > maxLink {
		return LinkView{}, refusedLink("The link is too long.", "Copy its text, and paste it.")
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != LinkScheme || u.User != nil || u.Fragment != "" || strings.Trim(u.Path, "/") != "" {
		return LinkView{}, refusedLink("The link is not one that Conclave knows.", linkForms)
	}
	values, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return LinkView{}, refusedLink("The link is damaged.", "Copy it again.")
	}
	known := map[LinkKind][]string{LinkAsk: {"text", "model"}, LinkPlugin: {"url"}}[LinkKind(u.Host)]
	if known == nil {
		return LinkView{}, refusedLink("The link is not one that Conclave knows.", linkForms)
	}
	given := map[string]string{}
	for _, name := range known {
		if len(values[name]) == 1 {
			given[name] = values.Get(name)
			delete(values, name)
		}
	}
	if len(values) > 0 {
		return LinkView{}, refusedLink("The link asks for more than Conclave does.", linkForms)
	}
	if LinkKind(u.Host) == LinkPlugin {
		return pluginLink(given["url"])
	}
	return askLink(given["text"], given["model"])
}

const linkForms = "Conclave opens conclave://ask?text=… and conclave://plugin?url=https://…."

func refusedLink(message, hint string) error {
	return fault.New(fault.Invalid, "app.link", message, hint)
}

// askLink reads the parameters of a link that begins a message.
func askLink(text, model string) (LinkView, error) {
	text, removed := tool.Strip(strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), ""))
	text = strings.TrimSpace(text)
	_, hiddenInModel := tool.Strip(model)
	switch {
	case text == "":
		return LinkView{}, refusedLink("The link has no text.", linkForms)
	case utf8.RuneCountInString(text) > maxLinkText:
		return LinkView{}, refusedLink(fmt.Sprintf("The text of the link has more than %d characters.", maxLinkText),
			"Copy the text, and paste it.")
	case len(model) > maxLinkModel || hiddenInModel > 0:
		return LinkView{}, refusedLink("The model that the link names cannot be one.", linkForms)
	}
	return LinkView{Kind: LinkAsk, Text: text, Model: model, Hidden: removed}, nil
}

// pluginLink reads the address of a plugin: https, without a password, and in characters that
// look like no others.
func pluginLink(address string) (LinkView, error) {
	u, err := url.Parse(address)
	plain := strings.IndexFunc(address, func(r rune) bool { return r <= ' ' || r >= 0x7f }) < 0
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || !plain || len(address) > maxLinkAddress {
		return LinkView{}, refusedLink("The link does not name the https address of a plugin.",
			"Open the page of the plugin, and copy the address from there.")
	}
	return LinkView{Kind: LinkPlugin, Address: address}, nil
}
