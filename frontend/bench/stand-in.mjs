// Patches for a run without a recording from Go: the text's blocks escaped, each in the element it
// would have. It is only good for trying the harness; app/chat/render records the real ones.

const escape = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

function html(block) {
  if (block.startsWith("```"))
    return `<figure class="code" data-lang="go"><figcaption></figcaption><pre><code>${escape(block)}</code></pre></figure>`;
  if (block.startsWith("|")) {
    const rows = block.split("\n").map(
      (row) =>
        `<tr>${row
          .split("|")
          .slice(1, -1)
          .map((c) => `<td>${escape(c)}</td>`)
          .join("")}</tr>`,
    );
    return `<div class="table"><table>${rows.join("")}</table></div>`;
  }
  if (/^\d\. /.test(block))
    return `<ol>${block
      .split("\n")
      .map((l) => `<li>${escape(l)}</li>`)
      .join("")}</ol>`;
  return block.startsWith("## ") ? `<h4>${escape(block.slice(3))}</h4>` : `<p>${escape(block)}</p>`;
}

/** [{patches: [{block, html, done}]}], one for each delta of `chunk` characters. */
export function standIn(text, chunk) {
  const deltas = [];
  let before = [];
  for (let end = chunk; end < text.length + chunk; end += chunk) {
    const blocks = text.slice(0, end).split("\n\n").map(html);
    const patches = [];
    blocks.forEach((b, i) => {
      const done = i < blocks.length - 1;
      if (before[i]?.html !== b || before[i].done !== done) patches.push({ block: i, html: b, done });
    });
    before = blocks.map((b, i) => ({ html: b, done: i < blocks.length - 1 }));
    deltas.push({ patches });
  }
  return deltas;
}
