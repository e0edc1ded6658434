/** What the app in memory says: rendered blocks in the shape that app/render gives, and scripted replies. */
import type { Failure } from "../generated";

export function escape(text: string): string {
  return text
    .replace(/&/g, "&amp;")
    .replace(/</g, "&lt;")
    .replace(/>/g, "&gt;")
    .replace(/"/g, "&quot;");
}

/** Plain text as paragraphs. */
export function paragraphs(text: string): string[] {
  return text
    .split(/\n{2,}/)
    .map((p) => p.trim())
    .filter(Boolean)
    .map((p) => `<p>${escape(p).replace(/\n/g, "<br>")}</p>`);
}

const k = (t: string) => `<span class="k">${t}</span>`;
const str = (t: string) => `<span class="s">${t}</span>`;
const com = (t: string) => `<span class="c">${t}</span>`;
const fn = (t: string) => `<span class="nf">${t}</span>`;

export const code = {
  python: `<figure class="code" data-lang="python" data-lines="6"><figcaption><span class="code-lang">Python</span> <span class="code-lines">6 lines</span></figcaption><pre tabindex="0"><code>${com("# word_count.py: every function here is a tool")}
${k("def")} ${fn("word_count")}(text: str) -&gt; int:
    ${str('"""Count the words of a text."""')}
    ${k("return")} len(text.split())

print(word_count(${str('"a b c"')}))
</code></pre></figure>`,
  go: `<figure class="code" data-lang="go" data-lines="8"><figcaption><span class="code-lang">Go</span> <span class="code-lines">8 lines</span></figcaption><pre tabindex="0"><code>${k("func")} ${fn("step")}(ctx context.Context, in &lt;-${k("chan")} Job) ${k("error")} {
	${k("for")} job := ${k("range")} in {
		${k("if")} err := job.Run(ctx); err != nil {
			${k("return")} fmt.Errorf(${str('"step: %w"')}, err)
		}
	}
	${k("return")} nil
}
</code></pre></figure>`,
};

export const table = `<div class="table" role="region" tabindex="0" aria-label="Table, 3 columns, 3 rows"><table><thead><tr><th scope="col">Tool</th><th scope="col" class="right">Calls</th><th scope="col">Note</th></tr></thead><tbody><tr><td>word_count</td><td class="right">12</td><td>counts words</td></tr><tr><td>convert</td><td class="right">4</td><td>units of length, mass and heat</td></tr><tr><td>roll</td><td class="right">31</td><td>dice such as <code>3d6+2</code></td></tr></tbody></table></div>`;

export const maths = `<div class="math" data-tex="\\int_0^1 x^2\\,dx = \\frac{1}{3}">\\int_0^1 x^2\\,dx = \\frac{1}{3}</div>`;

export const mermaid = `<pre class="mermaid" data-source="graph LR\n  You --&gt; Model\n  Model --&gt; Tool\n  Tool --&gt; Model">graph LR
  You --&gt; Model
  Model --&gt; Tool
  Tool --&gt; Model</pre>`;

/** Everything an answer can look like. */
export const showcase: string[] = [
  '<p>This is what an answer can look like. It is <strong>scripted</strong>, and it is drawn by the same code that draws a real one: <em>emphasis</em>, <del>struck text</del>, <code>inline code</code>, a <a href="https://example.org/docs" rel="noopener noreferrer nofollow" target="_blank" data-host="example.org">link to a page</a> and a footnote<sup class="footnote-ref" data-footnote-ref="1">1</sup>.</p>',
  "<h3>A list with parts</h3>",
  "<ol><li>Read the file</li><li>Check it against what you expect<ul><li>a nested point</li><li>another one</li></ul></li><li>Write it back</li></ol>",
  '<ul><li><input type="checkbox" disabled checked> Ask before anything is written</li><li><input type="checkbox" disabled> Keep a copy</li></ul>',
  "<h3>Code, with its language and a way to copy it</h3>",
  code.python,
  "<h3>A table</h3>",
  table,
  "<blockquote><p>A quoted remark. Nothing is allowed until you say so.</p></blockquote>",
  maths,
  mermaid,
  '<p><span class="blocked-image" role="button" tabindex="0" data-src="https://example.org/chart.png" data-host="example.org">Load image from example.org</span></p>',
  '<div class="footnote" data-footnote="1"><span class="footnote-label">1</span><p>Its text stands where it was written.</p></div>',
  "<p>That is all of it. Ask for a tool next.</p>",
];

/** One step of a scripted reply. */
export type Step =
  | { think: string; ms: number }
  | { say: string }
  | {
      call: {
        tool: string;
        title: string;
        doing?: string;
        did?: string;
        plugin: string;
        args: unknown;
      };
      ask: boolean;
      result: string;
      problem?: string;
      ms?: number;
      hidden?: number;
    }
  | { fail: Failure }
  | { wait: number; retrying?: string };

const write = (file: string) => ({
  tool: "notes:write_note",
  title: "Write note",
  doing: "write a note",
  did: "Wrote a note",
  plugin: "Notes",
  args: { path: `Reports/${file}`, text: "Three things to do on Tuesday.\nCall the printer." },
});

/** What the guide answers to a text. */
export function reply(text: string): Step[] {
  const has = (word: string) => text.toLowerCase().includes(word);
  if (has("permission")) {
    return [
      { think: "The person wants to see a permission request. I will write a small note.", ms: 40 },
      {
        say: "<p>I will write a small note with the <strong>Notes</strong> plugin. You will be asked first.</p>",
      },
      {
        call: write("tuesday.md"),
        ask: true,
        result: '{"written": 48, "path": "Reports/tuesday.md"}',
        ms: 12,
      },
      {
        say: "<p>That is how it works: the tool ran only because you allowed it, and you can take the permission back under <em>Settings, Permissions</em>.</p>",
      },
    ];
  }
  if (has("false card")) {
    const lines = "Allowed once by you at 14:07\n".repeat(400);
    return [
      {
        call: {
          ...write("x.md"),
          args: {
            [`<button>Allow once</button> ${"wide".repeat(200)}`]: "<h3>Demo guide is done</h3>",
            "\n\nAllow": lines,
            text: `${"x".repeat(3000)}\u05d0\u05d1 <img src=x onerror=alert(1)>`,
            ...Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`more_${i}`, i])),
          },
        },
        ask: true,
        result: "{}",
      },
    ];
  }
  if (has("ten prompts") || has("batch")) {
    const n = has("batch") ? 6 : 10;
    return [
      { say: "<p>Several things need your word.</p>" },
      ...Array.from({ length: n }, (_, i): Step => {
        const call = has("batch")
          ? write(`part-${i + 1}.md`)
          : { ...write(`part-${i + 1}.md`), tool: `notes:write_${i + 1}`, title: `Write ${i + 1}` };
        return { call, ask: true, result: "ok", ms: 3 };
      }),
      { say: "<p>Done.</p>" },
    ];
  }
  if (has("fail")) {
    return [
      { say: "<p>Here is the beginning of an answer, which stays when</p>" },
      {
        fail: {
          kind: "provider",
          message: "The connection to api.example.org was cut in the middle of the answer.",
          hint: "Try again, or try another model.",
          detail: "",
          ref: "",
        },
      },
    ];
  }
  if (has("retry"))
    return [
      { wait: 2500, retrying: "api.example.org is overloaded. Trying again in 2 s." },
      { say: "<p>It worked the second time.</p>" },
    ];
  if (has("slow")) return [{ wait: 60_000 }, { say: "<p>Here at last.</p>" }];
  if (has("error")) {
    return [
      {
        call: {
          tool: "text:word_count",
          title: "Word count",
          plugin: "Text tools",
          args: { txt: "a b c" },
        },
        ask: false,
        result: "",
        problem: "word_count() got an unexpected keyword argument 'txt'",
        ms: 2,
      },
      { say: "<p>The tool refused my arguments, so I counted by hand: <strong>3</strong>.</p>" },
    ];
  }
  if (has("count") || has("tool")) {
    return [
      { think: "word_count fits. It only computes.", ms: 30 },
      {
        call: {
          tool: "text:word_count",
          title: "Word count",
          plugin: "Text tools",
          args: { text: "a b c" },
        },
        ask: false,
        result: "3",
        ms: 1.2,
        hidden: 3,
      },
      { say: "<p>The text has <strong>3</strong> words.</p>" },
    ];
  }
  if (has("long")) return Array.from({ length: 40 }, (_, i) => ({ say: longParagraph(i) }));
  return showcase.map((say) => ({ say }));
}

export function longParagraph(i: number): string {
  return `<p>Paragraph ${i + 1}. The scheduler keeps ${i + 3} workers busy; each one takes a job from <code>queue-${i}</code> and reports back. When the queue is empty the worker sleeps, and wakes on a signal. This sentence is here so that a paragraph has the length a person would write.</p>`;
}

/** The beginnings of a paragraph, as it would stream: whole tags, some words more each time. */
export function growing(html: string): string[] {
  const simple = /^<p>([\s\S]*)<\/p>$/.exec(html);
  if (!simple?.[1]) return [html];
  const pieces = simple[1].match(/<[^>]+>[^<]*<\/[^>]+>|<[^>]+>|[^\s<]+\s*|\s+/g) ?? [];
  const steps: string[] = [];
  let text = "";
  for (const [i, piece] of pieces.entries()) {
    text += piece;
    if (i % 4 === 3 || i === pieces.length - 1) steps.push(`<p>${text}</p>`);
  }
  return steps;
}

export function words(html: string): number {
  return html
    .replace(/<[^>]+>/g, " ")
    .split(/\s+/)
    .filter(Boolean).length;
}
