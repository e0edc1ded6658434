/** The sentence of a member that an answer cites, for the button that names it. */
import type { App } from "../app.svelte";
import { s } from "../strings";

/** Finds the claim that a button such as “a2” stands for, and has the button say it. */
export async function sentence(app: App, run: string, button: HTMLElement): Promise<void> {
  const point = button.dataset.cite ?? "";
  const letter = point.replace(/\d+$/, "");
  try {
    const { lanes } = await app.bridge.council.Run(run, 0);
    const lane = lanes.find((l) => l.letter.toLowerCase() === letter);
    for (const task of lane?.tasks ?? []) {
      if (task.state !== "done" || task.sealed || task.bytes === 0) continue;
      const { opinion, first } = await app.bridge.council.Said(run, task.id);
      const claim = opinion?.points[Number(point.slice(letter.length)) - first - 1]?.claim;
      if (!claim) continue;
      button.title = s.council.citation(lane?.name ?? "", claim);
      button.ariaLabel = s.app.labelled(point, button.title);
      return;
    }
  } catch {
    // The button stays as it is; pressing it shows the error.
  }
}
