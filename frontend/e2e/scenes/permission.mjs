// Nothing is ever allowed by accident.
import assert from "node:assert/strict";
import { counts, focused, noticed, settled, stopped, armed as waitArmed } from "../harness.mjs";

const message = (page) => page.getByLabel("Message", { exact: true });
const answers = (page) =>
  page.evaluate(() => globalThis.fake.given("Permissions.Answer").map(([, , answer]) => answer));

const armed = (page, name = "Allow once") => waitArmed(page, name);

export const tests = {
  "typing 200 characters through ten arriving prompts answers none of them": {
    async run(page) {
      await focused(message(page)); // what is typed before would go nowhere
      await page.evaluate(() => {
        const { chats, hello, permissions } = globalThis.fake;
        const chat = chats.of(hello.open_chat);
        const call = { title: "Write note", doing: "write a note", did: "", plugin: "Notes" };
        const more = setInterval(() => {
          const n = permissions.requests.length + 1;
          permissions.ask(chat, { ...call, tool: `notes:write_${n}` }, { n });
          if (n === 10) clearInterval(more);
        }, 100);
      });
      const typed = "The quick brown fox jumps over it. ".repeat(6).slice(0, 198) + "\n ";
      for (const character of typed) {
        if (character === "\n") await page.keyboard.press("Shift+Enter");
        else await page.keyboard.type(character, { delay: 8 });
      }
      await page.waitForFunction(() => globalThis.fake.permissions.requests.length === 10);
      await page.keyboard.press("Space");
      assert.deepEqual(await answers(page), []);
      assert.equal(await message(page).inputValue(), typed + " ");
      await focused(message(page));
    },
  },

  "a notice lies over no answer to a call": {
    scene: "permission",
    async run(page) {
      await page.setViewportSize({ width: 1280, height: 560 }); // the card ends where the composer begins
      await armed(page);
      await page.locator("[data-answers] [aria-expanded]").last().click();
      const answers = page.locator("[data-answers]").last();
      await answers.evaluate((buttons) => buttons.scrollIntoView({ block: "end" }));
      await page.keyboard.press("Control+=");
      await page.waitForFunction(() => {
        const toast = document.querySelector(".toast")?.getBoundingClientRect();
        const answers = [...document.querySelectorAll("[data-answers]")].map((a) =>
          a.getBoundingClientRect(),
        );
        return (
          toast &&
          answers.length > 0 &&
          answers.every((a) => a.top > toast.bottom || a.bottom < toast.top)
        );
      });
    },
  },

  "a click before 600 ms is not believed, one after is, once": {
    scene: "permission",
    async run(page) {
      const on = await stopped(page);
      await page.reload(); // the card appears anew
      const allow = page.getByRole("button", { name: "Allow once" });
      await allow.waitFor();
      await settled(page, { arming: false }); // the card lies where it stays
      const box = await allow.boundingBox();
      await page.mouse.click(box.x + 10, box.y + 10);
      await noticed(page, "The card just moved");
      assert.deepEqual(await answers(page), []);
      await on();
      await armed(page);
      await allow.click();
      await page.waitForFunction(() => globalThis.fake.asked.length > 0);
      await allow.waitFor({ state: "detached" });
      const given = await answers(page);
      assert.deepEqual(
        given.map((a) => [a.effect, a.scope]),
        [["allow", "once"]],
      );
    },
  },

  ...Object.fromEntries(
    ["chat", "welcome"].map((scene) => [
      `what a plugin asks for by itself stands above the composer, on ${scene}, and the shortcut leads there`,
      {
        scene,
        async run(page) {
          await focused(message(page));
          await page.evaluate(() =>
            globalThis.fake.permissions.askAlone(
              {
                tool: "pages:(network)",
                title: "connect to api.example.org",
                doing: "connect to api.example.org",
                plugin: "Pages",
              },
              { host: "https://api.example.org:443" },
            ),
          );
          const card = page.locator("[data-request]");
          await card.waitFor();
          await focused(message(page)); // it takes no focus by itself
          const heading = card.getByRole("heading", { name: "Pages wants to connect to api" });
          await page.keyboard.press("Control+Shift+P");
          await focused(heading);
          await page.keyboard.press("Control+,");
          await card.waitFor({ state: "detached" });
          await page.keyboard.press("Control+Shift+P");
          await focused(heading);
          await armed(page);
          await card.getByRole("button", { name: "Allow once" }).click();
          await card.waitFor({ state: "detached" });
          assert.deepEqual(
            (await answers(page)).map((a) => [a.effect, a.scope]),
            [["allow", "once"]],
          );
        },
      },
    ]),
  ),

  "a call is allowed for its chat's project, which a dialog changes": {
    scene: "project",
    async run(page) {
      await armed(page);
      await page.getByRole("button", { name: "Allow more…" }).click();
      const wider = page.getByRole("group", { name: "Allow more…" });
      await wider.getByText("in all chats of /home/ada/Documents/Thesis, until").waitFor();
      await armed(page, /^In this project, only in/);
      await wider.getByRole("button", { name: /^In this project, only in/ }).click();
      await page.waitForFunction(() => globalThis.fake.given("Permissions.Answer").length > 0);
      assert.deepEqual(
        (await answers(page)).map((a) => [a.effect, a.scope, a.only]),
        [["allow", "this-project", 1]],
      );

      await page.getByRole("button", { name: /^Project .*Thesis\. Change$/ }).click();
      const folder = page.getByRole("dialog").getByLabel("Folder");
      await focused(folder);
      assert.equal(await folder.inputValue(), "/home/ada/Documents/Thesis");
      await folder.fill("~/Documents/Letters ");
      await page.keyboard.press("Enter");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      const set = await page.evaluate(() => globalThis.fake.given("Chats.SetProject"));
      assert.deepEqual(
        set.map(([, folder]) => folder),
        ["~/Documents/Letters"],
      );
    },
  },

  "what hooks made of a call stands on its card, word by word, before what would run": {
    scene: "rewritten",
    async run(page) {
      const was = page.getByRole("group", {
        name: "Original request and changes by plugins",
      });
      await was.nth(1).waitFor();
      const changed = async (at, tag) =>
        (await was.nth(at).locator(tag).allInnerTexts()).map((t) => t.replace(/\s+/g, " ").trim());
      assert.deepEqual(await changed(0, "del"), ['Before: "tuesday.md",', 'Before: "Two']);
      assert.deepEqual(await changed(0, "ins"), ['Now: "Reports/tuesday.md",', 'Now: "Three']);
      assert.deepEqual(await changed(1, "del"), ["Before: Delete", 'Before: "x.md"']);
      assert.deepEqual(await changed(1, "ins"), ["Now: Write", 'Now: "Reports/x.md"']);
      // It has to be possible to read it before the card can be allowed.
      await armed(page);
      await was.first().focus();
      await focused(was.first());
    },
  },

  "what nobody sees or takes for something else is said, and shown where it stands": {
    scene: "unseen",
    async run(page) {
      await page.getByText("3 hidden characters removed.").waitFor();
      await page.getByText("The name “path” stands more than once in what it is given").waitFor();
      await page.locator(".ask").getByText("Path (repeated, 2)").waitFor();
      await page.locator(".ask").getByText("../notes.md").waitFor();
      const marks = page.getByRole("group", { name: /^Invisible or look-alike/ });
      assert.equal(await marks.count(), 0);
      const view = page.getByRole("button", { name: "View", exact: true });
      await view.press("Enter");
      await marks.getByText("ada@p‹U+0430, looks like a›ypal.com").waitFor();
      await marks.focus(); // it scrolls
      await focused(marks);
      await armed(page);
      await page.getByRole("button", { name: "Hide", exact: true }).press("Enter");
      await marks.waitFor({ state: "detached" });
      await focused(view);
    },
  },

  "what a call would change in a file, and what it would send, stands on its card": {
    scene: "previews",
    async run(page) {
      const change = page.getByRole("group", { name: /^What would change in .*tuesday.md/ });
      await change.waitFor();
      const lines = async (of) =>
        (await of.locator(".text").allInnerTexts()).map((t) => t.replace(/\s+/g, " ").trim());
      assert.deepEqual((await lines(change)).slice(2, 4), [
        "removed: Two things were decided.",
        "added: Three things were decided, of which the second one is the one that everybody waited for.",
      ]);
      const sends = page.getByRole("group", { name: "What waits to be sent:" });
      await sends.waitFor();
      assert.deepEqual((await lines(sends)).slice(0, 2), [
        "POST /v1/notes?list=home",
        "Authorization: (not shown)",
      ]);
      await page.getByText("and 3 more lines").waitFor();
      await armed(page);
      // Of arguments that the person edits nothing is known.
      await page.getByRole("button", { name: "Edit before allowing" }).first().click();
      await change.waitFor({ state: "detached" });
      await focused(page.locator("[data-request] textarea").first()); // one can write at once
      await page.getByRole("button", { name: "Discard changes" }).click();
      await change.waitFor();
      await change.focus();
      await focused(change);
    },
  },

  "after an answer the next card is in view as a whole, and what was answered still is": {
    scene: "chat",
    height: 700,
    async run(page) {
      const cards = page.locator("[data-request]");
      await page.evaluate(() => {
        const { chats, hello, permissions } = globalThis.fake;
        const chat = chats.of(hello.open_chat);
        const call = { title: "Write note", doing: "write a note", did: "", plugin: "Notes" };
        for (const n of [1, 2]) permissions.ask(chat, { ...call, tool: `notes:write_${n}` }, { n });
      });
      await cards.nth(1).waitFor();
      await page.mouse.move(600, 200);
      await page.mouse.wheel(0, -3000); // the end is followed no more
      await settled(page);
      const allow = cards.first().getByRole("button", { name: "Allow once" });
      // The first card ends where the view ends, and the next is below.
      const place = () =>
        allow.evaluate((button) => {
          const scroller = button.closest(".scroller");
          const { bottom } = button.closest("[data-request]").getBoundingClientRect();
          const by = bottom - scroller.getBoundingClientRect().bottom;
          scroller.scrollTop += by;
          return Math.abs(by);
        });
      for (let i = 0; i < 5 && (await place()) > 1; i++) await settled(page);
      await armed(page);
      await allow.press("Enter");
      await page.waitForFunction(() => {
        const view = document.querySelector(".scroller").getBoundingClientRect();
        const cards = [...document.querySelectorAll("[data-request]")];
        const line = [...document.querySelectorAll(".tool")].at(-1);
        if (cards.length !== 1 || !line) return false;
        return (
          cards[0].getBoundingClientRect().bottom <= view.bottom &&
          line.getBoundingClientRect().top >= view.top
        );
      });
      await focused(message(page)); // it takes no focus
    },
  },

  "a layout shift disarms the buttons again": {
    scene: "permission",
    async run(page) {
      await armed(page);
      const allow = page.getByRole("button", { name: "Allow once" });
      const before = await allow.boundingBox();
      const on = await stopped(page);
      // A space above it would not do: who follows the end is not shown that it came.
      await page.evaluate(() => {
        document.querySelector(".ask").style.translate = "0 -80px";
      });
      const box = await allow.boundingBox();
      assert.ok(before.y - box.y > 70, `it moved by ${before.y - box.y} px`);
      await page.mouse.click(box.x + 10, box.y + 10);
      await noticed(page, "The card just moved");
      assert.deepEqual(await answers(page), []);
      await on();
      await armed(page);
    },
  },

  "a request that joins another disarms the buttons, wherever they stand": {
    scene: "permission",
    async run(page) {
      await armed(page);
      await page.evaluate(() => {
        const card = document.querySelector(".ask"); // nothing of it moves
        Object.assign(card.style, { height: "480px", position: "relative" });
        Object.assign(card.querySelector(".buttons").style, {
          position: "absolute",
          bottom: "10px",
        });
      });
      await armed(page);
      const box = await page.getByRole("button", { name: "Allow once" }).boundingBox();
      const on = await stopped(page);
      await page.evaluate(() => globalThis.fake.permissions.join());
      await page.getByText(/2 .*(calls|requests)/).waitFor();
      await page.mouse.click(box.x + 10, box.y + 10);
      await noticed(page, "The card just moved");
      assert.deepEqual(await answers(page), []);
      await on();
      await armed(page);
    },
  },

  "F111 a press that is not believed says so, and moves nothing": {
    scene: "permission",
    async run(page) {
      await armed(page);
      const allow = page.getByRole("button", { name: "Allow once" });
      const laid = () =>
        allow.evaluate((button) => {
          const card = button.closest(".ask").getBoundingClientRect();
          return [card.height, button.getBoundingClientRect().top - card.top];
        });
      const before = await laid();
      await allow.evaluate((button) => {
        button.closest(".ask").style.marginTop = "8px";
        const { x, y } = button.getBoundingClientRect();
        const press = { clientX: x, clientY: y, bubbles: true };
        button.dispatchEvent(new PointerEvent("pointerdown", press));
        button.dispatchEvent(new MouseEvent("click", press));
      });
      await noticed(page, "The card just moved");
      assert.deepEqual(await answers(page), []);
      assert.deepEqual(await laid(), before);
      await armed(page);
      await allow.click();
      await allow.waitFor({ state: "detached" });
    },
  },

  "F111 the pill to the end never covers the buttons of a card": {
    scene: "batch",
    height: 560,
    async run(page) {
      const buttons = page.locator(".batch .buttons");
      await buttons.waitFor({ state: "attached" });
      await page.getByRole("heading", { name: /^.* a note, 6 times, in Reports$/ }).waitFor();
      for (let y = 0; y < 700; y += 20) {
        await page.mouse.move(600, 200);
        await page.mouse.wheel(0, y < 20 ? -3000 : 20);
        await page.evaluate(
          () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
        );
        const overlap = await page.evaluate(() => {
          const pill = document.querySelector(".pill")?.getBoundingClientRect();
          const row = document.querySelector(".batch .buttons")?.getBoundingClientRect();
          if (!pill || !row) return 0;
          return Math.min(pill.bottom, row.bottom) - Math.max(pill.top, row.top);
        });
        assert.ok(overlap <= 0, `the pill covers ${overlap} px of the buttons`);
      }
    },
  },

  "calls of one tool are told apart where they wait, by what each is about": {
    scene: "batch",
    async run(page) {
      const rows = page.locator(".pending");
      await counts(rows, 6);
      assert.equal(new Set(await rows.locator(".words").allInnerTexts()).size, 6);
      const answer = rows.filter({ hasText: "path: Reports/part-4.md" }).getByRole("button");
      const about = await answer.evaluate(
        (b) => document.getElementById(b.getAttribute("aria-describedby")).textContent,
      );
      assert.match(about, /part-4\.md/);
      await answer.focus();
      await page.keyboard.press("Enter");
      await focused(page.locator(".batch h3"));
    },
  },

  "the answers to several calls stand in one row, where there is room for three": {
    scene: "batch",
    width: 900,
    async run(page) {
      const buttons = page.locator(".batch [data-answers] button");
      await armed(page, "Allow all 6 once");
      const tops = await buttons.evaluateAll((all) => all.map((b) => b.offsetTop));
      assert.deepEqual(tops, [tops[0], tops[0], tops[0]]);
      await page.getByRole("button", { name: "Review each" }).press("Enter");
      await counts(page.locator(".ask"), 6);
    },
  },

  "a long value is closed from wherever one reads it, and its box stays where it was": {
    scene: "falsecard",
    async run(page) {
      const box = page.locator(".ask .given");
      const opens = box.getByRole("button", { name: /^Show all 11,/ });
      await opens.press("Enter");
      const closes = box.getByRole("button", { name: "Show less" });
      await focused(closes);
      const value = box.locator("dd:has([aria-expanded=true])");
      await value.evaluate((dd) => (dd.closest(".given").scrollTop += 3000));
      const where = (button) =>
        button.evaluate((b) => {
          const { top, bottom } = b.getBoundingClientRect();
          const seen = b.closest(".given").getBoundingClientRect();
          return { y: top - seen.top, seen: top >= seen.top && bottom <= seen.bottom + 1 };
        });
      const was = await where(closes);
      assert.ok(was.seen, `${was.y}`);
      await closes.press("Enter");
      await focused(opens);
      const is = await where(opens);
      assert.ok(is.seen && Math.abs(is.y - was.y) < 2, `${was.y} became ${is.y}`);
    },
  },

  "the shortcut leads to calls before plugins, and to the card that it was said for": {
    scene: "batch",
    async run(page) {
      await page.locator(".batch").waitFor(); // before it, the shortcut leads nowhere
      const calls = await page.evaluate(() => {
        const { bus, permissions, plugins } = globalThis.fake;
        const { requests } = permissions;
        plugins.change("dice", { state: "needs-approval" });
        const [first] = requests;
        const asks = { ...first, id: "plugin-1", kind: "plugin", plugin: "dice", conversation: "" };
        permissions.requests = [asks, ...requests];
        bus.changed("permissions");
        return requests.map((r) => r.id);
      });
      await page.keyboard.press("Control+Shift+P");
      await focused(page.locator(".batch h3"));
      await page.evaluate((ids) => {
        const { bus, permissions } = globalThis.fake;
        permissions.requests = permissions.requests.filter((r) => !ids.includes(r.id));
        bus.changed("permissions");
      }, calls);
      await page.locator(".batch").waitFor({ state: "detached" });
      await page.keyboard.press("Control+Shift+P");
      await focused(page.locator("[data-plugin=dice] .approval .title"));
    },
  },

  "what a model writes into a request stays inside its box": {
    scene: "falsecard",
    async run(page) {
      await armed(page);
      await settled(page);
      const box = await page.locator(".ask .given").boundingBox();
      const card = await page.locator(".ask").boundingBox();
      assert.ok(box.height <= 260 && card.height < 700, `${box.height} of ${card.height}`);
      const out = await page.evaluate(() => {
        const given = document.querySelector(".ask .given");
        const frame = given.getBoundingClientRect();
        return [...given.querySelectorAll("*")].filter((e) => {
          const r = e.getBoundingClientRect();
          return r.left < frame.left - 1 || r.right > frame.right + 1;
        }).length;
      });
      assert.equal(out, 0);
      assert.equal(await page.locator(".ask .given :is(a, input, img, svg)").count(), 0);
      // The buttons in it are the card's own, and only show more of the words.
      for (const words of await page.locator(".ask .given button").allInnerTexts())
        assert.match(words, /^Show all [\d,]+ characters$/);
      assert.equal(await page.locator(".ask h3").count(), 1);
      assert.equal(await page.getByRole("button", { name: "Allow once" }).count(), 1);
    },
  },

  "of one message, what only reads is one card and what writes another; reading is allowed for good, writing asks":
    {
      scene: "kinds",
      async run(page) {
        await page.getByRole("heading", { name: "4 requests: Read note, List notes" }).waitFor();
        assert.equal(await page.locator(".batch").count(), 1);
        await page
          .getByText(
            "Read note, List notes: always, only in /home/ada/Documents/Notes, when your model asks, " +
              "in all chats, until you revoke it.",
          )
          .waitFor();
        const always = page.locator(".batch").getByRole("button", { name: "Allow from now on" });
        await armed(page, "Allow from now on");
        await always.focus();
        await page.keyboard.press("Enter");
        await page.locator(".batch").waitFor({ state: "detached" });
        await page.waitForFunction(() => globalThis.fake.given("Permissions.Answer").length === 4);
        assert.deepEqual(
          (await answers(page)).map((a) => [a.effect, a.lasting]),
          Array(4).fill(["allow", true]),
        );
        await page
          .locator(".ask")
          .getByRole("heading", { name: /wants to write a note$/ })
          .waitFor();
      },
    },

  "after five quick yeses a card says so, and offers its rule first": {
    scene: "hurried",
    async run(page) {
      await page.getByText("Asked too often?").waitFor();
      await armed(page, "Allow from now on");
      await page.getByRole("button", { name: "Allow from now on" }).focus();
      await page.keyboard.press("Enter");
      await page.waitForFunction(() => globalThis.fake.given("Permissions.Answer").length === 1);
      assert.deepEqual(
        (await answers(page)).map((a) => [a.effect, a.lasting]),
        [["allow", true]],
      );
    },
  },

  "in a chat with text of others, reading from one host can be allowed for the chat": {
    scene: "tainted",
    async run(page) {
      await armed(page);
      await page.getByRole("button", { name: "Allow more…" }).click();
      const here = page.getByRole("button", {
        name: /only to docs.example.org, even though it contains text/,
      });
      await armed(page, /only to docs.example.org, even though it contains text/);
      await here.focus();
      await page.keyboard.press("Enter");
      await page.waitForFunction(() => globalThis.fake.given("Permissions.Answer").length === 1);
      assert.deepEqual(
        (await answers(page)).map((a) => [a.effect, a.here, a.trust]),
        [["allow", true, false]],
      );
    },
  },
};
