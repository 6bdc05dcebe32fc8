// SPDX-License-Identifier: Apache-2.0
// A model's endpoint without a model: it makes the calls of a test, then answers "done". Implements as
// much of the APIs of Google, Anthropic and OpenAI (responses and chat completions) as the agents need,
// and records which tools an agent offers.

import { createServer } from 'node:http';
import { once } from 'node:events';

/** The names of the tools in a request of any API; tools of a namespace include its name. */
function offeredTools(request) {
  // With its newest models, Codex sends them as an item of the conversation.
  const added = Array.isArray(request.input) ? request.input.flatMap((item) =>
    (item.type === 'additional_tools' ? item.tools : [])) : [];
  return [...request.tools ?? [], ...added].flatMap((tool) => {
    if (tool.functionDeclarations) return tool.functionDeclarations.map(({ name }) => name);
    if (tool.type === 'namespace') return tool.tools.map(({ name }) => `${tool.name}__${name}`);
    return [tool.name ?? tool.function?.name ?? tool.type];
  });
}

let calls = 0;  // each has its own id

const google = {
  matches: (url) => url.includes('GenerateContent'),
  events(answer) {
    const part = answer.call
      ? { functionCall: { name: answer.call.name, args: answer.call.arguments } }
      : { text: answer.text };
    return [['', {
      candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    }]];
  },
};

const anthropic = {
  matches: (url) => url.startsWith('/v1/messages'),
  events(answer) {
    const [block, delta] = answer.call
      ? [{ type: 'tool_use', id: `toolu_${++calls}`, name: answer.call.name, input: {} },
        { type: 'input_json_delta', partial_json: JSON.stringify(answer.call.arguments) }]
      : [{ type: 'text', text: '' }, { type: 'text_delta', text: answer.text }];
    return [
      { type: 'message_start', message: {
        id: 'msg_1', type: 'message', role: 'assistant', model: 'stub', content: [],
        stop_reason: null, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 },
      } },
      { type: 'content_block_start', index: 0, content_block: block },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', usage: { output_tokens: 1 },
        delta: { stop_reason: answer.call ? 'tool_use' : 'end_turn', stop_sequence: null } },
      { type: 'message_stop' },
    ].map((event) => [event.type, event]);
  },
};

const openaiResponses = {
  matches: (url) => url.endsWith('/responses'),
  events(answer) {
    const item = answer.call
      ? { id: `item_${++calls}`, call_id: `call_${calls}`, ...answer.call,
        ...(answer.call.input === undefined
          ? { type: 'function_call', arguments: JSON.stringify(answer.call.arguments) }
          : { type: 'custom_tool_call', status: 'completed' }) }
      : { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed',
        content: [{ type: 'output_text', text: answer.text, annotations: [] }] };
    return [
      { type: 'response.created', response: { id: 'resp_1' } },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { id: 'resp_1', output: [item], usage: {
        input_tokens: 1, input_tokens_details: null, output_tokens: 1,
        output_tokens_details: null, total_tokens: 2 } } },
    ].map((event) => [event.type, event]);
  },
};

const openaiChat = {
  matches: (url) => url.endsWith('/chat/completions'),
  events(answer) {
    const chunk = (delta, finish_reason = null) => ['', {
      id: 'c', object: 'chat.completion.chunk', created: 1, model: 'stub',
      choices: [{ index: 0, delta, finish_reason }],
    }];
    const content = answer.call
      ? { tool_calls: [{ index: 0, id: `call_${++calls}`, type: 'function', function: {
        name: answer.call.name, arguments: JSON.stringify(answer.call.arguments) } }] }
      : { content: answer.text };
    return [chunk({ role: 'assistant', ...content }),
      chunk({}, answer.call ? 'tool_calls' : 'stop'), ['', '[DONE]']];
  },
};

const dialects = [google, anthropic, openaiResponses, openaiChat];

/** Starts the endpoint. `decide(tools, body)` gets the offered tools and the request's text. It returns
 *  the call to make: {name, arguments, …}, {name, input} for a tool that takes text, or nothing. */
export async function startModel(decide) {
  const turns = [];  // what each request offered, and its text
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const dialect = dialects.find(({ matches }) => matches(request.url.split('?')[0]));
    if (request.method !== 'POST' || !dialect) {
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end('{}');
      return;
    }
    const tools = offeredTools(JSON.parse(body));
    turns.push({ tools, body });
    const events = dialect.events({ call: await decide(tools, body), text: 'done' });
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const [name, data] of events) {
      response.write(`${name ? `event: ${name}\n` : ''}data: ${
        typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
    }
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    turns,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
