// spindle.connections and spindle.generate: the person's models.

import { $Error, $Map, $Promise, isArray, mapDelete, mapGet, mapSet, push, splice } from "../primordials.js";
import { ask, text } from "../bridge.js";
import { unlessAborted } from "../event.js";

function toConnection(c) {
  return {
    id: c.id, name: c.name, provider: c.provider, api_url: "", model: c.model, preset_id: null, is_default: c.is_default,
    has_api_key: c.has_key, metadata: { models: c.models }, reasoning_bindings: null, created_at: 0, updated_at: 0,
  };
}

export const connections = {
  async list() {
    return (await ask("models.connections", {})).connections.map(toConnection);
  },
  async get(id) {
    return (await connections.list()).find((c) => c.id === text(id)) ?? null;
  },
};

let last = 0;

/** questionOf is what Conclave is asked for a request. */
function questionOf(request, name) {
  const { messages, parameters, connection_id: connection, model, tools, reasoning } = request ?? {};
  if (!isArray(messages)) {
    throw new $Error("A generation needs messages.");
  }
  const effort = reasoning?.source === "off" ? "off" : reasoning?.effort ?? reasoning?.apiReasoningEffort;
  return {
    messages: messages.map((m) => ({ role: m.role, content: m.content ?? "", name: typeof m.name === "string" ? m.name : undefined })),
    parameters: parameters ?? undefined,
    connection: typeof connection === "string" ? connection : undefined,
    model: typeof model === "string" ? model : undefined,
    tools: isArray(tools) ? tools.map((t) => ({ name: t.name, description: t.description ?? "", parameters: t.parameters ?? t.inputSchema })) : undefined,
    reasoning: typeof effort === "string" ? effort : undefined,
    request: name,
  };
}

function toResponse(r) {
  const response = { content: r.content, finish_reason: r.finish_reason, usage: r.usage };
  if (r.reasoning !== undefined) {
    response.reasoning = r.reasoning;
  }
  if (r.tool_calls !== undefined) {
    response.tool_calls = r.tool_calls.map((c) => ({ name: c.name, args: c.args, call_id: c.id }));
  }
  return response;
}

const ignore = () => {};

/** whole asks once and promises the answer. An abort is heeded there as well. */
async function whole(request) {
  const name = `g${++last}`;
  const asked = ask("models.generate", questionOf(request, name));
  try {
    return toResponse(await unlessAborted(asked, request.signal));
  } catch (err) {
    if (request.signal?.aborted) {
      asked.then(ignore, ignore);
      ask("models.stop", { request: name }).then(ignore, ignore);
    }
    throw err;
  }
}

const streams = new $Map();

/** piece takes what a model said (the event conclave.piece). */
export function piece(said) {
  mapGet(streams, said.stream)?.(said);
}

/** streamed yields what the model says as it says it, then the whole answer. */
async function* streamed(request) {
  const name = `g${++last}`;
  const question = { ...questionOf(request, name), stream: name };
  const said = [];
  let seen = 0;
  let answer;
  let failure;
  let wake = ignore;
  mapSet(streams, name, (one) => {
    seen++;
    push(said, one);
    wake();
  });
  const asked = unlessAborted(ask("models.generate", question), request.signal);
  asked.then((value) => { answer = value; wake(); }, (err) => { failure = { err }; wake(); });
  try {
    for (;;) {
      while (said.length > 0) {
        const [{ kind, text: token }] = splice(said, 0, 1);
        yield { type: kind === "reasoning" ? "reasoning" : "token", token };
      }
      if (failure !== undefined) {
        throw failure.err;
      }
      if (answer !== undefined && seen >= (answer.pieces ?? 0)) {
        break;
      }
      await new $Promise((resolve) => { wake = resolve; });
    }
    yield { type: "done", ...toResponse(answer) };
  } finally {
    mapDelete(streams, name);
    if (answer === undefined) {
      ask("models.stop", { request: name }).then(ignore, ignore);
    }
  }
}

async function one(request, index) {
  try {
    return { index, success: true, ...(await whole(request)) };
  } catch (err) {
    return { index, success: false, content: "", error: text(err?.message ?? err) };
  }
}

export const generate = {
  quiet: (request) => whole(request),
  raw: (request) => whole(request),
  quietStream: (request) => streamed(request),
  rawStream: (request) => streamed(request),
  async batch(input) {
    const requests = isArray(input) ? input : input?.requests ?? [];
    const given = requests.map((r) => ({ signal: input?.signal, ...r }));
    if (input?.concurrent) {
      return $Promise.all(given.map(one));
    }
    const answers = [];
    for (let i = 0; i < given.length; i++) {
      push(answers, await one(given[i], i));
    }
    return answers;
  },
};
