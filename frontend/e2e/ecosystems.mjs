// Four plugins, one of each ecosystem, whose tools members of a council are given.
import { mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { until } from "./processes.mjs";

const files = {
  "harbour.py": `"""The harbour's book."""

from pathlib import Path


def write_berth(path: str = "berths.txt", text: str = "Berth 4 is free.") -> str:
    """Write down which berth is free.

    Args:
        path: The file to write.
        text: What is written.
    """
    return text
`,
  "pilot/spindle.json": JSON.stringify({
    version: "1.0.0",
    name: "Pilot",
    identifier: "pilot",
    author: "A",
    permissions: ["tools"],
  }),
  "pilot/dist/backend.js": `
spindle.registerTool({ name: "course", display_name: "Course", description: "Say which way to steer.",
  parameters: { type: "object", properties: {} }, council_eligible: true });
spindle.on("TOOL_INVOCATION", async ({ councilMember }) =>
  councilMember.name + " steers north by east.");
`,
  "oracle/_manifest.json": JSON.stringify({
    manifest_version: 2,
    id: "test.oracle",
    version: "1.0.0",
    name: "Oracle",
    description: "Says what will be.",
    license: "MIT",
    author: { name: "A", url: "https://example.com" },
    urls: { repository: "https://example.com" },
    host_application: { min_version: "1.0.0", max_version: "1.99.99" },
    sdk: { min_version: "2.5.0", max_version: "2.99.99" },
    capabilities: [],
    i18n: { default_locale: "zh-CN" },
  }),
  "oracle/plugin.py": `import asyncio

from maibot_sdk import MaiBotPlugin, Tool


class Plugin(MaiBotPlugin):
    @Tool("weather", description="Say what the weather will be.", visibility="visible")
    async def weather(self, **kwargs):
        while not (self.ctx.paths.data_dir / "wind").exists():
            await asyncio.sleep(0.02)
        if (self.ctx.paths.data_dir / "storm").exists():
            raise RuntimeError("The glass has burst.")
        return "Fair, with a light wind from the west."


def create_plugin():
    return Plugin()
`,
  "sounder/plugin.toml": `[plugin]
name = "Sounder"
id = "sounder"
entry = "plugin.plugins.sounder:Sounder"
`,
  "sounder/__init__.py": `from plugin.sdk.plugin import NekoPluginBase, llm_tool, neko_plugin


@neko_plugin
class Sounder(NekoPluginBase):
    @llm_tool(name="depth")
    async def depth(self):
        """Say how deep it is."""
        return "12 fathoms"
`,
};

/** Who is given which tool: name, role, the tool's title, and what it says. */
export const crew = [
  { name: "Ada", tool: "Write berth", plugin: "harbour", says: "Berth 4 is free." },
  { name: "Bo", tool: "Course", plugin: "pilot", says: "Bo steers north by east." },
  { name: "Cy", tool: "Weather", plugin: "oracle", says: "Fair, with a light wind" },
  { name: "Di", tool: "Depth", plugin: "sounder", says: "12 fathoms" },
];

/** Writes the plugins into a place's folder, approves them once they are read, and lets members use them. */
export async function install(place) {
  const made = join(place.home, "made");
  for (const [name, text] of Object.entries(files)) {
    const path = join(made, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  // Whole, in one step: what reads the folder finds no half of a plugin.
  for (const name of readdirSync(made)) renameSync(join(made, name), join(place.plugins, name));
  await approved(place, ...crew.map((member) => member.plugin));
  for (const { id, tools } of place.told("plugins", "list", "--json"))
    if (crew.some(({ plugin }) => plugin === id))
      for (const tool of tools) place.told("permissions", "allow", tool, "--council");
}

/** Approves plugins once they are read, and once more where running them showed more than reading. */
export async function approved(place, ...plugins) {
  const state = (plugin) => place.told("plugins", "list", "--json").find(({ id }) => id === plugin)?.state;
  for (const plugin of plugins)
    await until(
      `${plugin} to be approved`,
      () => place.conclave("plugins", "trust", plugin, "--yes").status === 0 && state(plugin) === "ready",
    );
}

/** What the weather is told by. */
const sky = (place, sign) => writeFileSync(join(place.data, "storage", "oracle", "data", sign), "");

/** Lets the weather be told, which waits for it in every call. */
export const letWeatherBeTold = (place) => sky(place, "wind");

/** Has its tool fail from here on. */
export const breakGlass = (place) => sky(place, "storm");

/** Fails unless each tool was called once, by the member that was given it. */
export function calledByEach(place) {
  const calls = place.told("logs", "--json");
  for (const { name, plugin } of crew) {
    const own = calls.filter((call) => JSON.stringify(call).includes(`"${plugin}:`));
    if (own.length !== 1 || !JSON.stringify(own[0]).includes(`member:`))
      throw new Error(`${name}’s tool was called so: ${JSON.stringify(own)}`);
  }
}
