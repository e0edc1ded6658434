// What can go wrong with a council, caused on the real program: each says a sentence, and has a
// button that leads on.
import assert from "node:assert/strict";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { palette } from "../harness.mjs";
import { until } from "../processes.mjs";
import { begin, end, say } from "../server.mjs";

const question = "What goes wrong here?";

/** Each model of the server has a way of its own. */
const ways = {
  down: (response, json) => json(400, { error: { message: "This model is not for you." } }),
  flood: (response) => {
    begin(response);
    for (let i = 0; i < 80; i++) say(response, "ä".repeat(32 << 10)); // 5 MB
    end(response);
  },
};

export const answers = {
  [question]: (response, json, { model }) => {
    const way = ways[model];
    if (way) return way(response, json);
    begin(response);
    say(response, "So it is.");
    end(response);
  },
};

/** A tool that does what is said before it answers. */
const sleeper = (does, words) => `import os, time


def waits() -> str:
    """Returns ${words}."""
    ${does}
    return "${words}"
`;
const asleep = `open(os.path.expanduser("~/asleep"), "w").close()
    time.sleep(60)`;
const untilTold = `while not os.path.exists(os.path.expanduser("~/go")):
        time.sleep(0.02)`;

export const steps = (world) => {
  const page = () => world.person.page;
  const { place } = world;
  const panel = () => page().locator(".council");
  const lane = (name) => page().locator("[data-lane]", { hasText: name });
  const button = (name) => page().getByRole("button", { name, exact: true });
  let connection = "";
  const of = (model) => `${connection}/${model}`;

  /** Sets the council that holds in chats that begin, and begins one. */
  async function set(council) {
    connection ||= place
      .told("models", "list", "--json")
      .find(({ name }) => name.endsWith("/talker"))
      .name.split("/")[0];
    const file = join(place.home, "council.json");
    writeFileSync(file, JSON.stringify({ enabled: true, ...council(of) }));
    place.told("council", "set", file);
    await world.person.newChat();
    await palette(page(), "show the council");
  }

  /** The newest chat's newest run. */
  const run = () => {
    const [chat] = place.told("chats", "list", "--json");
    return place.told("council", "runs", chat.id, "--json").at(-1);
  };
  /** Waits until the council that is kept has so many members: what a person changes is, a moment later. */
  const kept = (members) =>
    until(`${members} members to be kept`, () => {
      return place.told("council", "show", "--json").members.length === members;
    });
  const ended = () => page().locator("button.stop").waitFor({ state: "detached" });
  const picture = (name) => world.person.picture(`council-wrong-${name}`);
  const two = (model, more = {}) => ({
    members: [
      { name: "Ada", model },
      { name: "Bo", model },
    ],
    ...more,
  });

  const state = () =>
    place.told("plugins", "list", "--json").find(({ id }) => id === "waits")?.state;
  /** Has the plugin be as it is said, waits until that version of it serves, and lets members use it. */
  async function sleeps(does, words) {
    writeFileSync(join(place.plugins, "waits.py"), sleeper(does, words));
    await until("the plugin that waits", () => {
      if (state() !== "ready") place.conclave("plugins", "trust", "waits", "--yes");
      const [tool] = place.told("tools", "list", "--json").filter(({ id }) => id === "waits:waits");
      return tool?.description === `Returns ${words}.`;
    });
    place.told("permissions", "allow", "waits:waits", "--council");
  }
  const waiting = () => ({
    mode: "tools",
    members: [{ name: "Ada", tools: ["waits:waits"] }],
  });

  return {
    "wrong: no members: the answer is made, and presets are offered": async () => {
      await set(() => ({ members: [] }));
      await world.person.ask(question);
      await panel().getByText("No members yet.").waitFor();
      await button("Council (all chats): no members").waitFor();
      await picture("nobody");
      await button(/^Three chairs/).click();
      const [{ id }] = place.told("chats", "list", "--json");
      await until("the preset to be that of the chat", () => {
        return place.told("council", "show", "--chat", id, "--json").members.length === 3;
      });
    },

    "wrong: one member: it is said that there is nothing to compare, and another can be added":
      async () => {
        await set((of) => ({ members: [{ name: "Ada", model: of("talker") }] }));
        await panel().getByText("One member works; there is nothing to compare.").waitFor();
        await world.person.ask(question);
        await lane("Ada").getByText("Done").waitFor();
        await picture("alone");
        await button("Add another member").click();
        await kept(2);
      },

    "wrong: all fail: the person is asked, has it answered without, and asks the council again":
      async () => {
        await set((of) => two(of("down")));
        await world.person.write(question);
        await panel().getByText("No member could answer.").waitFor();
        await lane("Ada").locator(".who").click();
        await lane("Ada").getByText("Details: This model is not for you.").waitFor();
        await picture("all-failed-asks");
        await button("Answer without the council").click();
        await ended();
        await panel().getByText("The answer was made without the council.").waitFor();
        await picture("all-failed");
        await button("Ask the council again").click();
        await button("Retry failed tasks").waitFor();
        await button("Answer without the council").click();
        await ended();
      },

    "wrong: a member without a model: it sits out and says so, and the helper's model is chosen":
      async () => {
        await set((of) => ({ members: [{ name: "Ada" }, { name: "Bo", model: of("talker") }] }));
        const says = "Ada has no model. Choose one for it, or a helper model for the council.";
        await panel().getByText(says).first().waitFor();
        await world.person.ask(question);
        await lane("Ada").getByText(says).waitFor();
        await picture("no-model");
        await button("Choose a helper model").click();
        await page().locator("[id$=-helper]:focus").press("Enter");
        await page().getByRole("option", { name: "talker" }).first().click();
        await button("Choose a helper model").waitFor({ state: "detached" });
        await world.person.ask(question);
        await lane("Ada").getByText("Done").waitFor();
      },

    "wrong: a ballot that is no JSON: the vote goes on without it, and is done again": async () => {
      await set((of) => two(of("talker"), { mode: "vote", choices: ["yes", "no"] }));
      await world.person.write(question);
      await lane("Ada").getByText("Failed").waitFor();
      await lane("Ada").getByText("The ballot of Ada cannot be read").waitFor();
      await ended();
      await picture("ballot");
      await button("More for the lane of Ada").click();
      await page().getByRole("menuitem", { name: "Run this member again…" }).click();
      await button("Run again").click();
      await page().getByRole("dialog").waitFor({ state: "detached" });
      await ended();
      await panel().getByText("Repeated with one change: Ada did its work again.").waitFor();
    },

    "wrong: a member that answers 5 MB is cut, which is said": async () => {
      await set((of) => ({
        members: [
          { name: "Ada", model: of("flood") },
          { name: "Bo", model: of("talker") },
        ],
      }));
      await world.person.ask(question);
      await panel()
        .getByText(/Ada said more than an answer may hold, and was cut/)
        .waitFor();
      await picture("flood");
      await button("More for this run").click();
      await page().getByRole("menuitem", { name: "Run again with one change…" }).click();
      await page().getByRole("dialog").waitFor();
      await page().keyboard.press("Escape");
      await page().getByRole("dialog").waitFor({ state: "detached" });
    },

    "wrong: a cap of one cent: the council stops, the answer is made, and the cap is changed":
      async () => {
        place.told("models", "price", of("talker"), "1000", "1000");
        await set((of) => two(of("talker"), { limits: { money: 0.01 } }));
        await panel()
          .getByText(/The answer alone may cost .* more than the cap of \$0\.01/)
          .waitFor();
        const answer = await world.person.ask(question);
        await answer.getByText("So it is.").waitFor();
        await lane("Ada").getByText("Over the cap").waitFor();
        await picture("cap");
        await button("Change the cap").last().click();
        await page().locator("input:focus").fill("5");
        await page().keyboard.press("Enter");
        await panel()
          .getByText(/cap \$5\.00/)
          .waitFor();
        place.told("models", "price", of("talker"), "--forget");
      },

    "wrong: offline: the lanes say what could not be reached, and the question is asked again":
      async () => {
        if (!place.told("models", "list", "--json").some(({ name }) => name === "nowhere/any"))
          place.told(
            ...["models", "add", "openai", "nowhere", "--url", "http://127.0.0.1:9/v1"],
            ...["--model", "any"],
          );
        await set(() => two("nowhere/any"));
        await world.person.write(question);
        await panel().getByText("No member could answer.").waitFor();
        await lane("Ada").getByText("Ada could not reach its model.").waitFor();
        await picture("offline");
        await button("Answer without the council").click();
        await ended();
        await button("Ask the council again").waitFor();
      },

    "wrong: a chat that was edited after the run is said to be, and the question is answered as it is now":
      async () => {
        await set((of) => two(of("talker")));
        await world.person.ask(question);
        const asked = page().locator("article.user").last();
        await asked.hover();
        await asked.getByRole("button", { name: "Edit", exact: true }).click();
        await page().locator("article.user textarea").fill("What goes right here?");
        await button("Save").click();
        await panel().getByText("The chat was changed after this run").waitFor();
        await picture("edited");
        await button("Answer the changed question").click();
        await ended();
        await panel()
          .getByText("The chat was changed after this run")
          .waitFor({ state: "detached" });
      },

    "wrong: a plugin that is updated in mid-run finishes its call as it was; a new run has the new one":
      async () => {
        await sleeps(untilTold, "the old words");
        await set(waiting);
        await world.person.write(question);
        await lane("Ada").getByText("Using").waitFor();
        writeFileSync(join(place.plugins, "waits.py"), sleeper("pass", "the new words"));
        await until("the update to be noticed", () => state() !== "ready");
        writeFileSync(join(place.data, "storage", "waits", "go"), "");
        await ended();
        await lane("Ada").getByText("Done").waitFor();
        await lane("Ada").locator(".who").click();
        await lane("Ada").getByText("the old words").waitFor();
        await sleeps("pass", "the new words");
        await world.person.ask(question);
        await lane("Ada").locator(".detail").waitFor({ state: "detached" }); // that of the run before
        await lane("Ada").locator(".who .state").getByText("Done").waitFor();
        await lane("Ada").locator(".who").click();
        await lane("Ada").getByText("the new words").waitFor();
      },

    "wrong: a tool that is removed in mid-run says so, and the person goes on without":
      async () => {
        await sleeps(asleep, "never");
        await set(waiting);
        await world.person.write(question);
        await lane("Ada").getByText("Using").waitFor();
        place.told("plugins", "remove", "waits");
        await lane("Ada").getByText("Failed").waitFor();
        await picture("removed");
        await button("Answer without the council").click();
        await ended();
        await panel().getByText("The tool waits:waits is not available").first().waitFor();
      },

    "wrong: stop ends a tool that sleeps within half a second": async () => {
      await sleeps(asleep, "never");
      await set(waiting);
      const sign = join(place.data, "storage", "waits", "asleep");
      rmSync(sign, { force: true });
      await world.person.write(question);
      await lane("Ada").getByText("Using").waitFor();
      await until("the tool to sleep", () => existsSync(sign));
      const took = await page().evaluate(async () => {
        const stop = document.querySelector(".council .buttons .btn:last-child");
        const began = performance.now();
        stop.click();
        while (document.querySelector("button.stop"))
          await new Promise((resolve) => setTimeout(resolve, 5));
        return performance.now() - began;
      });
      console.log(`     the page saw the end after ${Math.round(took)} ms`);
      assert.ok(took < 500, `the page saw the end after ${Math.round(took)} ms`);
      await picture("stopped");
      assert.equal(run().state, "over");
      const [call] = place.told("logs", "--json", "-n", "1");
      assert.equal(call.status, "cancelled");
    },
  };
};
