// Twelve lanes of a council that stream 50 tokens a second each, in Chromium, on a program that
// stands still (dist-fake): how many frames are drawn, and the longest task of the page; and how
// much work it is for the page, from a press on the line of a stored run of twelve members in four
// rounds until it is on the screen. Prints one line of JSON. Of three runs the best counts, since
// another's work only adds.
import { launch, serve } from "../e2e/browser.mjs";

const seconds = 5;
const site = await serve();
const browser = await launch();
const runs = [];

/** Returns what tells the work of the page's main thread so far, in ms. */
async function work(page) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  return async () => {
    const { metrics } = await devtools.send("Performance.getMetrics");
    return metrics.find((m) => m.name === "TaskDuration").value * 1000;
  };
}

for (let i = 0; i < 3; i++) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 1400 } });
  const busy = await work(page);
  await page.goto(`${site.url}/?scene=counciltwelve`);
  await page.waitForFunction(() => document.activeElement?.matches(".composer textarea"));
  await page.keyboard.press("Control+j");
  await page.locator("[data-lane=lovelace]").waitFor();
  const before = await busy();
  const run = await page.evaluate(
    (length) =>
      new Promise((resolve) => {
        const { council } = globalThis.fake;
        const words = "of the watering and what it does to a skin that has dried, ".split(/(?<= )/);
        const run = council.of("run-1");
        const lanes = run.lanes.filter((lane) => lane.tasks.length > 0);
        const began = lanes.map((lane) => lane.tasks[0].text.length);
        // What was said since a revision, as the program tells it.
        let said = "";
        const until = new Map();
        council.Run = async (_, since) => {
          const from = until.get(since) ?? 0;
          return {
            ...run,
            lanes: lanes.map((lane, i) => ({
              ...lane,
              tasks: [{ ...lane.tasks[0], text: said.slice(from), offset: began[i] + from }],
            })),
          };
        };
        let token = 0;
        const stream = setInterval(() => {
          said += words[token % words.length] + (token % 60 === 59 ? "\n" : "");
          token++;
          run.ms += 20;
          run.revision = globalThis.fake.bus.changed("council", "run-1");
          until.set(run.revision, said.length);
        }, 20);
        let longest = 0;
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) longest = Math.max(longest, entry.duration);
        }).observe({ type: "longtask" });
        let frames = 0;
        const start = performance.now();
        const frame = (now) => {
          frames++;
          if (now - start < length * 1000) return requestAnimationFrame(frame);
          clearInterval(stream);
          const shown = document.querySelector("[data-lane=lovelace] .tail").textContent.length;
          resolve({ frames: (frames * 1000) / (now - start), longest, tokens: token, shown });
        };
        requestAnimationFrame(frame);
      }),
    seconds,
  );
  run.busy = ((await busy()) - before) / (seconds * 60); // of the main thread, a frame
  runs.push(run);
  await page.close();
}
/** Opens the stored run; returns the page's work until it is painted. */
async function opened() {
  const page = await browser.newPage({ viewport: { width: 1280, height: 1400 } });
  await page.goto(`${site.url}/?scene=counciltwelvestored`);
  await page.waitForFunction(() => document.activeElement?.matches(".composer textarea"));
  await page.keyboard.press("Control+j");
  await page.locator("[data-lane=sceptic]").waitFor();
  const busy = await work(page);
  const before = await busy();
  await page.evaluate(async () => {
    const lines = [...document.querySelectorAll("button")];
    lines.find((button) => /^12 members/.test(button.innerText.trim())).click();
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const shown = () =>
      document.querySelector("[data-lane=lovelace]") && document.querySelectorAll(".results .points").length === 36;
    while (!shown()) await frame();
    await frame(); // which is begun once that one is painted
  });
  const ms = (await busy()) - before;
  await page.close();
  return ms;
}

const opening = [await opened(), await opened(), await opened()];
await browser.close();
site.close();
if (runs.some((run) => run.shown < 100)) throw new Error("the words did not reach the lanes");
console.log(
  JSON.stringify({
    frames: Math.max(...runs.map((run) => run.frames)),
    longest: Math.min(...runs.map((run) => run.longest)),
    busy: Math.min(...runs.map((run) => run.busy)),
    tokens: Math.max(...runs.map((run) => run.tokens)),
    opening: Math.min(...opening),
  }),
);
