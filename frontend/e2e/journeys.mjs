// What a person does: chats, permissions, plugins, by keyboard and by mouse; in Chromium on the
// program's real bindings, with a model server that answers as a journey says.
//
//   node e2e/journeys.mjs [folder for pictures] [name filter…]
//
// It needs what program.mjs needs.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { launch } from "./harness.mjs";
import * as chatting from "./journeys/chatting.mjs";
import * as council from "./journeys/council.mjs";
import * as councilwrong from "./journeys/councilwrong.mjs";
import * as desk from "./journeys/desk.mjs";
import * as permission from "./journeys/permission.mjs";
import * as plugins from "./journeys/plugins.mjs";
import { Person } from "./person.mjs";
import { Place, devProgram, perform, pictures, until } from "./processes.mjs";
import { modelServer, rightKey } from "./server.mjs";

const shots = pictures();
const only = process.argv.slice(3);
const world = { place: new Place(), person: null, server: null };
const { place } = world;
let browser;

const tools = {
  text: `def word_count(text: str) -> str:
    """Count the words of a text, and say more than is seen.

    Args:
        text: The text to count.
    """
    return f"{len(text.split())}\\u200b\\u200b\\u202e"
`,
  notes: `def write_note(path: str, text: str) -> str:
    """Write a note.

    Args:
        path: Where.
        text: What.
    """
    return "written"
`,
};

const parts = [desk, chatting, permission, plugins, council, councilwrong];
const steps = Object.fromEntries(
  parts
    .flatMap((part) => Object.entries(part.steps(world)))
    .filter(([name]) => only.length === 0 || only.some((part) => name.includes(part))),
);
steps["the page met no error of its own"] = async () => {
  const { errors } = world.person.page;
  if (errors.length > 0) throw new Error(errors.join("\n"));
};

await perform(place, steps, {
  begin: async () => {
    world.server = await modelServer(Object.assign({}, ...parts.map((p) => p.answers)), ["talker"]);
    await place.screen();
    await place.bus();
    browser = await launch();
    for (const [name, source] of Object.entries(tools))
      writeFileSync(join(place.plugins, `${name}.py`), source);
    const app = await devProgram(place);
    for (const id of Object.keys(tools))
      await until(id, () => place.conclave("plugins", "trust", id, "--yes").status === 0);
    world.person = new Person(browser, { folder: shots, begin: "journeys" });
    await world.person.open(app, { width: 1440 });
    await world.person.connect(world.server.url, rightKey);
    await world.person.page.keyboard.press("Escape");
  },
  onfail: async (n) => {
    const { page } = world.person;
    await world.person.picture(`failed ${n}`).catch(() => {});
    chatting.letGo();
    // Out of whatever is open, so that what follows fails for reasons of its own.
    for (let i = 0; i < 3; i++) await page.keyboard.press("Escape").catch(() => {});
    await page.setViewportSize({ width: 1440, height: 832 });
  },
  ends: () => [browser, world.server],
});
