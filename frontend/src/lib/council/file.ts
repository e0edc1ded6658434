/** A council as a file. */
import type { Bridge } from "../bridge/calls";
import type { Council } from "../bridge/generated";
import { slug } from "../plugins/slug";

/** Asks where to, and writes the council there, under its name. */
export async function saveCouncil(bridge: Bridge, council: Council, name: string): Promise<void> {
  const text = JSON.stringify(council, null, 2) + "\n";
  await bridge.window.SaveFile(`${slug(name) || "council"}.json`, text);
}
