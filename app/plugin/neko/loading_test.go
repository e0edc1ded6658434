package neko_test

import (
	"testing"

	"conclave/app/plugin/neko"
	"conclave/app/plugin/python/pythontest"
)

func TestNK01AFolderWithManifestAndPackageLoads(t *testing.T) {
	everyPython(t, func(t *testing.T, d *neko.Dialect) {
		w := serve(t, d, `
@llm_tool(name="hello", description="Greets.", parameters={"type": "object", "properties": {"who": {"type": "string"}}, "required": ["who"]})
async def hello(self, who, **_):
    return "hello " + who
`)
		hello := tool(t, w.List(), "hello")
		pythontest.Equal(t, "description", hello.Description, "Greets.")
		pythontest.Equal(t, "file", hello.Meta.File, "__init__.py")
		says(t, w.Call("hello", `{"who":"you"}`), "hello you")
	})
}
