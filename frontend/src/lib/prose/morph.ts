/**
 * Changes what an element holds into new HTML by touching only what differs, so
 * that a selection, a scrolled code block and an opened fold survive while the
 * block they are in still grows.
 */

/** Makes the element's content that of html, which must be sanitized already. */
export function morph(element: Element, html: string): void {
  const template = document.createElement("template");
  template.innerHTML = html;
  children(element, template.content);
}

function children(old: Node, fresh: Node): void {
  let a = old.firstChild;
  let b = fresh.firstChild;
  while (b) {
    const nextB: ChildNode | null = b.nextSibling;
    if (!a) {
      old.appendChild(b);
    } else {
      const nextA: ChildNode | null = a.nextSibling;
      if (!same(a, b)) old.replaceChild(b, a);
      a = nextA;
    }
    b = nextB;
  }
  while (a) {
    const nextA: ChildNode | null = a.nextSibling;
    old.removeChild(a);
    a = nextA;
  }
}

// Makes a into b where they are of one kind; false when a must be replaced.
function same(a: Node, b: Node): boolean {
  if (a.nodeType !== b.nodeType) return false;
  if (a instanceof Text && b instanceof Text) {
    if (b.data === a.data) return true;
    if (b.data.startsWith(a.data)) a.appendData(b.data.slice(a.data.length));
    else a.data = b.data;
    return true;
  }
  if (!(a instanceof Element) || !(b instanceof Element) || a.tagName !== b.tagName) return false;
  for (const { name } of [...a.attributes]) {
    if (!b.hasAttribute(name) && !(name === "open" && a.tagName === "DETAILS")) a.removeAttribute(name);
  }
  for (const { name, value } of b.attributes) {
    if (a.getAttribute(name) !== value) a.setAttribute(name, value);
  }
  children(a, b);
  return true;
}
