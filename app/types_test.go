package app

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"conclave/app/transcript"
)

// tsInterface matches one exported interface of types.ts and its body.
var (
	tsInterface = regexp.MustCompile(`(?ms)^export interface (\w+) \{\n(.*?)^\}`)
	tsField     = regexp.MustCompile(`(?m)^  (\w+)\??:`)
	tsMethod    = regexp.MustCompile(`(?m)^  ([A-Z]\w+)\(([^)]*)\)`)
)

// views are the Go structs behind the interfaces of types.ts.
var views = map[string]any{
	"Failure": Failure{}, "Undo": Undo{}, "ChatQuery": ChatQuery{}, "ChatRow": ChatRow{}, "Excerpt": Excerpt{}, "ChatGroup": ChatGroup{},
	"ChatList": ChatList{}, "Chat": transcript.Chat{}, "Draft": Draft{}, "Queued": Queued{}, "Media": transcript.Media{}, "Pull": transcript.Pull{}, "OutlineSplice": transcript.OutlineSplice{},
	"Entry": transcript.Entry{}, "Usage": transcript.Usage{}, "Part": transcript.Part{}, "Block": transcript.Block{}, "TurnStatus": transcript.TurnStatus{}, "Call": transcript.Call{},
	"CallDetail": CallDetail{}, "MessageInfo": MessageInfo{}, "RequestInfo": RequestInfo{}, "Find": Find{}, "Outgoing": Outgoing{}, "Sent": Sent{},
	"Problem": ProblemView{}, "Plugin": PluginView{}, "PluginList": PluginList{}, "PluginDetail": PluginDetail{}, "PluginForm": PluginForm{}, "PluginPermission": PermissionView{}, "PluginFolder": FolderView{}, "PluginRefusal": RefusalView{}, "Change": ChangeView{},
	"Template": TemplateView{}, "LogLine": LogLineView{}, "PluginLog": PluginLog{}, "Tool": ToolView{}, "ToolList": ToolList{},
	"Pending": PendingView{}, "Answer": AnswerView{}, "PendingList": PendingList{}, "Grant": GrantView{}, "GrantList": GrantList{},
	"Connection": ConnectionView{}, "Model": ModelView{}, "Provider": ProviderView{}, "ModelList": ModelList{}, "ConnectionEdit": ConnectionEdit{},
	"LocalServer": LocalServer{}, "Packages": PackagesView{}, "Package": PackageView{}, "PackageWork": PackageWorkView{}, "Settings": SettingsView{}, "Hello": Hello{}, "Toast": ToastView{},
}

func TestTheWindowsTypesHaveTheFieldsOfTheViews(t *testing.T) {
	source, err := os.ReadFile("../frontend/src/lib/bridge/types.ts")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, match := range tsInterface.FindAllStringSubmatch(string(source), -1) {
		name, body := match[1], match[2]
		view, ok := views[name]
		if !ok {
			if name != "Notice" { // bus.Notice
				t.Errorf("types.ts has %s, which no view stands for", name)
			}
			continue
		}
		found[name] = true
		var want []string
		for _, field := range tsField.FindAllStringSubmatch(body, -1) {
			want = append(want, field[1])
		}
		got := fieldsOf(reflect.TypeOf(view))
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n  the program gives %v\n  the window reads  %v", name, got, want)
		}
	}
	for name := range views {
		if !found[name] {
			t.Errorf("types.ts has no %s", name)
		}
	}
}

func fieldsOf(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func TestEveryMethodTheWindowCallsIsBound(t *testing.T) {
	source, err := os.ReadFile("../frontend/src/lib/bridge/calls.ts")
	if err != nil {
		t.Fatal(err)
	}
	bound := map[string]reflect.Type{
		"Chats": reflect.TypeFor[*Chats](), "Plugins": reflect.TypeFor[*Plugins](), "Tools": reflect.TypeFor[*Tools](), "Permissions": reflect.TypeFor[*Permissions](),
		"Models": reflect.TypeFor[*Models](), "Settings": reflect.TypeFor[*Settings](), "Window": reflect.TypeFor[*Window](),
	}
	for _, match := range tsInterface.FindAllStringSubmatch(string(source), -1) {
		typ, ok := bound[match[1]]
		if !ok {
			continue
		}
		called := map[string]bool{}
		for _, method := range tsMethod.FindAllStringSubmatch(match[2], -1) {
			name := method[1]
			called[name] = true
			m, ok := typ.MethodByName(name)
			if !ok {
				t.Errorf("the window calls %s.%s, which is not bound", match[1], name)
				continue
			}
			arguments := 0
			if strings.TrimSpace(method[2]) != "" {
				arguments = len(strings.Split(strings.TrimRight(strings.TrimSpace(method[2]), ","), ","))
			}
			if got := m.Type.NumIn() - 1; got != arguments && !strings.Contains(method[2], "<") {
				t.Errorf("%s.%s takes %d arguments, the window gives %d", match[1], name, got, arguments)
			}
		}
		for i := range typ.NumMethod() {
			if name := typ.Method(i).Name; !called[name] {
				t.Errorf("%s.%s is bound, and the window never calls it", match[1], name)
			}
		}
	}
}
