package functions_test

import (
	"strings"
	"testing"

	"conclave/app/plugin/dialect/functions"
)

// models runs on real pydantic 2 and on the stand-in alike: both must agree.
const models = `
from typing import List, Optional
import pydantic
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

class Base(BaseModel):
    id: int = 1
class Part(Base):
    model_config = ConfigDict(extra="forbid")
    name: str = Field(..., min_length=2, alias="partName", description="what it is")
    tags: List[str] = []
    inner: Optional["Part"] = None
    @field_validator("name")
    @classmethod
    def tidy(cls, value):
        if value == "bad": raise ValueError("not that")
        return value.strip()
    @field_validator("tags", mode="before")
    def split(cls, value):
        return value.split(",") if isinstance(value, str) else value
    @model_validator(mode="after")
    def whole(self):
        if self.id == 13: raise ValueError("unlucky")
        return self
Part.model_rebuild() if hasattr(Part, "model_rebuild") else None

def take(part: Part): return [part.id, part.name, part.tags, part.inner.name if part.inner else None]
def dump(part: Part): return [part.model_dump(), part.model_dump_json(), repr(part)]
def same(): return [Part(partName="ab") == Part(partName="ab"), Part(partName="ab") == Part(partName="cd"), Part(partName="ab").tags is Part(partName="ab").tags]
def fails():
    try: Part(id="x", other=1)
    except ValidationError as err: return sorted(".".join(map(str, e["loc"])) for e in err.errors())
def from_json(): return Part.model_validate_json('{"partName":"ab","inner":{"partName":"cd"}}').inner.name
def copied(): return Part(partName="ab").model_copy(update={"id": 5}).id
def fields(): return list(Part.model_fields)
`

func TestTheStandInAgreesWithPydantic(t *testing.T) {
	endPythons(t, func(t *testing.T, d *functions.Dialect) {
		w := serve(t, d, models)
		for _, one := range []struct{ tool, arguments, want string }{
			{"take", `{"part":{"partName":" ab ","tags":"x,y","inner":{"partName":"cd"}}}`, `[1,"ab",["x","y"],"cd"]`},
			{
				"dump", `{"part":{"partName":"ab"}}`,
				`[{"id":1,"name":"ab","tags":[],"inner":null},"{\"id\":1,\"name\":\"ab\",\"tags\":[],\"inner\":null}","Part(id=1, name='ab', tags=[], inner=None)"]`,
			},
			{"same", "", "[true,false,false]"},
			{"fails", "", `["id","other","partName"]`},
			{"from_json", "", "cd"},
			{"copied", "", "5"},
			{"fields", "", `["id","name","tags","inner"]`},
		} {
			equal(t, one.tool, w.Call(one.tool, one.arguments).Text(), one.want)
		}
		for arguments, place := range map[string]string{
			`{"part":{"partName":"x"}}`:                   "part.partName: ",
			`{"part":{"partName":"bad"}}`:                 "not that",
			`{"part":{"partName":"ab","id":13}}`:          "unlucky",
			`{"part":{"partName":"ab","more":1}}`:         "part.more: ",
			`{"part":{}}`:                                 "part.partName: ",
			`{"part":{"partName":"ab","inner":{"id":1}}}`: "part.inner.partName: ",
			`{"part":5}`:                                  "part: ",
		} {
			got := w.Call("take", arguments)
			if got.Meta.Status != "bad_arguments" || !strings.Contains(got.Text(), place) {
				t.Errorf("%s: got %q, want it to hold %q", arguments, got.Text(), place)
			}
		}
		tools := relist(t, w)
		equal(t, "schema", compact(t, tools[0].Schema),
			`{"type":"object","properties":{"part":{"$ref":"#/$defs/Part"}},"required":["part"],`+
				`"$defs":{"Part":{"type":"object","properties":{"id":{"type":"integer","default":1},"partName":{"type":"string","minLength":2,"description":"what it is"},`+
				`"tags":{"type":"array","items":{"type":"string"},"default":[]},"inner":{"anyOf":[{"$ref":"#/$defs/Part"},{"type":"null"}],"default":null}},`+
				`"required":["partName"],"additionalProperties":false}}}`)
	})
}

func TestTheStandInNamesTheRealPackageForTheRest(t *testing.T) {
	endPythons(t, func(t *testing.T, d *functions.Dialect) {
		w := serve(t, d, `
import pydantic
def stands_in(): return getattr(pydantic.BaseModel, "__conclave_standin__", False)
def asks(): return pydantic.create_model
`)
		if w.Call("stands_in", "").Text() != "true" {
			t.Skip("this Python has the real package")
		}
		got := w.Call("asks", "")
		if got.Meta.ErrorType != "AttributeError" || !strings.Contains(got.Text(), "pip install pydantic") {
			t.Errorf("got %q", got.Text())
		}
	})
}
