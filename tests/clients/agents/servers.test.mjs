// MCP servers of the user's own with real agents: `run --mcp` in the guest, `run --host-mcp` on the host.
// The agents have no terminal, so that a call for which they ask is refused. Prints a table.

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

import { serverProgram } from '../instance.mjs';
import { agents, programs, write } from './agent_specs.mjs';
import { git } from './copy_session.mjs';
import { execute, startScene, toolResults } from './hostile_session.mjs';

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

/** Adds the server own_host to the user's settings of each agent, which allow its calls. */
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
const asked = /requested permissions|requires approval|requires user confirmation|permission requested/;

const rows = [];

describe("the user's own servers", { concurrency: true }, () => {
  after(() => {
    console.log('| agent | project | --trust | server in the guest | on the host |\n|---|---|---|---|---|');
    for (const row of rows.sort()) console.log(row);
  });
  for (const spec of agents) {
    const skip = !existsSync(join(programs, spec.program));
    describe(spec.title, { concurrency: 1, skip }, () => {
      for (const inCopy of [false, true]) for (const trust of [false, true]) {
        test(`${inCopy ? 'in a copy' : 'on a mount'}${trust ? ', with --trust' : ''}`, async () => {
          const scene = await startScene(spec, { name: 'agent', ...(inCopy && { mounts: () => [] }) });
          try {
            await check(spec, scene, inCopy, trust);
          } finally {
            await scene.stop();
          }
        });
      }
    });
  }
});

async function check(spec, scene, inCopy, trust) {
  const { home, project } = scene;
  const root = dirname(project);
  const log = join(root, 'started');
  const server = join(root, 'own.cjs');
  write(server, ownServer);
  write(join(root, 'bin', 'limactl'), limactl, 0o755);
  scene.environment.PATH = [join(root, 'bin'), scene.environment.PATH].join(delimiter);
  scene.environment.SSH_CONNECTION = 'THE-HOST';
  addOwn[spec.agent](home, process.execPath, [server, 'its argument'], { OWN_LOG: log });
  if (inCopy) {
    git(project, 'init', '-q');
    git(project, 'commit', '-q', '--allow-empty', '-m', 'First');
  }
  const directory = inCopy ? join(root, 'copy') : project;

  /** The agent's name for a tool of a server of the user's. */
  const name = (owner, tool) => new RegExp(`^${spec.name(tool).replace('lima', owner)}$`);
  const wanted = [['in[-_]guest', 'place'], ['own[-_]host', 'place'], ['own[-_]host', 'look']];
  const queue = [...wanted];
  const first = { tools: undefined };
  let last = '';
  scene.decide = (tools, body) => {
    if (tools.length === 0) return undefined;  // for a title, say
    first.tools ??= tools;
    last = body;
    for (;;) {
      const [owner, tool] = queue.shift() ?? [];
      if (!tool) return undefined;
      const offered = tools.find((each) => name(owner, tool).test(each));
      if (!offered) continue;
      const namespace = spec.call && { namespace: offered.slice(0, -tool.length - 2), name: tool };
      return { name: offered, arguments: {}, ...namespace };
    }
  };
  // What an agent might put in the place of a variable is the guest's, too.
  const command = `exec '${process.execPath}' ${server} "$SSH_CONNECTION" '\${HOME}'`;
  const ended = await execute(serverProgram, ['run', spec.agent, ...(trust ? ['--trust'] : []),
    ...(inCopy ? ['--copy-dir', directory] : []), '--mcp', `in-guest=${command}`,
    '--host-mcp', 'own_host', '--', ...(spec.turnWithRun ?? spec.turn)], project, scene.environment);
  assert.equal(ended.code, 0, ended.stderr);

  const results = toolResults(last).map(([tool, result]) => [tool, JSON.stringify(result)]);
  const resultOf = ([owner, tool]) => results.find(([each]) => name(owner, tool).test(each))?.[1] ?? '';
  const ran = wanted.map((each) => resultOf(each).includes('runs in '));
  rows.push(`| ${spec.title} | ${inCopy ? 'copy' : 'mount'} | ${trust ? 'yes' : 'no'} | ${
    ran[0] ? 'runs' : 'asks'} | ${ran[1] || ran[2] ? 'runs' : 'asks'} |`);
  assert.deepEqual(ran, [trust, false, false], JSON.stringify(results));
  assert.match(resultOf(wanted[trust ? 1 : 0]) || ended.stderr, asked);  // opencode ends there
  if (trust) {
    const text = resultOf(wanted[0]).replaceAll('\\', '');
    assert.match(text, new RegExp(`runs in ${directory} over 127\\.0\\.0\\.1 `));
    assert.match(text, /with \["127\.0\.0\.1 [^"]*","\$\{HOME\}"\]/);
  }
  for (const [owner, tool] of wanted) {
    assert.ok(first.tools.some((each) => name(owner, tool).test(each)), `${owner} ${tool} of ${first.tools}`);
  }
  assert.match(readFileSync(log, 'utf8'),
    /^runs in \S*\/run\/\S+ over (THE-HOST|undefined) with \["its argument"\]\n/, 'on the host');
}
