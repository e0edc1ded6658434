package neko_test

import (
	"testing"

	"conclave/app/plugin/dialect/neko"
)

// What asyncio imports and hardly a plugin uses costs nothing until it is used, and
// is then what it always is.
func TestLargeModulesAreLoadedWhenTheyAreUsed(t *testing.T) {
	everyPython(t, func(t *testing.T, d *neko.Dialect) {
		w := serve(t, d, `
@llm_tool()
async def resting(self):
    kinds = {type(sys.modules[name]).__name__ for name in ("ssl", "subprocess", "inspect", "asyncio.sslproto")}
    return " ".join(kinds)

@llm_tool()
async def used(self):
    import inspect, ssl, subprocess
    wrong = []
    def check(what, ok):
        if not ok:
            wrong.append(what)
    ssl.create_default_context = "patched"
    check("a patch is kept", ssl.create_default_context == "patched" and issubclass(ssl.SSLError, OSError))
    check("what is not there", not hasattr(ssl, "nothing") and not hasattr(subprocess, "nothing"))
    check("a context", ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).check_hostname)
    check("asyncio's own", asyncio.sslproto.SSLProtocol.__module__ == "asyncio.sslproto")
    found, barrier = [], threading.Barrier(8)
    def read():
        barrier.wait()
        found.append(subprocess.Popen.__name__)
    threads = [threading.Thread(target=read) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    check("many at once", found == ["Popen"] * 8)
    check("constants", (subprocess.PIPE, subprocess.STDOUT, subprocess.DEVNULL) == (asyncio.subprocess.PIPE, asyncio.subprocess.STDOUT, asyncio.subprocess.DEVNULL))
    check("its contents", "signature" in dir(inspect) and str(inspect.signature(lambda a, *b: 0)) == "(a, *b)")
    import pathlib
    check("a path", str(pathlib.Path("a") / "b") == "a/b" and pathlib.Path.__module__.startswith("pathlib"))
    check("a module like others", type(inspect) is type(ssl) is type(sys))
    return ", ".join(wrong) or "right"
`)
		w.List()
		says(t, w.Call("resting", "{}"), "_Later")
		says(t, w.Call("used", "{}"), "right")
	})
}
