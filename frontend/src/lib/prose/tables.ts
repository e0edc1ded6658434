/** A rendered table as text for other programs. */

type Cells = string[][];

export function cells(table: Element): Cells {
  return [...table.querySelectorAll("tr")].map((row) =>
    [...row.querySelectorAll("th, td")].map((cell) => (cell.textContent ?? "").trim()),
  );
}

/** RFC 4180, lines ended by CR LF. A cell that a spreadsheet would run as a formula gets an apostrophe. */
export function csv(rows: Cells): string {
  const cell = (text: string) => {
    const safe = /^[=+@\t\r]|^-(?!\d)/.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
  };
  return rows.map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}

export function markdown(rows: Cells): string {
  const [head = [], ...body] = rows;
  const line = (row: string[]) => `| ${row.map((c) => c.replace(/\|/g, "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...body.map(line)].join("\n") + "\n";
}
