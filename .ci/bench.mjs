// What .ci/bench runs: the Go benchmarks, the streaming of a reply in Chromium
// beside streamdown, and the real window beside a bare Wails window; then one
// table of all budgets.
//
// A Go benchmark says its budget itself, by a metric: "budget" is that of its
// metric whose unit names p50, "X-budget" that of its metric X. Whoever adds such
// a benchmark is in the table. For the others .ci/budgets.json says which metric
// may be how much.
import { spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { chats, inBrowser, inWindow } from "../frontend/bench/long.mjs";
import { fullData, use } from "../frontend/bench/real.mjs";
import { key, program, searched, started } from "../frontend/bench/start.mjs";
import { essay, ledger, program as code, reply } from "../frontend/bench/reply.mjs";
import { Place, root } from "../frontend/e2e/processes.mjs";

const asked = process.argv.slice(2).filter((word) => !word.startsWith("-"));
const only = asked.filter((word) => word.includes("/")); // Go packages
const wants = (part) =>
  asked.length === 0 ||
  asked.includes(part) ||
  (part === "go" && only.length > 0);
const rows = [];
const load = () => loadavg()[0].toFixed(1);

/** Adds a line to the table. Smaller is better, everywhere. */
function row(what, budget, measured, unit) {
  rows.push({ what, budget, measured, unit, load: load() });
  const verdict = measured <= budget ? "ok" : "MISS";
  console.log(
    `${verdict.padEnd(4)} ${what}: ${number(measured)} ${unit}, budget ${number(budget)}`,
  );
}

function missing(what, why) {
  rows.push({ what, why: String(why).split("\n")[0], load: load() });
  console.log(`MISS ${what}: ${why}`);
}

const number = (n) =>
  n >= 100 ? n.toFixed(0) : n >= 10 ? n.toFixed(1) : n.toFixed(3);

function run(command, args, options = {}) {
  const done = spawnSync(command, args, {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1 << 28,
    ...options,
  });
  if (done.error) throw done.error;
  return done;
}

function must(command, args, options) {
  const done = run(command, args, options);
  if (done.status !== 0)
    throw new Error(
      `${command} ${args.slice(0, 4).join(" ")}: ${done.stderr || done.stdout}`,
    );
  return done.stdout;
}

// Go: the packages of the list, and those whose benchmarks say a budget.
function goBudgets() {
  const listed = JSON.parse(
    readFileSync(join(root, ".ci", "budgets.json"), "utf8"),
  );
  const saying = run("grep", [
    "-rlE",
    "--include=*_test.go",
    'budget"',
    "app",
    "store",
    "plugins",
  ])
    .stdout.split("\n")
    .filter(Boolean)
    .map((file) => file.replace(/\/[^/]*$/, ""));
  for (const name of [
    ...new Set([...saying, ...listed.map((one) => one.package)]),
  ].sort()) {
    if (only.length > 0 && !only.includes(name)) continue;
    const mine = listed.filter((one) => one.package === name);
    const tops = mine.map((one) => one.benchmark.split("/")[0]);
    const which = saying.includes(name)
      ? "."
      : `^(${[...new Set(tops)].join("|")})$`;
    const figures = new Map();
    const seen = {}; // all runs, by benchmark and metric
    const out = benchmark(name, which, figures, seen);
    // What was missed is measured twice more, and the middle of the three counts: on a busy
    // machine once is chance.
    const missed = [...figures].filter(([bench, metrics]) =>
      budgets(bench, metrics, mine).some((b) => b.measured > b.budget),
    );
    const names = new Set(missed.map(([bench]) => bench.split("/")[0]));
    for (let again = 0; again < 2 && names.size > 0; again++)
      benchmark(name, `^(${[...names].join("|")})$`, figures, seen);
    const found = [...figures].flatMap(([bench, metrics]) =>
      budgets(bench, metrics, mine),
    );
    for (const { what, budget, measured, unit } of found)
      row(what, budget, measured, unit);
    for (const { what, benchmark: bench, metric } of mine)
      if (!found.some((b) => b.what === what))
        missing(what, `${name} ${bench} gave no ${metric}: ${why(out)}`);
    if (found.length === 0 && mine.length === 0)
      missing(name, `its benchmarks gave no figures: ${why(out)}`);
  }
}

/** Runs benchmarks of a package and adds their figures: the middle of those of all runs. */
function benchmark(name, which, figures, seen) {
  const args = [
    "test",
    "-run",
    "^$",
    "-bench",
    which,
    "-timeout",
    "30m",
    `./${name}`,
  ];
  const out = run("go", args).stdout;
  for (const line of out.split("\n")) {
    const [word, , ...rest] = line.trim().split(/\s+/);
    if (!word.startsWith("Benchmark") || rest.length < 2) continue;
    const bench = word.replace(/-\d+$/, "");
    const metrics = figures.get(bench) ?? {};
    const runs = (seen[bench] ??= {});
    for (let i = 0; i + 1 < rest.length; i += 2) {
      const all = (runs[rest[i + 1]] ??= []);
      all.push(Number(rest[i]));
      metrics[rest[i + 1]] = median(all);
    }
    figures.set(bench, metrics);
  }
  return out;
}

/** The budgets of one benchmark: those it says itself, and those of the list. */
function budgets(bench, metrics, listed) {
  const found = listed
    .filter(
      (one) => one.benchmark === bench && metrics[one.metric] !== undefined,
    )
    .map((one) => ({
      what: one.what,
      budget: one.budget,
      measured: metrics[one.metric] * (one.scale ?? 1),
      unit: one.unit ?? plain(one.metric),
    }));
  for (const [key, budget] of Object.entries(metrics)) {
    const [whole, given] = key.match(/^(?:(.+)-)?budget$/) ?? [];
    if (!whole) continue;
    const metric =
      given ??
      Object.keys(metrics).find(
        (m) => m.includes("p50") && !m.endsWith("budget"),
      );
    if (metrics[metric] !== undefined)
      found.push({
        what: words(bench),
        budget,
        measured: metrics[metric],
        unit: plain(metric),
      });
  }
  return found;
}

const why = (out) =>
  out.split("\n").find((l) => /FAIL|_test\.go:|panic/.test(l)) ?? "no output";

/** "BenchmarkChainOf50Calls/js" is "chain of 50 calls, js". */
const words = (bench) =>
  bench
    .replace(/^Benchmark/, "")
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    .replace(/([a-z])([0-9])/g, "$1 $2")
    .replace(/^./, (c) => c.toLowerCase())
    .replace(/ [A-Z](?=[a-z])/g, (c) => c.toLowerCase())
    .replace(/ A /g, " a ")
    .replace(/[/_]/g, (c) => (c === "/" ? ", " : " "));

/** "p50-ms" and "ms-p50" are both "ms". */
const plain = (metric) =>
  metric.replace(/-?p50-?/, "").replace(/-(peak|above-settle)/, "") || metric;

// The page: patches recorded from app/chat/render, in Chromium, beside streamdown.
function streaming() {
  const folder = mkdtempSync(join(tmpdir(), "conclave-patches-"));
  const recorded = (name, input) => {
    const file = join(folder, name);
    writeFileSync(
      file,
      must("go", ["run", "./app/test/bench/patches", "-chunk", "24"], { input }),
    );
    return file;
  };
  const out = must("npm", ["run", "--silent", "bench"], {
    cwd: join(root, "frontend"),
    env: {
      ...process.env,
      CONCLAVE_PATCHES: recorded("patches.json", reply(20_000)),
      CONCLAVE_LONG: JSON.stringify({
        program: recorded("program.json", code(27_000)),
        table: recorded("table.json", ledger(27_000)),
        paragraph: recorded("paragraph.json", essay(27_000)),
      }),
    },
  });
  rmSync(folder, { recursive: true });
  const last = JSON.parse(out.trim().split("\n").at(-1));
  if (!last.recorded)
    throw new Error("the patches were not recorded from app/chat/render");
  row(
    "an update of the page while a reply streams, beside streamdown 2.7.1",
    last.goal,
    last.value,
    "of its time",
  );
  row(
    "by how much code is folded while it streams",
    0,
    last.long.program.shrinks,
    "px",
  );
  // An update adds to what is there. A browser lays out a paragraph as one, so that
  // grows with it.
  const growth = { program: 2.5, table: 2.5, paragraph: 4 };
  for (const [what, result] of Object.entries(last.long)) {
    row(
      `an update at the end of a ${what} of 27,000 characters, beside one at its beginning`,
      growth[what],
      result.growth,
      "times",
    );
    row(
      `pieces of a ${what} of 27,000 characters that are not seen as they come`,
      0.05,
      result.unseen,
      "of all",
    );
  }
  console.log(
    `     its processor time with painting: ${last.cpu_ratio} of streamdown's`,
  );
}

// The page in Chromium, on a program that stands still: until it can be typed into, and its panel.
function page() {
  const cwd = join(root, "frontend");
  must("npm", ["run", "--silent", "build:fake"], { cwd });
  const out = must("node", ["bench/window.mjs"], { cwd });
  const { typing, dock, elements, written, matrix } = JSON.parse(out.trim().split("\n").at(-1));
  row(
    "the page's own work until the caret is in the composer",
    400,
    typing,
    "ms",
  );
  row("the page's own work to open a panel of 316 tools", 80, dock, "ms");
  row("elements of a panel of 316 tools", 600, elements, "elements");
  row("the page's own work for a key at the end of a draft of 20,000 characters", 16, written, "ms");
  row("the permissions of 200 plugins from the press until the first are shown", 100, matrix, "ms");
  const notes = JSON.parse(must("node", ["bench/progress.mjs"], { cwd }).trim().split("\n").at(-1));
  row("the page's own work for 10,000 notes of progress of a call, above one as long without", 20, notes.above, "ms");
}

// Twelve members of a council that speak at once, and their stored run that is opened, in the page
// on a program that stands still.
function council() {
  const cwd = join(root, "frontend");
  must("npm", ["run", "--silent", "build:fake"], { cwd });
  const out = must("node", ["bench/council.mjs"], { cwd });
  const { frames, longest, busy, opening } = JSON.parse(
    out.trim().split("\n").at(-1),
  );
  const what = "while 12 lanes stream 50 tokens a second each";
  row(`a frame ${what}`, 17.5, 1000 / frames, "ms");
  row(`the page's own work a frame, ${what}`, 8, busy, "ms");
  row(`the longest task, ${what}; 0: none over 50 ms`, 50, longest, "ms");
  row(
    "the page's own work to open a stored run of 12 members in 4 rounds",
    100,
    opening,
    "ms",
  );
}

const barePage = `<!doctype html><html><head><meta charset="utf-8"><title>Bare</title></head>
<body style="background:#fbfaf8;color:#1e1d1a;font:16px system-ui"><h1>A bare window</h1><p>It has one page of text, and nothing else.</p></body></html>
`;

/** The same with a field, to write in. */
const bareField = barePage.replace("</h1>", '</h1><textarea rows="20" cols="60" style="margin:4rem 0 0 24rem" autofocus></textarea>');

const bareMain = `package main

import (
	"embed"
	"io/fs"
	"os"

	"github.com/wailsapp/wails/v2"
	"github.com/wailsapp/wails/v2/pkg/options"
	"github.com/wailsapp/wails/v2/pkg/options/assetserver"
	"github.com/wailsapp/wails/v2/pkg/options/linux"
)

//go:embed dist field
var pages embed.FS

func main() {
	_ = os.Setenv("WEBKIT_DISABLE_DMABUF_RENDERER", "1")
	page := "dist"
	if len(os.Args) > 1 {
		page = os.Args[1]
	}
	dist, _ := fs.Sub(pages, page)
	if err := wails.Run(&options.App{
		Title: "Bare", Width: 1280, Height: 832,
		AssetServer:      &assetserver.Options{Assets: dist},
		BackgroundColour: options.NewRGB(0xFB, 0xFA, 0xF8),
		Linux:            &linux.Options{ProgramName: "bare", WebviewGpuPolicy: linux.WebviewGpuPolicyNever},
	}); err != nil {
		panic(err)
	}
}
`;

/** Builds a window that shows one page of text, with the Wails that Conclave has. */
function bare(folder) {
  for (const [name, page] of Object.entries({ dist: barePage, field: bareField })) {
    mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, name, "index.html"), page);
  }
  writeFileSync(join(folder, "main.go"), bareMain);
  const mod = readFileSync(join(root, "go.mod"), "utf8");
  writeFileSync(
    join(folder, "go.mod"),
    mod.replace(/^module .*/m, "module bare"),
  );
  cpSync(join(root, "go.sum"), join(folder, "go.sum"));
  const tags = [
    "-tags",
    "desktop,production,webkit2_41",
    "-trimpath",
    "-ldflags",
    "-s -w",
  ];
  must("go", ["build", "-mod=mod", ...tags, "-o", "bare", "."], {
    cwd: folder,
    env: { ...process.env, GOFLAGS: "", GOPROXY: "off" },
  });
  return join(folder, "bare");
}

/** Tools for a place, approved: n, in files of 158, since a plugin has 256 at most. */
function manyTools(place, n) {
  for (let from = 0; from < n; from += 158) {
    const functions = Array.from(
      { length: Math.min(158, n - from) },
      (_, i) =>
        `def tool_${from + i}(text: str) -> str:\n    """Does thing ${from + i}."""\n    return text\n`,
    );
    const name = `many${from}`;
    writeFileSync(join(place.plugins, `${name}.py`), functions.join("\n\n"));
    place.told("plugins", "trust", name);
  }
}

/** Fills a place's store: so many chats of 20 messages, and a draft of so many characters. */
function fill(place, chats, draft) {
  const asked = ["-data", place.data, "-chats", String(chats), "-messages", "20", "-draft", String(draft)];
  must("go", ["run", "./app/test/bench/chats", ...asked]);
}

/**
 * Page processes of WebKit that do not belong to a place. They share pages with ours,
 * so that the share that ours are counted with would be too small, and the ratio false.
 */
function foreignPages(place) {
  return readdirSync("/proc").filter((pid) => {
    try {
      if (!/^\d+$/.test(pid)) return false;
      if (
        readFileSync(`/proc/${pid}/comm`, "utf8").trim() !== "WebKitWebProces"
      )
        return false; // 15 letters
      return !readFileSync(`/proc/${pid}/environ`, "utf8")
        .split("\0")
        .includes(`HOME=${place.home}`);
    } catch (error) {
      return error.code === "EACCES"; // another user's
    }
  });
}

/** The memory of a process and all it started, shared pages counted by share. */
function memory(pid) {
  let kib = 0;
  try {
    kib = Number(
      readFileSync(`/proc/${pid}/smaps_rollup`, "utf8").match(
        /^Pss:\s+(\d+)/m,
      )[1],
    );
    for (const child of readFileSync(
      `/proc/${pid}/task/${pid}/children`,
      "utf8",
    )
      .split(" ")
      .filter(Boolean))
      kib += memory(child);
    for (const task of run("ls", [`/proc/${pid}/task`])
      .stdout.split("\n")
      .filter(Boolean))
      if (task !== String(pid))
        for (const child of readFileSync(
          `/proc/${pid}/task/${task}/children`,
          "utf8",
        )
          .split(" ")
          .filter(Boolean))
          kib += memory(child);
  } catch {
    // it ended meanwhile
  }
  return kib;
}

/**
 * Takes a file out of the page cache. The linker leaves a program there in pieces of
 * megabytes, of which the kernel maps the whole for one page that is touched, so that a
 * program just built has more memory than the same one after the machine's next start.
 */
const forget = (file) =>
  must("dd", [
    ...[`of=${file}`, "oflag=nocache", "conv=notrunc,fdatasync", "count=0"],
  ]);

const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];

/** How long nothing is done before memory is read: until then a window gives back what its start took. */
const idle = 5000;

/** The window's starts beside those of a bare Wails window, in turns; with weigh also the memory of both, in MB. */
async function besideBare(place, screen, programs, weigh = false) {
  const took = { bare: [], conclave: [] };
  const size = { bare: [], conclave: [] };
  const foreign = new Set();
  for (let turn = 0; turn < 6; turn++) {
    for (const [name, program] of Object.entries(programs)) {
      const { child, took: now } = await started(place, screen, program, name === "conclave");
      await screen.still();
      if (turn > 0) took[name].push(now); // the first start only warms the disk
      if (turn > 0 && weigh) {
        await new Promise((resolve) => setTimeout(resolve, idle));
        size[name].push(memory(child.pid) / 1024);
        for (const pid of foreignPages(place)) foreign.add(pid);
      }
      await place.end(child);
      if (name === "conclave") await place.free();
    }
  }
  const middle = (name, what) => median(took[name].map((one) => one[what]));
  const [paint, typing, drawn] = ["paint", "typing", "drawn"].map((what) => middle("conclave", what));
  return { bare: middle("bare", "paint"), paint, typing, drawn, size, foreign };
}

/** The rows of a start: until one can write, and until the list of chats is drawn. */
function startRows(what, { bare, paint, typing, drawn }, budget, whole) {
  const ms = [bare, paint, typing, drawn].map((n) => n.toFixed(0));
  console.log(`     with ${what}: first paint of a bare window ${ms[0]} ms, ours ${ms[1]}, one can write ${ms[2]}, all is drawn ${ms[3]}`);
  const beside = `with ${what}, beside a bare window's first paint`;
  row(`the window's start until it can be typed into, ${beside}`, budget, typing / bare, "times");
  row(`the window's start until its list of chats is drawn, ${beside}`, whole, drawn / bare, "times");
}

/** The row of the memory of both, whose pages no other window may share. */
function memoryRow({ size, foreign }) {
  const [bare, ours] = [median(size.bare), median(size.conclave)];
  console.log(`     memory: bare ${bare.toFixed(0)} MB, Conclave ${ours.toFixed(0)} MB`);
  const what = "the memory of all its processes, beside a bare Wails window";
  if (foreign.size > 0)
    missing(
      what,
      `not measured: another window of WebKit was open (process ${[...foreign].join(", ")}), which shares pages with both and makes the ratio false. Close it, and measure again.`,
    );
  else row(what, 1.2, ours / bare, "times");
}

async function windows() {
  const place = new Place();
  const folder = mkdtempSync(join(tmpdir(), "conclave-bare-"));
  try {
    place.gtk({ "gtk-cursor-blink": 0 }); // a caret that blinks changes the picture
    const screen = await place.screen();
    await place.bus();
    for (const question of ["What can you do?", "What else?"]) place.told("prompt", "-m", "demo/guide", question);
    const programs = { bare: [bare(folder), []], conclave: program(place) };
    for (const [file] of Object.values(programs)) forget(file);
    const few = await besideBare(place, screen, programs, true);
    startRows("2 chats", few, 1.5, 1.5);
    row("the window's start to its first paint, beside a bare Wails window", 1.1, few.paint / few.bare, "times");
    memoryRow(few);
    manyTools(place, 316);
    fill(place, 5000, 0);
    startRows("5,000 chats and 316 tools", await besideBare(place, screen, programs), 1.7, 2);
    fill(place, 0, 20_000);
    const letter = await key(place, screen, [programs.bare[0], ["field"]], "Bare");
    const written = await key(place, screen, program(place), "Conclave");
    console.log(`     a key is shown in a bare window after ${letter.toFixed(0)} ms, at the end of 20,000 characters after ${written.toFixed(0)} ms`);
    row(
      "a key at the end of a draft of 20,000 characters until it is shown, above one in a bare window",
      16,
      written - letter,
      "ms",
    );
    // It waits for 80 ms until nothing more is typed.
    row("a search of 100,000 messages as it is typed, after the pause", 30, (await searched(place, screen)) - 80, "ms");
  } finally {
    await place.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The real window in use, with what a person has after a year; everything beside a part of the same run. */
async function inUse() {
  const place = new Place();
  try {
    const screen = await place.screen();
    await place.bus();
    manyTools(place, 316);
    fullData(place);
    const { first, blank, find, short, panel, list, streams } = await use(
      place,
      screen,
    );
    row(
      "the first text of an answer after Enter in 10,000 messages, above what the model takes",
      200,
      first,
      "ms",
    );
    console.log(
      `     find in 10,000 messages: ${find.toFixed(0)} ms, in 20: ${short.toFixed(0)} ms; panel of 316 tools: ${panel.toFixed(0)} ms, the list of chats: ${list.toFixed(0)} ms`,
    );
    for (const [what, { updates, gap }] of Object.entries(streams))
      console.log(
        `     ${what} at its end: ${updates.toFixed(0)} pictures a second, the longest pause ${gap.toFixed(0)} ms`,
      );
    // A picture of one long block may cost what three of short ones do: the browser
    // lays out more of it, and no fold may hide what comes.
    for (const what of ["program", "table", "paragraph"])
      row(
        `the window's pictures of prose while it streams, beside those of one ${what} of 27,000 characters`,
        3,
        streams.prose.updates / streams[what].updates,
        "times",
      );
    row(
      "looks at a screen without text while PageUp is held in 10,000 messages",
      8,
      blank,
      "of 80",
    );
    row(
      "a find in 10,000 messages until it is shown, beside one in 20",
      2,
      find / short,
      "times",
    );
    row(
      "the panel of 316 tools until it is shown, beside the list of chats",
      3, // it measures its rows first; drawn whole, it took four to eight times
      panel / list,
      "times",
    );
  } finally {
    await place.close();
  }
}

/** A chat of long answers beside one of short ones, on the real program in both engines. */
async function longAnswers() {
  const place = new Place();
  try {
    const screen = await place.screen();
    await place.bus();
    chats(place);
    const what = "a chat of 40 answers of 100,000 characters until it is shown";
    const engines = {
      Chromium: await inBrowser(place),
      "the window": await inWindow(place, screen),
    };
    for (const [engine, { short, long, elements }] of Object.entries(engines)) {
      row(`${what}, in ${engine}`, 150, long, "ms");
      row(
        `${what}, in ${engine}, beside one of 300`,
        1.5,
        long / short,
        "times",
      );
      if (elements)
        row("elements of the page that shows it", 3000, elements, "elements");
    }
  } finally {
    await place.close();
  }
}

/** What a process that does nothing costs here: 1 ms on a machine at rest. */
function floor() {
  const took = [];
  for (let i = 0; i < 30; i++) {
    const began = performance.now();
    spawnSync("/bin/true");
    took.push(performance.now() - began);
  }
  return median(took);
}

const columns = (budget, measured, unit, ratio) =>
  `${budget.padStart(8)} ${measured.padStart(9)} ${unit.padEnd(13)}${ratio.padStart(6)}  `;

const head = columns("budget", "measured", "", "ratio").trimEnd();

/** A line of the table; what it is about begins after the columns and ends at two spaces. */
function line(r) {
  if (r.why) return `${columns("", "", "", "")}${r.what}  ${r.why}  MISS`;
  const ratio = r.budget > 0 ? (r.measured / r.budget).toFixed(2) : "";
  const miss = r.measured <= r.budget ? "" : "  MISS";
  return columns(number(r.budget), number(r.measured), r.unit, ratio) + r.what + miss;
}

const table = () => [head, ...rows.map(line)].join("\n");

/**
 * Puts the verdicts into docs/PERFORMANCE.md. A run of some parts replaces their
 * lines and leaves the others, which it marks with a star: they are older.
 */
function write(machine) {
  const file = join(root, "docs", "PERFORMANCE.md");
  const text = readFileSync(file, "utf8");
  const [, before, old, after] =
    text.match(/^([^]*<!-- verdicts -->\n)([^]*?)(<!-- end -->[^]*)$/) ?? [];
  if (before === undefined)
    throw new Error(`${file} has no place for verdicts`);
  const at = columns("", "", "", "").length;
  const about = (l) => l.slice(at).split("  ")[0].replace(/\*$/, "");
  const fresh = new Map(rows.map((r) => [r.what, line(r)]));
  const kept = old.split("\n").filter((l) => l.length > at && /^ /.test(l));
  const lines = [];
  for (const l of asked.length > 0 ? kept : []) {
    const what = about(l);
    lines.push(
      fresh.get(what) ??
        l.slice(0, at) + l.slice(at).replace(/\*?( {2}|$)/, "*$1"),
    );
    fresh.delete(what);
  }
  lines.push(...fresh.values());
  writeFileSync(
    file,
    `${before}\n${machine}.\n\n\`\`\`text\n${[head, ...lines].join("\n")}\n\`\`\`\n\n${after}`,
  );
}

const nothing = floor();
const began = load();
for (const [part, measure] of Object.entries({
  go: goBudgets,
  streaming,
  page,
  council,
  window: windows,
  use: inUse,
  long: longAnswers,
})) {
  if (!wants(part)) continue;
  console.log(`\n== ${part} (load ${load()})`);
  try {
    await measure();
  } catch (error) {
    missing(part, error.message);
  }
}
const misses = rows.filter((r) => r.why || r.measured > r.budget).length;
const machine = `${new Date().toISOString().slice(0, 10)}; load ${began} at the beginning, ${load()} at the end; starting a process that does nothing took ${nothing.toFixed(1)} ms`;
console.log(
  `\n${table()}\n\n${machine}\n${rows.length - misses} within budget, ${misses} missed`,
);
if (process.argv.includes("--write")) write(machine);
process.exitCode = misses > 0 ? 1 : 0;
