// Pictures of every state in both themes, to be looked at: npm run shots [-- -g "words of a name"]
import { join } from "node:path";
import { test } from "./scene.mjs";
import { others, states } from "./states.mjs";

for (const [name, { scene, act, ...size }] of Object.entries({ ...states, ...others }))
  for (const theme of ["light", "dark", ...(/^(chat|permission)$/.test(name) ? ["contrast"] : [])])
    test(`${name} ${theme}`, async ({ open }, info) => {
      const page = await open(scene, { theme, ...size });
      await act?.(page);
      await page.waitForTimeout(150);
      await page.screenshot({ path: join(info.project.outputDir, `${name}-${theme}.png`) });
    });
