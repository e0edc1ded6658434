/** The file name that a plugin's name becomes: “My Tool” is my_tool. */

/** How long a name may be; the program refuses more. */
const most = 48;

/** Small letters, digits and _, beginning with a letter; "" when nothing of the name can stay. */
export function slug(name: string): string {
  const plain = name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "");
  if (!/[a-z]/.test(plain)) return "";
  return (/^[a-z]/.test(plain) ? plain : `tool_${plain}`).slice(0, most).replace(/_+$/, "");
}
