/** The states of the council's panel, one scene each. Named in the address: ?scene=council */
import type { Fake } from "../fake";
import type * as t from "../generated";
import type { Conversation } from "./chats";
import { textPart } from "./chats";
import { paragraphs } from "./content";
import {
  called,
  chair,
  council,
  ended,
  estimate,
  spent,
  lane,
  member,
  presets,
  run,
  task,
  three,
} from "./council";

const [researcher, sceptic, maker] = three as [t.Member, t.Member, t.Member];

const says = (html: string, points: t.Point[] = [], change: Partial<t.Said> = {}): t.Said => ({
  html,
  text: html.replace(/<[^>]+>/g, ""),
  opinion: points.length ? { position: "Plant now, water evenly", points } : null,
  first: 0,
  stances: [],
  ballot: null,
  chosen: "",
  ...change,
});

const line = (of: t.Run, change: Partial<t.CouncilLine> = {}): t.CouncilLine => ({
  run: of.run,
  state: of.state,
  live: of.live,
  members: of.members,
  silent: 0,
  disagree: of.result?.disagreement.length ?? 0,
  ms: of.ms,
  cost: of.spent.cost,
  known: of.spent.known,
  seats: of.lanes
    .filter((lane) => lane.member !== "" && lane.in)
    .map(({ name, letter, color }) => ({
      name,
      letter,
      color,
      agreed: of.result?.agreed.includes(letter) ?? false,
    })),
  ...change,
});

/** A chat whose question is answered, or is being answered, by a council. */
function begun(
  f: Fake,
  members: t.Member[] = three,
  change: Partial<t.Council> = {},
): Conversation {
  const c = f.chats.add("Tomatoes that split", new Date());
  f.hello.open_chat = c.chat.id;
  f.hello.settings.dock_tab = "council";
  f.council.settings.council = council(members, change);
  f.chats.say(c, "user", [
    textPart(
      paragraphs("Why do my tomatoes split, and what should I do about it before the autumn?"),
    ),
  ]);
  return c;
}

function shown(f: Fake, c: Conversation, of: t.Run, answer = true): void {
  f.council.add(of);
  if (answer)
    f.chats.say(
      c,
      "assistant",
      [
        textPart([
          "<p>They split because they drink unevenly: a dry week, then rain. Water a little every day and cover the soil. [a1] [b1]</p>",
          "<p>Whether to pick them green is disputed: two members would, one would not. [b2] [c1] Pick a few, and see.</p>",
        ]),
      ],
      { council: line(of) },
    );
  f.council.said.set(
    "0/researcher/answer",
    says(
      "<p>Splitting follows a jump of water in the soil. Two trials name <strong>uneven watering</strong> as the main cause.</p><p>Mulch evens it out.</p>",
      [
        { claim: "Uneven watering makes the skin split.", basis: "tool", source: "Search the web" },
        { claim: "Mulch keeps the soil evenly moist.", basis: "own" },
      ],
    ),
  );
  f.council.said.set(
    "0/sceptic/answer",
    says("<p>Water, yes. But I would not pick green fruit: it never tastes of anything.</p>", [
      { claim: "Uneven watering is the cause.", basis: "own" },
      { claim: "Fruit picked green has no taste.", basis: "own" },
    ]),
  );
  f.council.said.set(
    "0/maker/answer",
    says("<p>Pick what is large now, water each evening, cover the soil on Saturday.</p>", [
      {
        claim: "Pick large fruit green and let it ripen inside.",
        basis: "given",
        source: "your question",
      },
    ]),
  );
  const blocks: t.BlockText[] = [
    {
      source: "role",
      title: "Role",
      text: "You are Sceptic. You look for what is wrong.\nBe short.",
      tokens: 61,
      cut: 0,
      why: "",
    },
    {
      source: "system",
      title: "System text",
      text: "",
      tokens: 0,
      cut: 24,
      why: "Left out: this member is not given the system text.",
    },
    {
      source: "turn",
      title: "Your question",
      text: "Why do my tomatoes split, and what should I do about it before the autumn?",
      tokens: 21,
      cut: 0,
      why: "",
    },
    {
      source: "file",
      title: "garden.pdf",
      text: "",
      tokens: 0,
      cut: 2140,
      why: "Left out: this member is given no attachments.",
    },
  ];
  const body = JSON.stringify({
    model: "large-2",
    messages: [
      { role: "system", content: "You are Sceptic. You look for what is wrong.\nBe short." },
      {
        role: "user",
        content: "Why do my tomatoes split, and what should I do about it before the autumn?",
      },
    ],
    temperature: 0.7,
    stream: true,
  });
  for (const id of ["researcher", "sceptic", "maker"])
    f.council.sent.set(`0/${id}/answer`, [
      {
        model: id === "sceptic" ? "acme/large-2" : "demo/guide",
        tool: "",
        body,
        bytes: body.length,
        blocks:
          id === "sceptic"
            ? blocks
            : [
                ...blocks.slice(0, 1),
                {
                  source: "system",
                  title: "System text",
                  text: "Answer in plain words.",
                  tokens: 24,
                  cut: 0,
                  why: "",
                },
                {
                  source: "memory",
                  title: "About you",
                  text: "Has a garden of 40 m² in Lyon.",
                  tokens: 12,
                  cut: 0,
                  why: "",
                },
                ...blocks.slice(2, 3),
                {
                  source: "call",
                  title: "Result of Search the web",
                  text: "Two trials of 2019 and 2022 …",
                  tokens: 480,
                  cut: 900,
                  why: "The result was too long; its beginning is here.",
                },
              ],
        tokens: id === "sceptic" ? 82 : 598,
        at_ms: 4,
        without: "",
      },
    ]);
  f.council.diff = [
    { kind: "removed", text: "You are Sceptic. You look for what is wrong." },
    { kind: "added", text: "You are Researcher. You find what is known." },
    { kind: "same", text: "Be short." },
    { kind: "added", text: "Answer in plain words." },
    { kind: "added", text: "Has a garden of 40 m² in Lyon." },
    ...Array.from({ length: 12 }, (_, i): t.DiffLine => ({
      kind: "same",
      text: `Line ${i + 1} of the question`,
    })),
  ];
}

const result: t.Result = {
  agreement: [
    { text: "Uneven watering makes them split.", points: ["a1", "b1"], agree: ["c"], against: [] },
  ],
  disagreement: [
    {
      text: "Fruit picked green has no taste.",
      points: ["b2"],
      agree: [],
      against: ["Maker disagrees: It ripens inside."],
    },
  ],
  not_checked: [
    { text: "Mulch keeps the soil evenly moist.", points: ["a2"], agree: [], against: [] },
    { text: "Fruit picked green has no taste.", points: ["b2"], agree: [], against: [] },
  ],
  agreed: ["a", "b"],
  points: 5,
  tally: [],
  missing: [],
};

const stored = (id: string, change: Partial<t.Run> = {}) =>
  run(
    id,
    [
      lane(researcher, "a", [
        ended("0/researcher/answer", 0, 6200, 0.014, {
          calls: [called("11", "Search the web", 900, 3400)],
        }),
      ]),
      lane(sceptic, "b", [ended("0/sceptic/answer", 0, 4100, 0.011)]),
      lane(maker, "c", [ended("0/maker/answer", 300, 5600, 0.006)]),
      chair([ended("synthesis", 6400, 11_800, 0.006, { kind: "synthesis", sent: 0, bytes: 0 })]),
    ],
    { result, ...change },
  );

/** Twelve members. */
function twelve(): t.Member[] {
  const names = [
    "Ada",
    "Boole",
    "Curie",
    "Darwin",
    "Euler",
    "Franklin",
    "Gauss",
    "Hopper",
    "Ito",
    "Jemison",
    "Khayyam",
    "Lovelace",
  ];
  return names.map((name, i) =>
    member(name.toLowerCase(), name, {
      role: i % 3 ? "" : "Looks at the numbers and says what they mean",
    }),
  );
}

/** A run that is worked on, so many ms after its beginning. */
const live = (id: string, lanes: t.Lane[], ms: number, change: Partial<t.Run> = {}) =>
  run(id, lanes, {
    state: "running",
    live: true,
    ms,
    spent: { input_tokens: 2400, output_tokens: 300, ms, cost: 0.009, known: true },
    ...change,
  });

const working = (id: string, from: number, phase: t.LanePhase, change: Partial<t.Task> = {}) =>
  task(id, { state: "working", phase, start_ms: from, sent: 1, ...change });

function running(f: Fake): { c: Conversation; lanes: t.Lane[] } {
  const c = begun(f);
  const lanes = [
    lane(researcher, "a", [
      working("0/researcher/answer", 0, "using", {
        calls: [called("11", "Search the web", 900, 0)],
        note: "Waiting for its plugin.",
      }),
    ]),
    lane(sceptic, "b", [
      working("0/sceptic/answer", 0, "writing", {
        text: "Water, yes. But I would not pick green fruit: it never tastes of anything.\nWhat I miss is when it last rained, and whether the plants stand under glass. If they do, rain is no reason at all, and the watering can is.",
      }),
    ]),
    lane(maker, "c", [working("0/maker/answer", 300, "thinking")]),
    chair([]),
  ];
  f.chats.busy(c, "waiting", { note: "" });
  return { c, lanes };
}

const failing = (of: t.Member, why: string, hint: string, ms = 800) =>
  task(`0/${of.id}/answer`, {
    state: "failed",
    start_ms: 0,
    end_ms: ms,
    why,
    hint,
    sent: 1,
    detail: "model overloaded",
  });

const searched: t.CallDetail = {
  id: "11",
  arguments: '{\n  "query": "watering tomatoes"\n}',
  raw_arguments: "",
  result: "Three pages found.",
  result_marked: "Three pages found.",
  hidden_removed: 0,
  result_json: "",
  result_cut: 0,
  media: [],
  printed: "",
  error: "",
  error_type: "",
  traceback: "",
  digest: "4a7d1ed414474e40",
  started: "2026-11-21T09:00:00Z",
  ended: "2026-11-21T09:00:02Z",
  ms: 2500,
  caller: "Researcher (council)",
  why: ["You allowed it for this chat."],
  hooks: [],
};

/** Researcher waits for an answer before it searches. */
const asking = (
  c: Conversation,
  change: Partial<t.PermissionRequest> = {},
): t.PermissionRequest => ({
  id: "request-1",
  nonce: "nonce-1",
  kind: "call",
  caller: "member:researcher",
  plugin: "web",
  plugin_name: "Web",
  tool: "web:search",
  title: "Researcher (council) wants to search the web",
  name: "Search the web",
  capabilities: ["network"],
  arguments: JSON.stringify({ query: "why do tomatoes split" }),
  reach: "Can reach: any address on the internet.",
  care: "What it will send cannot be shown before, and cannot be taken back.",
  reason: "Asked because: first time Researcher uses this tool.",
  history: "",
  folder: "",
  conversation: c.chat.id,
  chat_title: c.chat.title,
  project: "",
  seq: 0,
  call: "11",
  count: 1,
  scopes: ["once", "this-answer", "this-chat", "until-quit", "always"],
  only: [],
  trust: "",
  here: "",
  fixed: false,
  hurried: false,
  reads: false,
  council: true,
  lasting: "always",
  asked: new Date().toISOString(),
  expires: new Date(Date.now() + 600_000).toISOString(),
  hidden: 0,
  marks: [],
  warnings: [],
  original: null,
  preview: null,
  ...change,
});

export const councilScenes: Record<string, (f: Fake) => void> = {
  council: (f) => {
    const c = begun(f);
    shown(f, c, stored(c.chat.id));
    f.chats.details.set("11", searched);
  },
  // A member did its work without a call that the person refused.
  councilrefused: (f) => {
    const c = begun(f);
    const of = stored(c.chat.id);
    const [task] = of.lanes[0]?.tasks ?? [];
    if (task) task.refused = 1;
    for (const call of task?.calls ?? []) call.state = "refused";
    shown(f, c, of);
  },
  // Each used its tools; what of the chat one was handed can be seen.
  councilhanded: (f) => {
    const used = { kind: "tool" as const, tool: "web:search", title: "Search the web" };
    const id = "0/researcher/web:search";
    const c = begun(f, [{ ...researcher, tools: ["web:search"] }], { mode: "tools" });
    const done = ended(id, 0, 2100, 0, {
      ...used,
      calls: [called("11", "Search the web", 4, 2100)],
    });
    const of = run(c.chat.id, [lane(researcher, "a", [done]), chair([])], {
      mode: "tools",
      members: 1,
      result: {
        ...result,
        agreement: [],
        disagreement: [],
        not_checked: [],
        agreed: [],
        points: 0,
      },
    });
    shown(f, c, of);
    f.council.said.set(id, says("<p>Three pages found.</p>"));
    const question = "Why do my tomatoes split, and what should I do about it before the autumn?";
    const body = JSON.stringify([{ role: "user", content: question }]);
    f.council.sent.set(id, [
      {
        model: "web:search",
        tool: "Search the web",
        body,
        bytes: body.length,
        blocks: [
          { source: "turn", title: "Your question", text: question, tokens: 21, cut: 0, why: "" },
          {
            source: "file",
            title: "garden.pdf",
            text: "",
            tokens: 0,
            cut: 2140,
            why: "Tools are given text alone.",
          },
        ],
        tokens: 21,
        at_ms: 4,
        without: "",
      },
    ]);
  },
  // A review that adds a point to those of the answer before it.
  councilreview: (f) => {
    const c = begun(f);
    const of = stored(c.chat.id, { mode: "review" });
    const [first] = of.lanes as [t.Lane];
    first.tasks.push(ended("1/researcher/review", 6200, 7400, 0.002, { kind: "review" }));
    first.drawn = [
      { letter: "a", name: "Maker" },
      { letter: "b", name: "Sceptic" },
    ];
    const added = { text: "A dry week is enough.", points: ["a3"], agree: [], against: [] };
    of.result = { ...result, not_checked: [...result.not_checked, added], points: 6 };
    shown(f, c, of);
    f.council.said.set(
      "1/researcher/review",
      says(
        "<p>b is right about the taste, and a forgets the rain.</p>",
        [{ claim: added.text, basis: "own" }],
        {
          first: 2,
          stances: [{ point: "b2", says: "agree" }],
        },
      ),
    );
  },
  councilempty: (f) => {
    const c = begun(f, []);
    f.chats.say(c, "assistant", [textPart(paragraphs("Because they drink unevenly."))]);
  },
  councilset: (f) => {
    begun(f);
    f.council.estimate = estimate({
      tasks: {
        "0/researcher/answer": spent({ ms: 9000, known: false }),
        "0/sceptic/answer": spent({ ms: 7000, cost: 0.012 }),
        chair: spent({ ms: 5000, cost: 0.02 }),
      },
    });
  },
  // Two presets of the person's beside those that come with Conclave.
  councilpresets: (f) => {
    begun(f);
    const own = (name: string, of: t.Council): t.CouncilPreset => ({
      name,
      sentence: "",
      own: true,
      council: { ...of, name },
    });
    f.council.choices.presets = [
      ...presets,
      own("Garden", council([researcher, maker], { mode: "review" })),
      own("My reviewers", council([sceptic])),
    ];
  },
  councilproblems: (f) => {
    begun(f, [
      { ...researcher, tools: ["web:search", "old:gone"] },
      { ...sceptic, model: "acme/gone" },
      { ...maker, off: true },
    ]);
    f.council.estimate = estimate({
      calls: 2,
      known: false,
      cost: 0,
      helper: true,
      problems: ["Sceptic has no model. Choose one for it, or a helper model for the council."],
    });
  },
  councillive: (f) => {
    const { c, lanes } = running(f);
    for (const task of lanes[0]?.tasks ?? []) task.due_ms = 300_000; // as long as no scene takes
    f.council.add(live(c.chat.id, lanes, 3200, { due_ms: 1_200_000 }));
  },
  councilpermission: (f) => {
    const { c, lanes } = running(f);
    f.permissions.requests.push(asking(c));
    const [first] = lanes;
    if (first?.tasks[0]) {
      first.tasks[0].calls = [
        called("11", "Search the web", 900, 0, { request: "request-1", state: "waiting" }),
      ];
      first.tasks[0].note = "";
    }
    f.council.add(live(c.chat.id, lanes, 3200));
  },
  // The members are done; a call of the model that writes the answer waits for the person.
  councilchair: (f) => {
    const { c } = running(f);
    const { lanes } = stored(c.chat.id);
    const done = lanes.filter((l) => l.member !== "");
    const chaired = working("synthesis", 6400, "writing", {
      kind: "synthesis",
      sent: 0,
      spent: spent({ known: false }),
    });
    f.permissions.requests.push(
      asking(c, {
        caller: "main",
        council: false,
        title: "Demo guide wants to search the web",
        reason: "Asked because: first time this tool runs.",
      }),
    );
    f.council.add(live(c.chat.id, [...done, chair([chaired])], 9000, { state: "answering" }));
  },
  councilasking: (f) => {
    const c = begun(f, three, { mode: "tools" });
    f.council.add(
      live(
        c.chat.id,
        [
          lane(researcher, "a", [
            ended("0/researcher/web:search", 0, 2100, 0, {
              kind: "tool",
              tool: "web:search",
              title: "Search the web",
            }),
            task("0/researcher/text:word_count", {
              kind: "tool",
              tool: "text:word_count",
              title: "Word count",
              state: "failed",
              start_ms: 0,
              end_ms: 1200,
              why: "Word count did not answer in 30 s.",
              hint: "Try it again, or look at its log.",
            }),
          ]),
          lane({ ...sceptic, chance: 40 }, "b", [], {
            in: false,
            why: "Its chance did not come up.",
            roll: 71.3,
          }),
          lane(
            { ...maker, chance: 80 },
            "c",
            [
              ended("0/maker/notes:write_note", 0, 900, 0, {
                kind: "tool",
                tool: "notes:write_note",
                title: "Write note",
              }),
            ],
            { roll: 12.4 },
          ),
          chair([]),
        ],
        2200,
        { mode: "tools", state: "asking" },
      ),
    );
    f.chats.busy(c, "waiting", { note: "" });
  },
  councilfailed: (f) => {
    const c = begun(f);
    const offline = (of: t.Member) =>
      failing(
        of,
        `${of.name} could not reach its model.`,
        "Check the connection, or choose another model.",
      );
    shown(
      f,
      c,
      run(
        c.chat.id,
        [
          lane(researcher, "a", [offline(researcher)]),
          lane(sceptic, "b", [offline(sceptic)]),
          lane(maker, "c", [offline(maker)]),
          chair([ended("synthesis", 900, 3100, 0.002, { kind: "synthesis", sent: 0, bytes: 0 })]),
        ],
        {
          ms: 3100,
          members: 3,
          result: {
            agreed: [],
            points: 0,
            agreement: [],
            disagreement: [],
            not_checked: [],
            tally: [],
            missing: three.map((m) => `${m.name} could not reach its model.`),
          },
        },
      ),
    );
  },
  councilone: (f) => {
    const c = begun(f, [sceptic]);
    f.council.estimate = estimate({
      calls: 2,
      cost: 0.012,
      seconds: 7,
      problems: ["One member works; there is nothing to compare."],
    });
    shown(
      f,
      c,
      run(
        c.chat.id,
        [
          lane(sceptic, "a", [ended("0/sceptic/answer", 0, 4100, 0.011)]),
          chair([ended("synthesis", 4200, 7100, 0.003, { kind: "synthesis", sent: 0, bytes: 0 })]),
        ],
        {
          ms: 7100,
          members: 1,
          result: {
            ...result,
            agreement: [],
            disagreement: [],
            not_checked: [
              { text: "Uneven watering is the cause.", points: ["a1"], agree: [], against: [] },
            ],
          },
        },
      ),
    );
  },
  councilcap: (f) => {
    const c = begun(f, three, { limits: { money: 0.01 } });
    f.council.estimate = estimate({
      cap: 0.01,
      problems: ["It may cost about $0.04, and is to stop at $0.01."],
    });
    shown(
      f,
      c,
      stored(c.chat.id, {
        early: "The council stopped at its cap of $0.01.",
        lanes: [
          lane(researcher, "a", [ended("0/researcher/answer", 0, 4200, 0.0091)]),
          lane(sceptic, "b", [
            task("0/sceptic/answer", {
              state: "capped",
              attempt: 0,
              why: "The run may not cost more.",
            }),
          ]),
          lane(maker, "c", [task("0/maker/answer", { state: "skipped", why: "You skipped it." })]),
          chair([ended("synthesis", 4300, 8800, 0.006, { kind: "synthesis", sent: 0, bytes: 0 })]),
        ],
        ms: 8800,
        result: {
          ...result,
          agreement: [],
          disagreement: [],
          missing: [
            "Sceptic was not asked: the run may not cost more.",
            "Maker was skipped by you.",
          ],
        },
      }),
    );
  },
  councilinterrupted: (f) => {
    const c = begun(f);
    const of = run(
      c.chat.id,
      [
        lane(researcher, "a", [ended("0/researcher/answer", 0, 4200, 0.009)]),
        lane(sceptic, "b", [task("0/sceptic/answer", { state: "working", phase: "reading" })]),
        lane(maker, "c", [task("0/maker/answer", { state: "waiting" })]),
        chair([]),
      ],
      {
        state: "running",
        ms: 5200,
        spent: { input_tokens: 1240, output_tokens: 260, ms: 5200, cost: 0.009, known: true },
      },
    );
    f.council.add(of);
    const last = c.entries.at(-1);
    if (last) last.reason = "interrupted";
  },
  counciledited: (f) => {
    const c = begun(f);
    shown(
      f,
      c,
      stored(c.chat.id, {
        edited: true,
        problem:
          "Step 14 was changed after it was written; the record cannot be trusted from there on.",
      }),
    );
  },
  councilvote: (f) => {
    const voters = [researcher, sceptic, maker];
    const c = begun(f, voters, { mode: "vote", choices: ["Water daily", "Pick green", "Wait"] });
    const lanes = voters.map((m, i) =>
      lane(m, "abc"[i] ?? "", [
        ended(`0/${m.id}/answer`, 0, 3000 + 500 * i, 0.008),
        ended(`1/${m.id}/ballot`, 4200, 5300 + 200 * i, 0.002, { stage: 1, kind: "ballot" }),
      ]),
    );
    for (const [i, m] of voters.entries())
      f.council.said.set(
        `1/${m.id}/ballot`,
        says("", [], {
          ballot: { choice: i === 2 ? "Pick green" : "Water daily", why: "It costs nothing." },
        }),
      );
    shown(
      f,
      c,
      stored(c.chat.id, {
        mode: "vote",
        lanes: [
          ...lanes,
          chair([ended("synthesis", 6000, 9400, 0.006, { kind: "synthesis", sent: 0, bytes: 0 })]),
        ],
        ms: 9400,
        result: {
          ...result,
          tally: [
            { member: "", choice: "Water daily", votes: 2, score: 8.3 },
            { member: "", choice: "Pick green", votes: 1, score: 5 },
            { member: "", choice: "Wait", votes: 0, score: 2.1 },
          ],
        },
      }),
    );
  },
  councilsealed: (f) => {
    const c = begun(f, three, { mode: "vote" });
    f.council.add(
      live(
        c.chat.id,
        three.map((m, i) =>
          lane(m, "abc"[i] ?? "", [
            ended(`0/${m.id}/answer`, 0, 3000 + 500 * i, 0.008),
            i < 2
              ? ended(`1/${m.id}/ballot`, 4200, 4900 + 300 * i, 0.002, {
                  stage: 1,
                  kind: "ballot",
                  sealed: true,
                })
              : working(`1/${m.id}/ballot`, 4200, "writing", {
                  stage: 1,
                  kind: "ballot",
                  sealed: true,
                }),
          ]),
        ),
        5600,
        { mode: "vote" },
      ),
    );
    f.chats.busy(c, "waiting", { note: "" });
  },
  councilagain: (f) => {
    const c = begun(f);
    shown(f, c, stored(c.chat.id));
    f.council.add(
      stored(c.chat.id, {
        run: "run-2",
        began: new Date(Date.now() - 60_000).toISOString(),
        again: "run-1",
        change: "Sceptic speaks through Small 2.",
        ms: 9100,
        result: {
          ...result,
          agreement: [],
          disagreement: [...result.agreement, ...result.disagreement],
        },
      }),
    );
  },
  counciltwelve: (f) => {
    const many = twelve();
    const c = begun(f, many);
    f.council.estimate = estimate({ calls: 13, cost: 0.11, seconds: 31 });
    f.council.add(
      live(
        c.chat.id,
        [
          ...many.map((m, i) =>
            lane(m, "abcdefghijkl"[i] ?? "", [
              working(`0/${m.id}/answer`, 200 * i, "writing", { text: `${m.name} says: ` }),
            ]),
          ),
          chair([]),
        ],
        4000,
      ),
    );
    f.chats.busy(c, "waiting", { note: "" });
  },
  // A run of twelve members in four rounds, and a small one after it.
  counciltwelvestored: (f) => {
    const many = twelve();
    const c = begun(f, many);
    const letters = "abcdefghijkl";
    const lanes = many.map((m, i) =>
      lane(
        m,
        letters[i] ?? "",
        [0, 1, 2, 3].map((round) =>
          ended(`${round}/${m.id}/answer`, 9000 * round + 100 * i, 9000 * round + 6000, 0.002, {
            kind: round ? "review" : "answer",
            calls: round ? [] : [called(`${i}`, "Search the web", 900, 3400)],
          }),
        ),
      ),
    );
    const found = many.map((m, i) => ({
      text: `${m.name} says that uneven watering makes them split.`,
      points: [`${letters[i]}1`, `${letters[(i + 1) % 12]}2`],
      agree: ["a", "b"],
      against: [`${m.name} disagrees: It ripens inside.`],
    }));
    const all = {
      ...result,
      agreement: found,
      disagreement: found,
      not_checked: found,
      points: 48,
    };
    shown(
      f,
      c,
      run(c.chat.id, [...lanes, chair([])], {
        mode: "review",
        ms: 36_000,
        result: all,
        members: 12,
      }),
    );
    f.chats.say(c, "user", [textPart(paragraphs("And the small ones?"))]);
    shown(f, c, stored(c.chat.id, { run: "run-2", began: new Date().toISOString() }));
  },
  councilfile: (f) => {
    const c = begun(f);
    shown(f, c, stored(c.chat.id));
    f.council.opened = {
      view: stored(c.chat.id, { run: "run-file" }),
      report: {
        ok: false,
        checks: [
          { ok: true, text: "41 steps and 57 texts can be read." },
          { ok: false, text: "Missing from the file: 1 text." },
        ],
        left: ["Two pictures are left out."],
      },
    };
  },
};
