/** What scenes show: rendered blocks in the shape that app/chat/render gives. */
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

const maths = `<div class="math" data-tex="\\int_0^1 x^2\\,dx = \\frac{1}{3}">\\int_0^1 x^2\\,dx = \\frac{1}{3}</div>`;

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

export function longParagraph(i: number): string {
  return `<p>Paragraph ${i + 1}. The scheduler keeps ${i + 3} workers busy; each one takes a job from <code>queue-${i}</code> and reports back. When the queue is empty the worker sleeps, and wakes on a signal. This sentence is here so that a paragraph has the length a person would write.</p>`;
}

export function words(html: string): number {
  return html
    .replace(/<[^>]+>/g, " ")
    .split(/\s+/)
    .filter(Boolean).length;
}
