package openai_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"conclave/app/model"
	"conclave/app/model/openai"
	"conclave/app/test/testkit"
)

// The shapes are those that the servers document; each says more of a model than OpenAI does.
func TestListsOfModelsOfOtherServersAreRead(t *testing.T) {
	for name, c := range map[string]struct {
		answers map[string]string // by path
		want    model.Info
	}{
		"OpenRouter": {map[string]string{"/v1/models": `{"data":[{"id":"a/b","name":"B","context_length":200000,
			"architecture":{"input_modalities":["text","image"]},"pricing":{"prompt":"0.000003","completion":"0.000015"},
			"supported_parameters":["tools","reasoning"]}]}`}, model.Info{
			ID: "a/b", Title: "B", Context: 200000, Price: &model.Price{Input: 3, Output: 15},
			Can: model.Features{Tools: true, Vision: true, Reasoning: true},
		}},
		"a price that depends": {map[string]string{"/v1/models": `{"data":[{"id":"auto",
			"pricing":{"prompt":"-1","completion":"-1"}}]}`}, model.Info{
			ID: "auto", Title: "auto", Can: model.Features{Tools: true},
		}},
		"Together": {map[string]string{"/v1/models": `[{"id":"flux","type":"image"},{"id":"llama","type":"chat",
			"display_name":"Llama","context_length":8192,"pricing":{"input":0.5,"output":1.5,"hourly":0}}]`}, model.Info{
			ID: "llama", Title: "Llama", Context: 8192, Price: &model.Price{Input: 0.5, Output: 1.5},
			Can: model.Features{Tools: true},
		}},
		"Fireworks": {map[string]string{"/v1/models": `{"data":[{"id":"v","supports_chat":false},{"id":"m",
			"supports_chat":true,"supports_image_input":true,"supports_tools":false,"context_length":32768}]}`}, model.Info{
			ID: "m", Title: "m", Context: 32768, Can: model.Features{Vision: true},
		}},
		"LM Studio": {map[string]string{
			"/v1/models": `{"object":"list","data":[{"id":"m","owned_by":"organization_owner"},
				{"id":"vectors","owned_by":"organization_owner"}]}`,
			"/api/v0/models": `{"data":[{"id":"m","type":"vlm","capabilities":["tool_use"],"max_context_length":40960,
				"loaded_context_length":4096},{"id":"vectors","type":"embeddings","max_context_length":512}]}`,
		}, model.Info{ID: "m", Title: "m", Context: 4096, Can: model.Features{Tools: true, Vision: true}}},
		"members of other shapes": {map[string]string{"/v1/models": `{"data":[{"id":"m","capabilities":["x"],
			"architecture":"qwen","pricing":"see the page"}]}`}, model.Info{
			ID: "m", Title: "m", Can: model.Features{Tools: true},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if body, ok := c.answers[r.URL.Path]; ok {
					fmt.Fprint(w, body)
					return
				}
				http.NotFound(w, r)
			}))
			defer server.Close()
			p := openai.New(model.Connection{Name: "mine", URL: server.URL + "/v1"}, openai.Options{})
			got, err := p.Models(t.Context())
			testkit.Must(t, err)
			c.want.Connection, c.want.Provider = "mine", "openai"
			if len(got) != 1 || !reflect.DeepEqual(got[0], c.want) {
				t.Errorf("it lists %+v, not %+v", got, c.want)
			}
			again := openai.New(model.Connection{Name: "mine", URL: server.URL + "/v1", Listed: got}, openai.Options{})
			if info := again.Open(c.want.ID).Info(); !reflect.DeepEqual(info, c.want) {
				t.Errorf("in the next run it is %+v", info)
			}
		})
	}
}

func TestAServerThatListedItsModelsAndKnowsOneNotIsNotTakenForNone(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/models" {
			fmt.Fprint(w, `{"data":[{"id":"large"}]}`)
			return
		}
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"error":{"message":"Scripted failure 404"}}`)
	}))
	defer server.Close()
	p := openai.New(model.Connection{Name: "mine", URL: server.URL + "/v1"}, openai.Options{})
	said := func() string {
		for _, err := range p.Open("gone").Stream(t.Context(), model.Request{}) {
			if e, ok := errors.AsType[*model.Error](err); ok {
				return e.Sentence()
			}
		}
		return ""
	}
	if got := said(); !strings.Contains(got, "There is no model server") {
		t.Errorf("before it listed any: %s", got)
	}
	_, err := p.Models(t.Context())
	testkit.Must(t, err)
	if got := said(); !strings.Contains(got, "has no model “gone”") {
		t.Errorf("once it listed them: %s", got)
	}
}
