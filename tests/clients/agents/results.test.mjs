// SPDX-License-Identifier: Apache-2.0
// What the model of each real agent sees of our tools and their results. A stub stands for the model and
// makes the calls below in one session; the agent is set up as `limactl mcp configure` prints it. Prints a table of
// agents and results.

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { agents, followSteps, ours, printTable } from './agent_specs.mjs';
import { toolResults, withScene } from './hostile_session.mjs';

/** A PNG of one pixel. */
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAA' +
  'AABJRU5ErkJggg==';

const lines = (count, text) =>
  Array.from({ length: count }, (_, i) => `line ${i} ${text}\n`).join('');
const quotes = 'first "quoted" \\line\\\nsecond\tline\n';
const files = {
  'quotes.txt': quotes,
  'pixel.png': Buffer.from(pixel, 'base64'),
  'latin1.txt': Buffer.from('caf\xe9\n', 'latin1'),
  '200k.txt': lines(4000, 'x'.repeat(40)),
  '8m.txt': lines(8000, 'x'.repeat(1000)),
};

const shell = (script, directory) => ({ command: ['sh', '-c', script], directory });

/** Where to go on reading, by a result. */
const offsetIn = (text) => Number(/offset[":= ]+(\d+)/.exec(text)?.[1]);

/** The model's calls in order. `call` gets the project and the texts so far, and returns the tool and its
 *  arguments. `check` gets the text of the result, the whole request, the project and all texts, or is what
 *  the text must match. `sends` is what the server has sent by then. */
const rows = [
  ['lines of a file, unescaped', (dir) => ['read_file', { path: join(dir, 'quotes.txt') }],
    (text) => assert.ok(text.includes(quotes), text)],
  ['an image', (dir) => ['read_file', { path: join(dir, 'pixel.png') }],
    (text, body) => assert.ok(body.includes(pixel), text)],
  ['a note', (dir) => ['read_file', { path: join(dir, 'latin1.txt') }], /not valid UTF-8/],
  ['the path in an error', (dir) => ['read_file', { path: join(dir, 'none.txt') }],
    (text, _body, dir) => assert.ok(text.includes(`file does not exist: ${join(dir, 'none.txt')}`), text)],
  ['a file of 200 KB, and how to go on', (dir) => ['read_file', { path: join(dir, '200k.txt') }],
    (text) => {
      assert.match(text, /^.{0,200}line 0 x/s);
      assert.match(text, /offset/);
    }],
  ['the rest of that file',
    (dir, texts) => ['read_file', { path: join(dir, '200k.txt'), offset: offsetIn(texts.at(-1)), limit: 10 }],
    (text, _body, _dir, texts) => assert.match(text, new RegExp(`line ${offsetIn(texts.at(-2))} x`))],
  ['a file of 8 MB, and how to go on', (dir) => ['read_file', { path: join(dir, '8m.txt') }],
    (text) => {
      assert.match(text, /line 0 x/);
      assert.match(text, /offset/);
    }],
  ['a range of 8 MB, or how to get it', (dir) => ['read_file', { path: join(dir, '8m.txt'), offset: 0, limit: 8000 }],
    /line 0 x|MiB/],
  ['a listing', (dir) => ['list_directory', { path: dir }], /^-rw.*quotes\.txt$/m],
  ['paths, one on a line', (dir) => ['glob', { pattern: '*.txt', path: dir }],
    (text, _body, dir) => assert.match(text, new RegExp(`^${join(dir, 'quotes.txt')}$`, 'm'))],
  ['lines that were found', (dir) => ['search_file_content', { pattern: 'quoted', path: dir }],
    (text) => assert.ok(text.includes('quotes.txt:1:first "quoted" \\line\\'), text)],
  ["a command's output, error and exit code",
    (dir) => ['run_shell_command', shell('echo "an \\"out\\""; echo err >&2; exit 3', dir)],
    (text) => {
      for (const part of [/an "out"/, /err/, /exit (status|code):? 3/]) assert.match(text, part);
    }],
  ['a cut command', (dir) => ['run_shell_command', shell(`seq -f "number %05g ${'x'.repeat(36)}" 6000`, dir)],
    /number 00001 x.*\bc1\b.*number 06000 x/s],
  ['the rest of a cut command', () => ['read_process', { id: 'c1', offset: 200_000 }], /number 04001 x/],
  ['a process started',
    (dir) => ['start_process', shell('while read line; do echo "got $line"; done; sleep 100', dir)], /\bp1\b/],
  ['a process written to', () => ['write_process', { id: 'p1', input: 'hello\n' }], /\bp1\b/],
  ['a process read', () => ['read_process', { id: 'p1', offset: 0, wait_ms: 2000 }], /got hello/],
  ['a process stopped', () => ['write_process', { id: 'p1', signal: 'TERM' }], /exit|143|TERM/],
  ['a command of 20 s, with progress',
    (dir) => ['run_shell_command', shell('for i in $(seq 20); do echo "step $i"; sleep 1; done', dir)],
    /step 20/, 'notifications/progress'],
].map(([name, call, check, sends = '']) => ({ name, call, sends,
  check: check instanceof RegExp ? (text) => assert.match(text, check) : check }));

const byConfigure = 'all tools in the first request, with configure';
const byRun = 'all tools in the first request, with run';

/** The text of a result in the format of any agent. */
function textOf(result) {
  if (typeof result === 'string') return result;
  if (Array.isArray(result)) return result.map((block) => block.text ?? '').join('\n');
  return result?.output ?? result?.error ?? JSON.stringify(result);
}

/** Starts a headless session with a model. Agents that can hide tools behind a search do so. */
async function startAgent(spec, by, scene, model) {
  const words = [...by === byRun ? spec.turnWithRun : spec.turn];
  if (model) words.splice(-1, 0, '-m', model);
  Object.assign(scene.environment, spec.deferring);
  if (by === byRun) return scene.mcp('run', spec.agent, 'default', '--trust', '--', ...words);
  scene.wire = join(scene.root, 'wire'); // what the server sends
  scene.installLimactl(`[ "$1" = serve ] || exec limactl-mcp "$@"\nlimactl-mcp "$@" | tee -a ${scene.wire}`);
  const configured = await scene.execute('limactl', 'mcp', 'configure', spec.agent, 'default');
  assert.equal(configured.code, 0, configured.stderr);
  const start = await followSteps(spec, configured.stdout, scene.project, scene.execute);
  Object.assign(scene.environment, start.environment);
  return scene.execute(spec.agent, ...start.words, ...words);
}

/** The names of our tools that the first request of a session lacks. */
function missingTools(spec, by, model) {
  return withScene(spec, {}, async (scene) => {
    let first;
    scene.decide = (tools, body) => {
      if (tools.length > 0) first ??= { tools, body };  // without tools: for a title, say
      return undefined;
    };
    const { stderr } = await startAgent(spec, by, scene, model);
    assert.ok(first, stderr);
    // A model that calls tools by code finds them in the description of the tool that runs it.
    const isOffered = (name) => first.tools.includes(name) ||
      (first.tools.includes('functions__exec') && first.body.includes(`${name}(`));
    return ours.map(spec.name).filter((name) => !isOffered(name));
  });
}

/** Makes all calls in one session; returns the reasons why rows have failed. */
function makeCalls(spec) {
  return withScene(spec, {}, async (scene) => {
    const { project } = scene;
    for (const [name, content] of Object.entries(files)) writeFileSync(join(project, name), content);
    const texts = [];
    const failures = {};
    let next = 0;
    scene.decide = (tools, body) => {
      if (tools.length === 0) return undefined;
      if (next > 0) {
        const { name, check, sends } = rows[next - 1];
        texts.push(textOf(toolResults(body).at(-1)?.[1]));
        try {
          check(texts.at(-1), body, project, texts);
          assert.ok(readFileSync(scene.wire, 'utf8').includes(sends), `it sends ${sends}`);
        } catch (error) {
          failures[name] = error.message.slice(0, 2000);
        }
      }
      if (next === rows.length) return undefined;
      return spec.callOf(...rows[next++].call(project, texts));
    };
    const ended = await startAgent(spec, byConfigure, scene, spec.models?.[0]);
    for (const { name } of rows.slice(texts.length)) failures[name] = `not reached\n${ended.stderr}`;
    return failures;
  });
}

const names = [byConfigure, byRun, ...rows.map(({ name }) => name)];
const table = new Map(agents.map(({ title }) =>
  [title, Object.fromEntries(names.map((name) => [name, 'not tried']))]));

describe('the model sees', { concurrency: true }, () => {
  after(() => printTable(['the model sees', ...table.keys()],
    names.map((name) => [name, ...[...table.values()].map((failures) => (failures[name] ? 'no' : 'yes'))])));
  for (const spec of agents) {
    test(spec.title, { skip: spec.skip }, async () => {
      const failures = await makeCalls(spec);
      for (const by of [byConfigure, byRun]) {
        for (const model of spec.models ?? [undefined]) {
          const missing = await missingTools(spec, by, model);
          if (missing.length > 0) failures[by] = `${model ?? ''} ${missing.join(' ')}`;
        }
      }
      table.set(spec.title, { ...failures });
      for (const name of spec.misses ?? []) {
        assert.ok(failures[name], `${name} is seen`);
        delete failures[name];
      }
      assert.deepEqual(failures, {});
    });
  }
});
