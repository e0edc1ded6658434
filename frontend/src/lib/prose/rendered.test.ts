import { flushSync, mount, unmount } from "svelte";
import { expect, it, vi } from "vitest";
import { BlockView } from "../chat/entry.svelte";
import Rendered from "./Rendered.svelte";

const open = (lines: string) =>
  `<figure class="code" data-lang="go"><figcaption><span class="code-lang">Go</span></figcaption><pre tabindex="0"><code>${lines}</code><code></code></pre></figure>\n`;
const folded = (head: string, rest: string) =>
  `<figure class="code" data-lang="go" data-lines="2"><figcaption><span class="code-lang">Go</span> <span class="code-lines">2 lines</span></figcaption><pre tabindex="0"><code>${head}</code></pre><details class="code-rest"><summary>Show all 2 lines</summary><pre tabindex="0"><code>${rest}</code></pre></details></figure>\n`;

it("code that folds when it is complete stays open for who saw it come", async () => {
  const block = new BlockView();
  const seen = mount(Rendered, { target: document.body, props: { block, row: 0 } });
  block.html = open("a\n");
  block.held = true;
  flushSync();
  block.html = open("a\nb\n");
  flushSync();
  expect(document.querySelector("pre")?.textContent).toBe("a\nb\n");
  block.html = folded("a\n", "b\n");
  block.done = true;
  flushSync();
  expect(document.querySelector("details")?.open).toBe(true);
  await unmount(seen);

  const later = mount(Rendered, { target: document.body, props: { block, row: 0 } });
  flushSync();
  expect(document.querySelector("details")?.open).toBe(false);
  await unmount(later);
});

it("words at the end of a block are added without reading it again", async () => {
  const block = new BlockView();
  const seen = mount(Rendered, { target: document.body, props: { block, row: 0 } });
  block.html = "<p>The planner</p>\n";
  block.held = true;
  flushSync();
  const made = vi.spyOn(document, "createElement");
  block.html = "<p>The planner hands</p>\n";
  flushSync();
  expect(document.querySelector("p")?.textContent).toBe("The planner hands");
  expect(made).not.toHaveBeenCalled();
  await unmount(seen);
});
