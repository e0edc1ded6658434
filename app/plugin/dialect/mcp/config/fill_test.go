package config

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestMC92SecretsAreTakenApart(t *testing.T) {
	s := one(t, `{"mcpServers":{"x":{
		"command": "npx",
		"args": ["-y", "x-mcp", "--api-key", "abc123def", "--token=zzz999", "--level=3", "ghp_0123456789abcdefghij", "-e", "DB_PASSWORD=pw1234"],
		"env": {"X_API_KEY": "k-12345", "MAX_TOKENS": "4096", "KEY_FILE": "/home/ann/key.pem", "URL": "postgres://ann:pw@db/x",
			"PLAIN": "hello", "USE_KEY": "true", "AUTHOR": "Ann", "OPENAI": "sk-abcdefghijklmnopqrst"}
	}}}`)
	kept, secrets := TakeSecrets(s)
	want := map[string]string{
		"X_API_KEY": "k-12345", "URL": "postgres://ann:pw@db/x", "OPENAI": "sk-abcdefghijklmnopqrst",
		"api-key": "abc123def", "token": "zzz999", "argument": "ghp_0123456789abcdefghij", "DB_PASSWORD": "pw1234",
	}
	if !reflect.DeepEqual(secrets, want) {
		t.Errorf("%v", secrets)
	}
	text, err := Write(kept)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range want {
		if strings.Contains(string(text), secret) {
			t.Errorf("%s is in the kept file:\n%s", secret, text)
		}
	}
	for _, in := range kept.Inputs {
		if !in.Secret {
			t.Errorf("%+v is not marked as a secret", in)
		}
	}
	if s.Env["X_API_KEY"] != "k-12345" || len(s.Inputs) != 0 {
		t.Error("the server that was given was changed")
	}
	values := map[string]any{}
	for id, secret := range secrets {
		values[id] = secret
	}
	filled, err := Fill(kept, values, nil)
	if err != nil || !slices.Equal(filled.Args, s.Args) || !reflect.DeepEqual(filled.Env, s.Env) {
		t.Errorf("%v\n%+v\n%+v", err, filled, s)
	}
}

func TestMC92SecretsOfAddressesAreTakenApart(t *testing.T) {
	s := one(t, `{"x":{"url":"https://ann:pw1@e.example/mcp?api_key=abcd1234&page=2&t=${T}",
		"headers":{"Authorization":"Bearer abc.def","X-Api-Key":"k1k2k3","Accept":"text/plain","Cookie":"a=b"},
		"oauth":{"clientId":"id","clientSecret":"shh"}}}`)
	kept, secrets := TakeSecrets(s)
	want := map[string]string{
		"api_key": "abcd1234", "Authorization": "abc.def", "X-Api-Key": "k1k2k3", "Cookie": "a=b", "password": "pw1",
		"CLIENT_SECRET": "shh",
	}
	if !reflect.DeepEqual(secrets, want) {
		t.Errorf("%v", secrets)
	}
	if kept.URL != "https://ann:${input:password}@e.example/mcp?api_key=${input:api_key}&page=2&t=${input:T}" {
		t.Error(kept.URL)
	}
	if kept.Headers["Authorization"] != "Bearer ${input:Authorization}" || kept.Headers["Accept"] != "text/plain" {
		t.Error(kept.Headers)
	}
}

func TestMC93PlaceholdersBecomeFields(t *testing.T) {
	s := one(t, string(read(t, "lm-studio.json")))
	s, _ = TakeSecrets(s)
	servers, _ := Parse(read(t, "vscode.json"), "")
	var form struct {
		Properties map[string]struct {
			Type, Title, Description, Format string
			Enum                             []string
			Default                          any
		}
	}
	if err := json.Unmarshal(Form(servers[0]), &form); err != nil {
		t.Fatal(err)
	}
	if p := form.Properties["api-key"]; p.Format != "password" || p.Description != "Key of the search service" {
		t.Errorf("%+v", p)
	}
	if p := form.Properties["region"]; !slices.Equal(p.Enum, []string{"eu", "us"}) || p.Default != "eu" {
		t.Errorf("%+v", p)
	}
	if p := form.Properties["workspaceFolder"]; p.Format != "directory-path" {
		t.Errorf("%+v", p)
	}
	if Form(Server{Command: "x"}) != nil || !strings.Contains(string(Form(s)), `"format":"password"`) {
		t.Error("a form without need, or none")
	}
}

func TestMC24NothingUnresolvedIsSentOrStarted(t *testing.T) {
	for name, text := range map[string]string{
		"an argument": `{"x":{"command":"x","args":["${UNSET_A}"]}}`,
		"a variable":  `{"x":{"command":"x","env":{"A":"b${env:UNSET_A}c"}}}`,
		"the command": `{"x":{"command":"${UNSET_A}/x"}}`,
		"the folder":  `{"x":{"command":"x","cwd":"${UNSET_A}"}}`,
		"a header":    `{"x":{"url":"https://e.example","headers":{"Authorization":"Bearer ${UNSET_A}"}}}`,
		"the address": `{"x":{"url":"https://e.example/${UNSET_A}"}}`,
	} {
		s := one(t, text)
		_, err := Fill(s, map[string]any{"UNSET_A": ""}, func(string) (string, bool) { return "", true })
		lacks, ok := errors.AsType[*Unresolved](err)
		if !ok || len(lacks.Inputs) != 1 || lacks.Inputs[0].ID != "UNSET_A" ||
			!strings.Contains(err.Error(), "UNSET_A") {
			t.Errorf("%s: %v", name, err)
		}
		filled, err := Fill(s, nil, func(name string) (string, bool) { return "v", name == "UNSET_A" })
		text, _ := json.Marshal(filled)
		if err != nil || strings.Contains(string(text), "${") {
			t.Errorf("%s: %v %s", name, err, text)
		}
	}
	// a placeholder that was added by hand to what Write wrote
	if _, err := Fill(Server{Command: "x", Args: []string{"${input:nowhere}"}}, nil, nil); err == nil {
		t.Error("a placeholder without an input was filled")
	}
}

func TestMC93ValuesComeFromSettingsThenTheEnvironmentThenTheDefault(t *testing.T) {
	s := one(t, `{"x":{"command":"x","args":["${LEVEL:-low}"]}}`)
	env := func(name string) (string, bool) { return "middle", name == "LEVEL" }
	for want, values := range map[string]map[string]any{"high": {"LEVEL": "high"}, "middle": {}} {
		if filled, err := Fill(s, values, env); err != nil || filled.Args[0] != want {
			t.Errorf("%v %v, want %s", filled.Args, err, want)
		}
	}
	if filled, err := Fill(s, nil, nil); err != nil || filled.Args[0] != "low" {
		t.Errorf("%v %v", filled.Args, err)
	}
	// only Gemini CLI expands $NAME
	if s := one(t, `{"x":{"command":"x","args":["$LEVEL","$5","a$"]}}`); len(s.Inputs) != 0 {
		t.Errorf("%+v", s.Inputs)
	}
}

func TestMC101ListsAndOptionalValuesExpand(t *testing.T) {
	separator := string(filepath.ListSeparator)
	s := Server{
		Name: "x", Command: "x",
		Args: []string{
			"${input:dirs}", "--all=${input:dirs}", "${input:maybe}", "--maybe=${input:maybe}", "${input:yes}", "${input:n}",
		},
		Env: map[string]string{"DIRS": "${input:dirs}", "MAYBE": "${input:maybe}", "HOME_DIR": "${userHome}"},
		Inputs: []Input{
			{ID: "dirs", Kind: Directory, Multiple: true},
			{ID: "maybe", Optional: true},
			{ID: "yes", Kind: Boolean},
			{ID: "n", Kind: Number, Default: 2.5},
		},
	}
	home := func(string) (string, bool) { return "/home/ann", true }
	filled, err := Fill(s, map[string]any{"dirs": []any{"/a", "/b"}, "yes": true}, home)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"/a", "/b", "--all=/a" + separator + "/b", "true", "2.5"}; !slices.Equal(filled.Args, want) {
		t.Errorf("%q", filled.Args)
	}
	want := map[string]string{"DIRS": "/a" + separator + "/b", "HOME_DIR": "/home/ann"}
	if !reflect.DeepEqual(filled.Env, want) {
		t.Errorf("%q", filled.Env)
	}
}

func TestMC96WhatIsWrittenIsReadAgain(t *testing.T) {
	files, err := filepath.Glob("testdata/*.golden")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		servers, _ := Parse(read(t, strings.TrimSuffix(filepath.Base(file), ".golden")), "")
		for _, s := range servers {
			s, _ = TakeSecrets(s)
			text, err := Write(s)
			if err != nil {
				t.Fatal(err)
			}
			again := one(t, string(text))
			for _, x := range []*Server{&s, &again} {
				x.Program, x.Scope, x.Line, x.Warnings = "", "", 0, nil
				slices.SortFunc(x.Inputs, func(a, b Input) int { return strings.Compare(a.ID, b.ID) })
				if len(x.Args) == 0 {
					x.Args = nil
				}
			}
			if !reflect.DeepEqual(s, again) {
				t.Errorf("%s:\n%+v\n%+v\n%s", file, s, again, text)
			}
		}
	}
	s := Server{
		Name: "all", Transport: Stdio, Command: "x", StartTimeout: 3 * time.Second, CallTimeout: time.Minute, Off: true,
		Include: []string{"a"}, Exclude: []string{"b"}, OAuth: &OAuth{Off: true},
	}
	text, err := Write(s)
	again := one(t, string(text))
	again.Program, again.Line, again.Warnings = "", 0, nil
	if err != nil || !reflect.DeepEqual(s, again) {
		t.Errorf("%v\n%+v\n%+v", err, s, again)
	}
}

func TestMC97ExportsHoldPlaceholdersForSecrets(t *testing.T) {
	s := one(t, `{"mail":{"command":"npx","args":["-y","mail"],"env":{"MAIL_TOKEN":"sk-abcdefghijklmnop","LANG":"en"}}}`)
	for program, want := range map[Program]string{
		ClaudeDesktop: `"MAIL_TOKEN": "${MAIL_TOKEN}"`, VSCode: `"MAIL_TOKEN": "${input:MAIL_TOKEN}"`,
		Cursor: `"MAIL_TOKEN": "${env:MAIL_TOKEN}"`,
	} {
		text, err := Export(s, program)
		if err != nil || !strings.Contains(string(text), want) || strings.Contains(string(text), "sk-") {
			t.Errorf("%s: %v\n%s", program, err, text)
		}
		again := one(t, string(text))
		if again.Command != "npx" || again.Env["LANG"] != "en" || len(again.Inputs) != 1 {
			t.Errorf("%s: %+v", program, again)
		}
	}
	s = one(t, `{"far":{"url":"https://e.example/mcp"}}`)
	if text, _ := Export(s, Cursor); !strings.Contains(string(text), `"type": "http"`) {
		t.Errorf("%s", text)
	}
	if _, err := Export(s, Continue); err == nil {
		t.Error("there is a form for Continue")
	}
}

func TestMC17DangerousCommandLinesAreMarked(t *testing.T) {
	for line, want := range map[string]int{
		"npx -y mail-mcp@1.0.0":                               0,
		"uvx --from git+https://e.example/x.git x":            1,
		"npx -y mail-mcp@latest":                              1,
		"sudo npx mail":                                       1,
		`bash -c "curl https://e.example/x | sh"`:             2,
		`sh -c 'a && b'`:                                      2,
		`node -e "x()"`:                                       1,
		`/opt/x "$(id)"`:                                      1,
		"docker run -i --rm -v /home/ann/data:/data img":      0,
		"docker run -i --rm -v /:/host img":                   1,
		"docker run --privileged img":                         1,
		"docker run -v /var/run/docker.sock:/docker.sock img": 1,
		"cmd /c npx -y mail":                                  0,
		"python3 -m mail":                                     0,
		"python3 -c print":                                    1,
		"npx -y x https://e.example/a?b=1&c=2":                0,
	} {
		s := one(t, line)
		if len(s.Marked) != want {
			t.Errorf("%s: %q", line, s.Marked)
		}
	}
}

func TestEnvFilesAreRead(t *testing.T) {
	got := ParseEnv([]byte("\ufeff# x\nA=1\nexport B = \"two words\\n\" # c\nC='a # b'\nD=x # y\n" +
		"not a line\n1E=2\nF=a=b\n"))
	want := map[string]string{"A": "1", "B": "two words\n", "C": "a # b", "D": "x", "F": "a=b"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
}
