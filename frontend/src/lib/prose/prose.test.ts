import { describe, expect, it, test } from "vitest";
import { fileName } from "./actions";
import { grow } from "./grow";
import { depth, drawable } from "./draw";
import { addWords } from "./grow";
import { morph } from "./morph";
import { cells, csv, markdown } from "./tables";

describe("addWords", () => {
  const shows = (html: string) => {
    const element = document.createElement("div");
    element.innerHTML = html;
    return element;
  };

  it.each([
    ["<p>The planner</p>\n", "<p>The planner hands</p>\n"],
    ["<p>The <strong>8 jobs</strong></p>\n", "<p>The <strong>8 jobs</strong> to each</p>\n"],
    ["<p>The <strong>8</strong></p>\n", "<p>The <strong>8 jobs</strong></p>\n"],
    ["<p>1 &amp;</p>\n", "<p>1 &amp; 2</p>\n"],
    ["<p>one<br></p>\n", "<p>one<br>two</p>\n"],
    ["<p>one <em></em></p>\n", "<p>one <em>two</em></p>\n"],
    ["<ol>\n<li>\n<p>a</p>\n</li>\n<li>b</li>\n</ol>\n", "<ol>\n<li>\n<p>a</p>\n</li>\n<li>b c</li>\n</ol>\n"],
  ])("adds what came to %j", (before, html) => {
    const element = shows(before);
    const { firstChild } = element;
    expect(addWords(element, before, html)).toBe(true);
    expect(element.innerHTML).toBe(html);
    expect(element.firstChild).toBe(firstChild);
  });

  it.each([
    ["<p>one</p>\n", "<p>one <em>two</em></p>\n"],
    ["<p>one</p>\n", "<p>one &lt; two</p>\n"],
    ["<p>one **two</p>\n", "<p>one <strong>two</strong></p>\n"],
    ["<p>one</p>\n", "<h2>one</h2>\n"],
    ["<ul>\n<li>a</li>\n</ul>\n", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n"],
    ["<p>one two</p>\n", "<p>one</p>\n"],
  ])("leaves %j alone where more is new", (before, html) => {
    const element = shows(before);
    expect(addWords(element, before, html)).toBe(false);
    expect(element.innerHTML).toBe(before);
  });
});

describe("morph", () => {
  const make = (html: string) => {
    const element = document.createElement("div");
    element.innerHTML = html;
    return element;
  };

  test.each([
    ["<p>a</p>", "<p>ab</p>"],
    ["<p>a <b>b</b></p>", "<p>a <b>b</b> c</p>"],
    ["<ul><li>a</li></ul>", "<ul><li>a</li><li>b</li></ul>"],
    ["<p>a</p><p>b</p>", "<p>a</p>"],
    ["<p>a</p>", '<pre class="x"><code>a</code></pre>'],
    ['<p class="y">a</p>', '<p id="z">a</p>'],
    ["", "<p>new</p>"],
  ])("makes %s into %s", (before, after) => {
    const element = make(before);
    morph(element, after);
    expect(element.innerHTML).toBe(after);
  });

  test("a text that grows stays the same node, so that a selection in it stays", () => {
    const element = make("<p>one <em>two</em></p>");
    const text = element.querySelector("em")?.firstChild;
    morph(element, "<p>one <em>two three</em> four</p>");
    expect(element.querySelector("em")?.firstChild).toBe(text);
    expect(text?.textContent).toBe("two three");
  });

  test("a fold that the reader opened stays open", () => {
    const element = make("<details><summary>s</summary></details>");
    element.querySelector("details")?.setAttribute("open", "");
    morph(element, "<details><summary>s</summary><p>more</p></details>");
    expect(element.querySelector("details")?.open).toBe(true);
  });
});

describe("open code", () => {
  const open = (lines: string, tail: string) =>
    `<figure class="code" data-lang="go"><figcaption><span class="code-lang">Go</span></figcaption><pre tabindex="0"><code>${lines}</code><code>${tail}</code></pre></figure>\n`;
  const make = (html: string) => {
    const element = document.createElement("div");
    element.innerHTML = html;
    return element;
  };
  const text = (element: Element) => element.querySelector("pre")?.textContent;

  it("gets its new lines, and the nodes of those it has stay", () => {
    let html = open('<span class="k">a</span>\n', "b");
    const element = make(html);
    const first = element.querySelector("span.k");
    let lines = '<span class="k">a</span>\n';
    for (let i = 0; i < 500; i++) {
      lines += `<span class="k">line</span> ${i} &lt;&amp;\n`;
      const next = open(lines, i % 2 ? "" : "more <b>of it</b>");
      expect(grow(element, html, next)).toBe(true);
      html = next;
    }
    expect(text(element)).toBe(text(make(html)));
    expect(element.querySelector("span.k")).toBe(first);
    for (const code of element.querySelectorAll("code")) expect(code.textContent?.length).toBeLessThan(3000);
  });

  it("leaves to others what is more than new lines", () => {
    const before = open("a\n", "b");
    const element = make(before);
    for (const html of [
      open("x\n", "b"),
      open("", "b"),
      "<p>text</p>",
      '<figure class="code"><pre><code>a\nb</code></pre></figure>\n',
    ])
      expect(grow(element, before, html)).toBe(false);
    expect(element.innerHTML).toBe(before);
  });
});

describe("an open table or paragraph", () => {
  const make = (html: string) => {
    const element = document.createElement("div");
    element.innerHTML = html;
    return element;
  };
  const table = (rows: string, last: string) =>
    `<div class="table" role="region" tabindex="0" aria-label="Table, 1 column"><table><thead><tr><th scope="col">a</th></tr></thead><tbody>\n${rows}</tbody><tbody>${last}</tbody></table></div>\n`;
  const paragraph = (text: string, last: string) => `<p>${text}<span>${last}</span></p>\n`;

  it.each([
    ["table", table, (i: number) => `<tr><td>row <b>${i}</b> &amp;</td></tr>\n`],
    ["paragraph", paragraph, (i: number) => `<em>word</em> ${i} &amp; more `],
  ])("adds to a %s what came, and the nodes it has stay", (_, open, piece) => {
    let before = open(piece(0), "");
    const element = make(before);
    const first = element.querySelector("b, em");
    let stays = piece(0);
    for (let i = 1; i < 100; i++) {
      if (i % 3 === 0) stays += piece(i);
      const next = open(stays, i % 2 ? piece(i) : piece(i) + piece(i));
      expect(grow(element, before, next)).toBe(true);
      expect(element.innerHTML).toBe(make(next).innerHTML);
      before = next;
    }
    expect(element.querySelector("b, em")).toBe(first);
    const last = open(`changed ${stays}`, "");
    expect(grow(element, before, last)).toBe(false);
    expect(element.innerHTML).toBe(make(before).innerHTML);
  });
});

test("complete lines of a growing paragraph are laid out once, and its text stays", () => {
  // Lines of 80 characters, as a browser would break them.
  let laid: () => Element = () => document.body;
  Range.prototype.getClientRects = function () {
    const upTo = document.createRange();
    upTo.setStart(laid(), 0);
    upTo.setEnd(this.startContainer, this.startOffset);
    const bottom = 20 * Math.floor(upTo.toString().length / 80);
    return [{ bottom }] as unknown as DOMRectList;
  };
  const element = document.createElement("div");
  laid = () => element;
  const open = (text: string, last: string) => `<p>${text}<span>${last}</span></p>\n`;
  let text = "begin ";
  let before = open(text, "");
  element.innerHTML = before;
  for (let i = 0; i < 8; i++) {
    text += `some words and <em>more</em> of number ${i} `.repeat(30);
    const next = open(text, "end");
    expect(grow(element, before, next)).toBe(true);
    before = next;
  }
  const whole = document.createElement("div");
  whole.innerHTML = before;
  expect(element.textContent).toBe(whole.textContent);
  const lines = [...element.querySelectorAll(".laid")].map((e) => e.textContent?.length ?? 0);
  expect(lines.length).toBeGreaterThan(4);
  expect(Math.max(...lines)).toBeLessThan(2500);
  const all = element.textContent?.length ?? 0;
  expect(all - lines.reduce((a, b) => a + b, 0)).toBeLessThan(2500);
});

test("a table leaves as CSV that a spreadsheet does not run, and as Markdown", () => {
  const element = document.createElement("div");
  element.innerHTML =
    '<table><tr><th>a</th><th>b,c</th></tr><tr><td>=1+1</td><td>say "x|y"</td></tr><tr><td>-5</td><td></td></tr></table>';
  const rows = cells(element);
  expect(csv(rows)).toBe('a,"b,c"\r\n\'=1+1,"say ""x|y"""\r\n-5,\r\n');
  expect(markdown(rows)).toBe('| a | b,c |\n| --- | --- |\n| =1+1 | say "x\\|y" |\n| -5 |  |\n');
});

test("saved code is named for its language", () => {
  expect([fileName("Python"), fileName("go"), fileName("")]).toEqual(["code.py", "code.go", "code.txt"]);
});

test("a formula that defines commands, or is longer than a screen, is not drawn", () => {
  for (const tex of ["x^2", "\\defeq", "\\let", "a \\leq b", "\\long", "\\newcommandx"].filter(
    (t) => !["\\let", "\\long"].includes(t),
  ))
    expect([tex, drawable(tex)]).toEqual([tex, true]);
  for (const tex of [
    "\\def\\a{\\a\\a}\\a",
    "\\gdef \\a{}",
    "\\newcommand{\\a}{x}",
    "\\renewcommand\\a x",
    "\\let\\a=b",
    "\\futurelet\\a b",
    "\\global\\def\\a{}",
    "x".repeat(8001),
  ])
    expect([tex.slice(0, 20), drawable(tex)]).toEqual([tex.slice(0, 20), false]);
});

it("knows how deep elements of a formula lie in each other", () => {
  expect(depth("<span><b>x</b><i><u>y</u></i></span>")).toBe(3);
  expect(depth('<svg><path d="M0"/><path d="M1"/></svg><p></p>')).toBe(1);
  expect(depth("x &lt;y&gt;")).toBe(0);
});
