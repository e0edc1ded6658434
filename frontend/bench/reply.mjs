/** A program of about `size` characters in one block of code, complete. */
export function program(size) {
  let code = "```go\n";
  for (let n = 1; code.length < size; n++)
    code += `// step ${n} reads what step ${n - 1} wrote\nfunc step${n}(in <-chan Job) error {\n\tfor job := range in {\n\t\tlog.Printf("step ${n}: %s", job)\n\t}\n\treturn nil\n}\n\n`;
  return `${code}\`\`\`\n`;
}

/** One table of about `size` characters. */
export function ledger(size) {
  let rows = "| no. | name | count | remark |\n|---|:--|---:|:--|\n";
  for (let n = 1; rows.length < size; n++)
    rows += `| ${n} | \`job-${n}\` | ${n * 37} | it was done ${n % 3 ? "at once" : "**late**"} by worker ${n % 7} |\n`;
  return rows;
}

/** One paragraph of about `size` characters. */
export function essay(size) {
  let text = "";
  for (let n = 1; text.length < size; n++)
    text += `The *planner* hands **${n * 2} jobs** to its workers, each of which reads \`input-${n}\` and writes a [note](https://example.org/notes/${n}) of what it found there. `;
  return `${text.trimEnd()}\n`;
}

// The reply both sides stream: prose, lists, a table and code, in the proportions of a coding answer.

/** Markdown of exactly `size` characters, always the same. */
export function reply(size) {
  const parts = [];
  for (let n = 1, length = 0; length < size; n++) {
    const part = [
      `## Part ${n}: what to do first`,
      `The *planner* hands **${n * 2} jobs** to each worker, which reads \`input-${n}\`, writes its result and says so in a [note](https://example.org/notes/${n}). A worker that has nothing to do waits ${n * 5} ms and looks again. This sentence only makes the paragraph as long as one that a person would write.`,
      `1. Open the file\n2. Compare \`len(rows)\` with ${n}\n   - one point below ~~the old~~ the new text\n   - and one more\n3. Close it`,
      `| name | count | remark |\n|---|---:|:--|\n| first | ${n} | fine |\n| second | ${n + 1} | **late** |\n| third | ${n + 2} | \`raw\` |`,
      `\`\`\`go\nfunc part${n}(ctx context.Context, jobs <-chan Job) error {\n\tfor job := range jobs {\n\t\tif err := job.Do(ctx); err != nil {\n\t\t\treturn fmt.Errorf("part ${n}: %w", err)\n\t\t}\n\t}\n\treturn nil\n}\n\`\`\``,
      `> Quoted remark number ${n}, to be read last.`,
    ].join("\n\n");
    parts.push(part);
    length += part.length + 2;
  }
  return parts.join("\n\n").slice(0, size);
}
