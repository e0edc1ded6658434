/**
 * Adds to a block of code what has been written of it since. The HTML of open code
 * (app/render) has its complete lines in a first code element and the one that is
 * being written in a second; the first only grows.
 */

const seam = "</code><code>";
const end = "</code></pre></figure>";

/** How much code is laid out together, in characters: some 60 lines. */
const together = 2500;

/**
 * Makes the element, which shows the HTML `before`, show `html`. False when that
 * takes more than adding lines; the element is then as it was.
 */
export function grow(element: Element, before: string, html: string): boolean {
  const a = before.lastIndexOf(seam);
  const b = html.lastIndexOf(seam);
  if (a < 0 || b < a || !html.trimEnd().endsWith(end)) return false;
  if (html.slice(0, a) !== before.slice(0, a)) return false;
  const codes = element.querySelectorAll("pre > code");
  const tail = codes[codes.length - 1];
  let lines = codes[codes.length - 2];
  if (!tail || !lines) return false;
  if (b > a) {
    // Lines are laid out anew when one is added, so there are only so many in an element.
    if ((lines.textContent?.length ?? 0) > together) {
      const next = document.createElement("code");
      tail.before(next);
      lines = next;
    }
    lines.insertAdjacentHTML("beforeend", html.slice(a, b));
  }
  tail.innerHTML = html.slice(b + seam.length, html.lastIndexOf(end));
  return true;
}
