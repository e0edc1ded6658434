// Pictures of every state, to be looked at: npm run shots [-- -g "words of a name"], into CONCLAVE_TEST_OUT.
// In each language a state is opened once, wide, and then resized and recoloured. It has three pictures there,
// which turn from state to state and from language to language, so that each theme and each width comes up;
// with CONCLAVE_PICTURES=all it has all nine.
import { join } from "node:path";
import { daily } from "./daily.mjs";
import { speak, understand } from "./language.mjs";
import { test } from "./scene.mjs";
import { others, states } from "./states.mjs";

const themes = ["light", "dark", "contrast"];
const widths = [1920, 1280, 900];
const languages = ["en", "zh"];

/** Themes and widths of a state's pictures, widest first. */
function looks(turn, width) {
  const sizes = width ? [width] : widths;
  if (width || process.env.CONCLAVE_PICTURES === "all")
    return sizes.flatMap((size) => themes.map((theme) => [theme, size]));
  return sizes.map((size, i) => [themes[(i + turn) % 3], size]);
}

/** Gives the page the colours of a theme; what still moves is at its end. */
const color = (page, theme, tone) =>
  page.evaluate(
    async ([theme, tone]) => {
      const { dataset } = document.documentElement;
      dataset.theme = theme === "contrast" ? tone : theme;
      dataset.contrast = theme === "contrast" ? "more" : "";
      for (let i = 0; i < 4; i++) {
        await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 30)));
        for (const a of document.getAnimations()) if (a.effect.getComputedTiming().endTime !== Infinity) a.finish();
      }
    },
    [theme, tone],
  );

/** The panel is closed in a narrower window until it is asked for. */
async function panel(page) {
  const button = page.getByRole("button", { name: "Show the panel" });
  if (await page.locator("[role=dialog], [role=menu]").count()) return;
  if (!(await button.isVisible())) return;
  await button.click();
  await page.mouse.move(0, 0); // no tooltip
}

Object.entries({ ...daily, ...states, ...others }).forEach(
  ([name, { scene, act, width, height = 832, dock = false }], n) =>
    languages.forEach((language, turn) =>
      test(`${name} ${language}`, async ({ open }, info) => {
        speak(language);
        const page = await open(scene, { width: width ?? 1440, height, language });
        understand(page);
        await act?.(page);
        for (const [theme, size] of looks(n + turn, width)) {
          await page.setViewportSize({ width: size, height });
          if (dock && !width) await panel(page);
          await color(page, theme, turn ? "dark" : "light");
          await page.screenshot({ path: join(info.project.outputDir, `${name}-${language}-${size}-${theme}.png`) });
        }
      }),
    ),
);
