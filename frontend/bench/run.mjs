// node bench/run.mjs [patches.json]
//
// patches.json is written by app/chat/render: {"text": "…", "chunk": 24, "deltas": [{"patches": [{"block",
// "html", "done"}]}]}, or only the list of deltas, for the text of bench/reply.mjs. Without it a
// stand-in is streamed, which tries the harness and proves nothing about app/chat/render.
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { launch, serve } from "../e2e/browser.mjs";
import { reply } from "./reply.mjs";
import { standIn } from "./stand-in.mjs";

const given = process.argv[2] ?? process.env.CONCLAVE_PATCHES;
let text = reply(20_000);
let chunk = 24;
let deltas;
if (given) {
  const recorded = JSON.parse(await readFile(given, "utf8"));
  if (Array.isArray(recorded)) deltas = recorded;
  else ({ text = text, chunk = chunk, deltas } = recorded);
} else deltas = standIn(text, chunk);

const site = await serve(fileURLToPath(new URL("./dist", import.meta.url)));
const browser = await launch();

async function run(what, ...args) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 832 } });
  await page.goto(site.url);
  await page.waitForFunction(() => globalThis.bench);
  // Time of the main thread's own processor, so that a busy machine does not count.
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  const busy = async () => {
    const { metrics } = await devtools.send("Performance.getMetrics");
    return metrics.find((m) => m.name === "TaskDuration").value * 1000;
  };
  const before = await busy();
  const result = await page.evaluate(([w, a]) => globalThis.bench[w](...a), [what, args]);
  result.cpu = ((await busy()) - before) / result.updates;
  await page.close();
  return result;
}

// Three times each, alternating; the best run of each counts, since noise only adds.
const results = { ours: [], peer: [] };
for (let i = 0; i < 3; i++) {
  results.ours.push(await run("ours", deltas));
  results.peer.push(await run("peer", text, chunk));
}

// One long block each, as app/chat/render streams it: what an update costs at its end, and
// how many of the deltas are seen at once.
const long = {};
for (const [what, file] of Object.entries(JSON.parse(process.env.CONCLAVE_LONG ?? "{}"))) {
  const { text: written, chunk: size, deltas: pieces } = JSON.parse(await readFile(file, "utf8"));
  const runs = [];
  for (let i = 0; i < 3; i++) runs.push(await run("ours", pieces));
  long[what] = runs.toSorted((a, b) => a.growth - b.growth)[0];
  const hidden = addresses(written);
  long[what].unseen =
    pieces.filter((d, i) => d.patches.length === 0 && !hidden(i * size, (i + 1) * size)).length / pieces.length;
}

/** Tells whether all between two characters is a part of the address of a link, which nobody sees. */
function addresses(markdown) {
  const found = [...markdown.matchAll(/\]\([^)]*\)/g)].map((m) => [m.index, m.index + m[0].length]);
  return (from, to) => found.some(([begin, end]) => begin <= from && to <= end);
}
await browser.close();
site.close();

const best = (list) => list.toSorted((a, b) => a.mean - b.mean)[0];
const leastCPU = (list) => Math.min(...list.map((r) => r.cpu));
const ours = best(results.ours);
const peer = best(results.peer);
const line = (name, r) =>
  console.log(
    `${name.padEnd(18)} ${String(r.updates).padStart(4)} updates  mean ${r.mean.toFixed(3)} ms  p50 ${r.p50.toFixed(3)}  p99 ${r.p99.toFixed(3)}  max ${r.max.toFixed(2)}  total ${r.total.toFixed(0)} ms`,
  );
console.log(
  `${text.length} characters, ${given ? "patches recorded from app/chat/render" : "stand-in patches (no recording given)"}`,
);
line("conclave", ours);
line("streamdown 2.7.1", peer);
for (const [what, result] of Object.entries(long)) line(`a long ${what}`, result);
const cpu = { ours: leastCPU(results.ours), peer: leastCPU(results.peer) };
console.log(
  `main thread's processor time an update, paint included: ${cpu.ours.toFixed(3)} ms against ${cpu.peer.toFixed(3)} ms`,
);
const ratio = (a, b) => Number((a / b).toFixed(4));
console.log(
  JSON.stringify({
    metric: "chromium_update_ratio",
    value: ratio(ours.mean, peer.mean),
    goal: 0.25,
    cpu_ratio: ratio(cpu.ours, cpu.peer),
    recorded: Boolean(given),
    long,
  }),
);
