// What the model of each real agent sees of our tools and their results. A stub stands for the model and
// makes the calls below in one session; `limactl mcp configure` has set the agent up. Prints a table of
// agents and results.

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

import { serverProgram } from '../instance.mjs';
import { agents, followSteps, ours, programs, write } from './agent_specs.mjs';
import { execute, startScene, toolResults } from './hostile_session.mjs';

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
 *  arguments. `check` gets the text of the result, the whole request, the project and all texts.
 *  `sends` is what the server has sent by then. */
const rows = [
  {
    name: 'lines of a file, unescaped',
    call: (dir) => ['read_file', { path: join(dir, 'quotes.txt') }],
    check: (text) => assert.ok(text.includes(quotes), text),
  },
  {
    name: 'an image',
    call: (dir) => ['read_file', { path: join(dir, 'pixel.png') }],
    check: (text, body) => assert.ok(body.includes(pixel), text),
  },
  {
    name: 'a note',
    call: (dir) => ['read_file', { path: join(dir, 'latin1.txt') }],
    check: (text) => assert.match(text, /not valid UTF-8/),
  },
  {
    name: 'the path in an error',
    call: (dir) => ['read_file', { path: join(dir, 'none.txt') }],
    check: (text, _body, dir) =>
      assert.ok(text.includes(`file does not exist: ${join(dir, 'none.txt')}`), text),
  },
  {
    name: 'a file of 200 KB, and how to go on',
    call: (dir) => ['read_file', { path: join(dir, '200k.txt') }],
    check(text) {
      assert.match(text, /^.{0,200}line 0 x/s);
      assert.match(text, /offset/);
    },
  },
  {
    name: 'the rest of that file',
    call: (dir, texts) =>
      ['read_file', { path: join(dir, '200k.txt'), offset: offsetIn(texts.at(-1)), limit: 10 }],
    check: (text, _body, _dir, texts) =>
      assert.match(text, new RegExp(`line ${offsetIn(texts.at(-2))} x`)),
  },
  {
    name: 'a file of 8 MB, and how to go on',
    call: (dir) => ['read_file', { path: join(dir, '8m.txt') }],
    check(text) {
      assert.match(text, /line 0 x/);
      assert.match(text, /offset/);
    },
  },
  {
    name: 'a range of 8 MB, or how to get it',
    call: (dir) => ['read_file', { path: join(dir, '8m.txt'), offset: 0, limit: 8000 }],
    check: (text) => assert.match(text, /line 0 x|MiB/),
  },
  {
    name: 'a listing',
    call: (dir) => ['list_directory', { path: dir }],
    check: (text) => assert.match(text, /^-rw.*quotes\.txt$/m),
  },
  {
    name: 'paths, one on a line',
    call: (dir) => ['glob', { pattern: '*.txt', path: dir }],
    check: (text, _body, dir) =>
      assert.match(text, new RegExp(`^${join(dir, 'quotes.txt')}$`, 'm')),
  },
  {
    name: 'lines that were found',
    call: (dir) => ['search_file_content', { pattern: 'quoted', path: dir }],
    check: (text) => assert.ok(text.includes('quotes.txt:1:first "quoted" \\line\\'), text),
  },
  {
    name: "a command's output, error and exit code",
    call: (dir) => ['run_shell_command', shell('echo "an \\"out\\""; echo err >&2; exit 3', dir)],
    check(text) {
      assert.match(text, /an "out"/);
      assert.match(text, /err/);
      assert.match(text, /exit (status|code):? 3/);
    },
  },
  {
    name: 'a cut command',
    call: (dir) => ['run_shell_command', shell(`seq -f "number %05g ${'x'.repeat(36)}" 6000`, dir)],
    check: (text) => assert.match(text, /number 00001 x.*\bc1\b.*number 06000 x/s),
  },
  {
    name: 'the rest of a cut command',
    call: () => ['read_process', { id: 'c1', offset: 200_000 }],
    check: (text) => assert.match(text, /number 04001 x/),
  },
  {
    name: 'a process started',
    call: (dir) => ['start_process',
      shell('while read line; do echo "got $line"; done; sleep 100', dir)],
    check: (text) => assert.match(text, /\bp1\b/),
  },
  {
    name: 'a process written to',
    call: () => ['write_process', { id: 'p1', input: 'hello\n' }],
    check: (text) => assert.match(text, /\bp1\b/),
  },
  {
    name: 'a process read',
    call: () => ['read_process', { id: 'p1', offset: 0, wait_ms: 2000 }],
    check: (text) => assert.match(text, /got hello/),
  },
  {
    name: 'a process stopped',
    call: () => ['write_process', { id: 'p1', signal: 'TERM' }],
    check: (text) => assert.match(text, /exit|143|TERM/),
  },
  {
    name: 'a command of 20 s, with progress',
    sends: 'notifications/progress',
    call: (dir) => ['run_shell_command',
      shell('for i in $(seq 20); do echo "step $i"; sleep 1; done', dir)],
    check: (text) => assert.match(text, /step 20/),
  },
];

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
  const { project } = scene;
  const words = [...(by === byRun && spec.turnWithRun) || spec.turn];
  if (model) words.splice(-1, 0, '-m', model);
  const environment = { ...scene.environment, ...spec.deferring };
  if (by === byRun) {
    return execute(serverProgram, ['run', spec.agent, 'default', '--trust', '--', ...words], project, environment);
  }
  // The limactl on PATH runs the plugin and records what it sends.
  const bin = join(dirname(project), 'bin');
  scene.wire = join(bin, 'wire');
  mkdirSync(bin);
  symlinkSync(serverProgram, join(bin, 'limactl-mcp'));
  write(join(bin, 'limactl'), `#!/bin/sh
shift
[ "$1" = serve ] || exec ${serverProgram} "$@"
${serverProgram} "$@" | tee -a ${scene.wire}
`, 0o755);
  environment.PATH = [bin, environment.PATH].join(delimiter);
  const configured =
    await execute('limactl', ['mcp', 'configure', spec.agent, 'default', '--trust'], project, environment);
  assert.equal(configured.code, 0, configured.stderr);
  const start = await followSteps(configured.stdout,
    (program, ...words) => execute(program, words, project, environment));
  return execute(join(programs, spec.program), [...start.words, ...words], project,
    { ...environment, ...start.environment });
}

/** The names of our tools that the first request of a session lacks. */
async function missingTools(spec, by, model) {
  const scene = await startScene(spec);
  try {
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
  } finally {
    await scene.stop();
  }
}

/** Makes all calls in one session; returns the reasons why rows have failed. */
async function makeCalls(spec) {
  const scene = await startScene(spec);
  try {
    const { project } = scene;
    for (const [name, content] of Object.entries(files)) writeFileSync(join(project, name), content);
    const texts = [];
    const failures = {};
    let next = 0;
    scene.decide = (tools, body) => {
      if (tools.length === 0) return undefined;
      if (next > 0) {
        const { name, check, sends = '' } = rows[next - 1];
        texts.push(textOf(toolResults(body).at(-1)?.[1]));
        try {
          check(texts.at(-1), body, project, texts);
          assert.ok(readFileSync(scene.wire, 'utf8').includes(sends), `it sends ${sends}`);
        } catch (error) {
          failures[name] = error.message.slice(0, 2000);
        }
      }
      if (next === rows.length) return undefined;
      const [tool, args] = rows[next++].call(project, texts);
      return { name: spec.name(tool), ...spec.call?.(tool), arguments: args };
    };
    const ended = await startAgent(spec, byConfigure, scene, spec.models?.[0]);
    for (const { name } of rows.slice(texts.length)) failures[name] = `not reached\n${ended.stderr}`;
    return failures;
  } finally {
    await scene.stop();
  }
}

const names = [byConfigure, byRun, ...rows.map(({ name }) => name)];
const table = new Map(agents.map(({ title }) =>
  [title, Object.fromEntries(names.map((name) => [name, 'not tried']))]));

function printTable() {
  const row = (cells) => console.log(`| ${cells.join(' | ')} |`);
  row(['the model sees', ...table.keys()]);
  row(['---', ...agents.map(() => '---')]);
  for (const name of names) {
    row([name, ...[...table.values()].map((failures) => (failures[name] ? 'no' : 'yes'))]);
  }
}

describe('the model sees', { concurrency: true }, () => {
  after(printTable);
  for (const spec of agents) {
    test(spec.title, { skip: !existsSync(join(programs, spec.program)) }, async () => {
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
