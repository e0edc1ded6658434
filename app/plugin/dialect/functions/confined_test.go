package functions_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"conclave/app/plugin/dialect/functions"
	"conclave/app/plugin/python/pythontest"
	"conclave/app/plugin/worker/confine"
)

const behind = `
import conclave, os, sys
from pathlib import Path

def keeps():
    path = conclave.storage_dir() / "notes" / "a.txt"
    path.parent.mkdir(exist_ok=True)
    path.write_text("kept")
    return path.read_text()
def own_data(): return (Path(__file__).parent / "data.json").read_text()
def modules():
    import asyncio, bisect, collections, contextlib, csv, ctypes, datetime, decimal, difflib, email, fractions, functools
    import hashlib, html, inspect, itertools, json, logging, math, pathlib, queue, random, re, secrets, shutil, sqlite3
    import statistics, string, struct, tempfile, textwrap, threading, traceback, typing, unicodedata, urllib.parse, uuid
    import xml.etree.ElementTree, zlib, zoneinfo
    with sqlite3.connect(":memory:") as db:
        one = db.execute("select 1").fetchone()[0]
    with tempfile.TemporaryFile() as f:
        f.write(b"x")
    done = []
    thread = threading.Thread(target=lambda: done.append(1))
    thread.start()
    thread.join()
    zone = zoneinfo.ZoneInfo("Europe/Berlin").utcoffset(datetime.datetime(2024, 7, 1)).total_seconds()
    return [one, done, zone, len(secrets.token_hex(4))]
async def aworks():
    import asyncio
    return await asyncio.to_thread(lambda: "thread")
def passwd(): return open("/etc/passwd").read()
def home(path: str): return os.listdir(path)
def beside(): open(Path(__file__).parent / "new.txt", "w")
def socket(): import socket as s; s.create_connection(("127.0.0.1", 9), 1)
def program(): import subprocess; subprocess.run(["/bin/true"], check=True)
def fork(): os.fork()
def hoard():
    data = []
    while True: data.append(bytearray(1 << 20))
`

func TestInTheSandboxWhatAPluginNeedsWorksAndTheRestIsRefused(t *testing.T) {
	if runtime.GOOS != "linux" || confine.Detect().Level != "process+landlock" {
		t.Skip("this system has no walls")
	}
	endPythons(t, func(t *testing.T, d *functions.Dialect) {
		dir := files(t, map[string]string{"kit/kit.py": behind, "kit/data.json": "own"})
		w := pythontest.BehindWalls(t, d, filepath.Join(dir, "kit"))
		w.List()
		equal(t, "storage", w.Call("keeps", "").Text(), "kept")
		equal(t, "own data", w.Call("own_data", "").Text(), "own")
		equal(t, "modules", w.Call("modules", "").Text(), "[1,[1],7200.0,8]")
		equal(t, "async", w.Call("aworks", "").Text(), "thread")
		for name, class := range map[string]string{
			"passwd": "PermissionError", "beside": "PermissionError", "socket": "PermissionError", "program": "", "fork": "",
		} {
			got := w.Call(name, "")
			if got.Meta.Status != "raised" || class != "" && got.Meta.ErrorType != class {
				t.Errorf("%s: got %s %s, want it refused", name, got.Meta.Status, got.Text())
			}
		}
		equal(t, "home", w.Call("home", fmt.Sprintf(`{"path":%q}`, filepath.Dir(dir))).Meta.ErrorType, "PermissionError")
		equal(t, "memory", w.Call("hoard", "").Meta.ErrorType, "MemoryError")
		equal(t, "after memory ran out", w.Call("own_data", "").Text(), "own")
	})
}

func TestInTheSandboxASingleFileReadsItsSiblingsAndNoOther(t *testing.T) {
	if runtime.GOOS != "linux" || confine.Detect().Level != "process+landlock" {
		t.Skip("this system has no walls")
	}
	d := aPython(t)
	dir := files(t, map[string]string{
		"plug.py": "import helper, pathlib\nhere = pathlib.Path(__file__).parent\ndef f(): return helper.N\ndef spy(): " +
			"return (here / 'other.py').read_text()\n",
		"helper.py": "N = 'sibling'\n",
		"other.py":  "SECRET = 1\n",
	})
	w := pythontest.BehindWalls(t, d, filepath.Join(dir, "plug.py"))
	w.List()
	equal(t, "sibling", w.Call("f", "").Text(), "sibling")
	equal(t, "another plugin", w.Call("spy", "").Meta.ErrorType, "PermissionError")
	w = pythontest.BehindWalls(t, d,
		filepath.Join(files(t, map[string]string{"bad.py": "open('/etc/passwd')\n"}), "bad.py"))
	problem := w.Initialize()
	if problem == nil || !strings.Contains(problem.Hint, "permission") {
		t.Errorf("got %+v, want a problem with a hint", problem)
	}
}
