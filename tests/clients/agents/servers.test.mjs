// SPDX-License-Identifier: Apache-2.0
// MCP servers of the user's own with real agents: `run --mcp` in the guest, `run --host-mcp` on the host.
// Without a terminal, a call for which they ask is refused. Prints a table.

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { serverProgram } from '../instance.mjs';
import { agents, printTable, write } from './agent_specs.mjs';
import { git } from './copy_session.mjs';
import { toolResults, withScene } from './hostile_session.mjs';
import { Terminal, hasTerminals } from './terminal.mjs';

/** An MCP server with the tools `place` and, which only reads, `look`. Both say where the server runs. It
 *  records its start in the file OWN_LOG, if there is one. */
const ownServer = `
const place = 'runs in ' + process.cwd() + ' over ' + process.env.SSH_CONNECTION + ' with ' +
  JSON.stringify(process.argv.slice(2));
if (process.env.OWN_LOG) require('node:fs').appendFileSync(process.env.OWN_LOG, place + '\\n');
const tool = (name, annotations) => ({ name, annotations, description: name,
  inputSchema: { type: 'object', properties: {} } });
const results = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} },
    serverInfo: { name: 'own', version: '1.0.0' } }),
  'tools/list': () => ({ tools: [tool('place', {}), tool('look', { readOnlyHint: true })] }),
  'tools/call': () => ({ content: [{ type: 'text', text: place }] }),
};
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = results[method]
    ? { result: results[method](params) } : { error: { code: -32601, message: 'unknown' } };
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...answer }) + '\\n');
});
`;

/** limactl shell, since limactl itself refuses root. */
const limactl = `#!${process.execPath}
const [command, workdir, name, ...words] = process.argv.slice(2);
const quote = (word) => "'" + word.replaceAll("'", "'\\"'\\"'") + "'";
const script = 'cd ' + quote(/^--workdir=(.*)$/.exec(workdir)[1]) + ' || exit 1; exec "$SHELL" -l -c ' +
  quote(words.map(quote).join(' '));
if (command !== 'shell') throw new Error(command);
const { status } = require('node:child_process').spawnSync('ssh', ['-F',
  process.env.LIMA_HOME + '/' + name + '/ssh.config', '-o', 'ControlPath=none', 'lima-' + name, script],
{ stdio: 'inherit' });
process.exit(status);
`;

const edit = (path, change) => {
  const settings = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
  change(settings);
  write(path, settings);
};

/** Adds the server own_host to the user's settings of each agent that can have one; they allow its calls. */
const addOwn = {
  claude(home, command, args, env) {
    edit(join(home, '.claude.json'), (settings) => {
      settings.mcpServers = { own_host: { command, args, env } };
    });
    edit(join(home, '.claude', 'settings.json'), (settings) => {
      settings.permissions = { allow: ['mcp__own_host', 'mcp__own-host', 'mcp__own-host__look'] };
    });
  },
  codex(home, command, args, env) {
    const path = join(home, '.codex', 'config.toml');
    write(path, `${readFileSync(path, 'utf8')}
[mcp_servers.own_host]
command = "${command}"
args = ${JSON.stringify(args)}
env = { OWN_LOG = "${env.OWN_LOG}" }
default_tools_approval_mode = "approve"
tools.place.approval_mode = "approve"
`);
  },
  gemini(home, command, args, env) {
    edit(join(home, '.gemini', 'settings.json'), (settings) => {
      settings.mcpServers = { own_host: { command, args, env, trust: true } };
      settings.mcp = { allowed: ['own_host', 'own-host'], autoAllowInHeadless: true };
    });
  },
  opencode(home, command, args, environment) {
    edit(join(home, '.config', 'opencode', 'opencode.json'), (settings) => {
      settings.mcp = { own_host: { type: 'local', command: [command, ...args], environment } };
    });
  },
};

/** What an agent without a terminal says of a call for which it would ask. */
const asked = /requested permissions|requires approval|requires user confirmation|permission requested|[Pp]ermission denied/;

const rows = [];
const terminals = hasTerminals();

describe("the user's own servers", { concurrency: true }, () => {
  after(() => printTable(['agent', 'project', '--trust', 'server in the guest', 'on the host'], rows.sort()));
  for (const spec of agents) {
    describe(spec.title, { concurrency: 1, skip: spec.skip }, () => {
      for (const inCopy of [false, true]) for (const trust of [false, true]) {
        test(`${inCopy ? 'in a copy' : 'on a mount'}${trust ? ', with --trust' : ''}`, () =>
          withScene(spec, { name: 'agent', ...(inCopy && { mounts: () => [] }) },
            (scene) => check(spec, scene, inCopy, trust)));
      }
      const skip = !terminals || !(spec.agent in addOwn);
      test('asks before each call on the host, and then makes it', { skip }, () =>
        withScene(spec, { name: 'agent' }, (scene) => checkInTerminal(spec, scene)));
    });
  }
});

/** Adds own_host and limactl. Returns the file that records the starts of own_host. */
function prepare(spec, { bin, environment, home, root }) {
  const log = join(root, 'started');
  write(join(root, 'own.cjs'), ownServer);
  write(join(bin, 'limactl'), limactl, 0o755);
  environment.SSH_CONNECTION = 'THE-HOST';
  addOwn[spec.agent]?.(home, process.execPath, [join(root, 'own.cjs'), 'its argument'], { OWN_LOG: log });
  return log;
}

/** The agent's name for a tool of a server of the user's. */
const nameOf = (spec, [owner, tool]) => new RegExp(`^${spec.name(tool).replace('lima', owner)}$`);

/** The model's call of a tool, if it is offered. */
function callOf(spec, wanted, tools) {
  const name = tools.find((each) => nameOf(spec, wanted).test(each));
  const [, tool] = wanted;
  const namespace = spec.call && { namespace: name?.slice(0, -tool.length - 2), name: tool };
  return name && { name, arguments: {}, ...namespace };
}

async function checkInTerminal(spec, scene) {
  const log = prepare(spec, scene);
  const wanted = ['own[-_]host', 'look'];
  let calls = 0;
  let results = [];
  scene.decide = (tools, body) => {
    const call = callOf(spec, wanted, tools);
    if (!call) return undefined;
    results = toolResults(body).map(([, result]) => JSON.stringify(result));
    if (results.length !== calls || calls === 2) return undefined;
    calls += 1;
    return call;
  };
  const terminal = new Terminal(scene.root, [serverProgram, 'run', spec.agent, '--trust',
    '--host-mcp', 'own_host', ...(spec.inTerminal ? ['--', ...spec.inTerminal] : [])], scene.project,
  scene.environment);
  try {
    await terminal.until(() => existsSync(log));
    await terminal.pressUntil(() => calls > 0, 'run it', 'Enter');
    for (const count of [1, 2]) {
      await terminal.until(() => calls === count && /Allow|Do you want/.test(terminal.screen()));
      assert.equal(results.length, count - 1, 'it asks for each call');
      await terminal.pressUntil(() => results.length === count, 'Enter');
    }
  } finally {
    terminal.close();
  }
  for (const result of results) assert.match(result, /runs in \S*\/run\/\S+ over (THE-HOST|undefined) /);
  assert.match(readFileSync(log, 'utf8'), /its argument/);
}

async function check(spec, scene, inCopy, trust) {
  const { project, root } = scene;
  const log = prepare(spec, scene);
  if (inCopy) {
    git(project, 'init', '-q');
    git(project, 'commit', '-q', '--allow-empty', '-m', 'First');
  }
  const directory = inCopy ? join(root, 'copy') : project;

  const onHost = spec.agent in addOwn;
  const wanted = [['in[-_]guest', 'place'],
    ...(onHost ? [['own[-_]host', 'place'], ['own[-_]host', 'look']] : [])];
  const queue = [...wanted];
  let first;
  let last = '';
  scene.decide = (tools, body) => {
    if (tools.length === 0) return undefined;  // for a title, say
    first ??= tools;
    last = body;
    while (queue.length > 0) {
      const call = callOf(spec, queue.shift(), tools);
      if (call) return call;
    }
    return undefined;
  };
  // What an agent might put in the place of a variable is the guest's, too.
  const command = `exec '${process.execPath}' ${join(root, 'own.cjs')} "$SSH_CONNECTION" '\${HOME}'`;
  const ended = await scene.mcp('run', spec.agent, ...(trust ? ['--trust'] : []),
    ...(inCopy ? ['--copy-dir', directory] : []), '--mcp', `in-guest=${command}`,
    ...(onHost ? ['--host-mcp', 'own_host'] : []), '--', ...spec.turnWithRun);
  assert.equal(ended.code, 0, ended.stderr);

  const results = toolResults(last).map(([tool, result]) => [tool, JSON.stringify(result)]);
  const resultOf = (each) => results.find(([name]) => nameOf(spec, each).test(name))?.[1] ?? '';
  const ran = wanted.map((each) => resultOf(each).includes('runs in '));
  rows.push([spec.title, inCopy ? 'copy' : 'mount', trust ? 'yes' : 'no', ran[0] ? 'runs' : 'asks',
    !onHost ? 'refused' : ran[1] || ran[2] ? 'runs' : 'asks']);
  assert.deepEqual(ran, wanted.map(([server]) => trust && server === 'in[-_]guest'), JSON.stringify(results));
  if (onHost || !trust) assert.match(resultOf(wanted[trust ? 1 : 0]) || ended.stderr, asked);  // opencode ends there
  if (trust) {
    const text = resultOf(wanted[0]).replaceAll('\\', '');
    assert.match(text, new RegExp(`runs in ${directory} over 127\\.0\\.0\\.1 `));
    assert.match(text, /with \["127\.0\.0\.1 [^"]*","\$\{HOME\}"\]/);
  }
  for (const each of wanted) assert.ok(callOf(spec, each, first), `${each} of ${first}`);
  if (!onHost) return;
  assert.match(readFileSync(log, 'utf8'),
    /^runs in \S*\/run\/\S+ over (THE-HOST|undefined) with \["its argument"\]\n/, 'on the host');
}
