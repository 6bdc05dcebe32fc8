// SPDX-License-Identifier: Apache-2.0
// Sessions of real agents in a copy of a project. The model edits, commits, leaves something uncommitted,
// and plants what would run on the host. `take` brings exactly that back, as a branch; the user's
// repository is otherwise as before, and nothing planted runs.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { write } from './agent_specs.mjs';
import { snapshot, toolResults } from './hostile_session.mjs';

/** Runs git on the host; returns its output. */
export function git(directory, ...words) {
  const user = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.org', '-c', 'commit.gpgSign=false'];
  const { SSH_CONNECTION, ...env } = process.env;
  return execFileSync('git', [...user, ...words],
    { cwd: directory, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
}

/** Makes a repository with a commit, an uncommitted change, an untracked file and an ignored one. */
function makeProject(project) {
  const put = (name, text) => write(join(project, name), text);
  git(project, 'init', '-q', '-b', 'main');
  put('.gitignore', '.env\n');
  put('edited.txt', 'one\ntwo\nthree\n');
  git(project, 'add', '-A');
  git(project, 'commit', '-qm', 'First');
  put('edited.txt', 'one\ntwo\nthree, uncommitted\n');
  put('untracked.txt', 'untracked\n');
  put('.env', 'SECRET=1\n');
}

/** Where what is planted records that the host ran it. */
export const firedFile = (project) => join(dirname(project), 'fired-on-the-host');

/** A command that does. In tests without a VM, only the guest's programs have SSH_CONNECTION. */
const record = (project) => `[ -n "$SSH_CONNECTION" ] || echo "$0" >>${firedFile(project)}`;

/** The model's calls: [tool, arguments]. */
function calls(project) {
  const shell = (...lines) =>
    ['run_shell_command', { command: ['sh', '-ec', lines.join('\n')], directory: project }];
  return [
    ['replace', { path: join(project, 'edited.txt'), old_string: 'one', new_string: 'one, edited' }],
    shell('ls -a', 'git commit -qam "By the agent"', 'echo "committed, $SSH_CONNECTION"'),
    ['write_file', { path: join(project, 'left.txt'), content: 'not committed\n' }],
    shell(
      'mkdir .git/hooks',
      `printf '%s\\n' '#!/bin/sh' '${record(project)}' >.git/hooks/post-checkout`,
      'chmod +x .git/hooks/post-checkout',
      'for hook in pre-commit post-commit reference-transaction post-index-change update; do',
      '  cp .git/hooks/post-checkout ".git/hooks/$hook"',
      'done',
      'for key in core.fsmonitor core.pager diff.external diff.evil.textconv filter.evil.clean',
      `  do git config "$key" '${record(project)}; cat'`,
      'done',
      "echo '* filter=evil diff=evil' >.gitattributes",
      `echo '${record(project)}' >.envrc`),
  ];
}

/** The files in which a checkout of the branch differs from main, with their texts. */
function checkedOut(project, branch) {
  const directory = join(dirname(project), 'checkout');
  git(project, 'worktree', 'add', directory, branch);
  const names = git(directory, 'diff', '--name-only', 'main').trim().split('\n');
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(directory, name), 'utf8')]));
}

/** Works in the scene's project with the agent, then looks at the work and takes it. `run` starts the
 *  session, by `limactl-mcp run`, and `mcp(...words)` another command; both return how it has ended.
 *  Returns the milliseconds from the model's first call to its result. */
export async function workAndTake(spec, scene, run, mcp) {
  const { project } = scene;
  makeProject(project);
  const before = snapshot(project);
  const queue = calls(project);
  const results = [];
  const times = [];
  scene.decide = (tools, body) => {
    if (tools.length === 0) return undefined;  // for a title, say
    times.push(performance.now());
    if (times.length > 1) results.push(JSON.stringify(toolResults(body).at(-1)));
    const [tool, args] = queue.shift() ?? [];
    return tool && spec.callOf(tool, args);
  };
  const session = await run();
  const said = `${session.stdout}${session.stderr}`
    .replace(/\x1b\[[?0-9;]*[a-z]/gi, '').replace(/: (?:\d+(?:MiB|KiB|s)|\d+ bytes?)\r/g, '$&\n').replace(/\r/g, '');  // eslint-disable-line no-control-regex -- a terminal's
  assert.equal(session.code, 0, said);
  assert.match(said, /^done$/m);
  const [, committed] = results;
  assert.match(committed, /committed, \d+\./, 'in the guest');
  assert.ok(!/\.env\b/.test(committed), 'ignored files stay behind');
  assert.match(said, /^Copied to agent:/m);
  assert.match(said, /^Programs on this host run or obey:\n {2}\.envrc: direnv/m);
  assert.match(said, /^Not taken: 1 commit, 4 files\nSee: limactl mcp diff\. Take: limactl mcp take$/m);
  assert.deepEqual(snapshot(project), before, 'the work is in the guest only');

  const diff = await mcp('diff');
  assert.equal(diff.code, 0, diff.stderr);
  assert.match(diff.stdout, /^-one\n\+one, edited$/m);
  assert.deepEqual(snapshot(project), before);

  const take = await mcp('take');
  assert.deepEqual([take.code, take.stdout],
    [0, 'Branch agent/main: 2 commits, 4 files changed.\n'], take.stderr);
  assert.match(take.stderr, /^Note: it contains your own uncommitted and untracked files/m);
  const after = snapshot(project);
  const added = [...after.keys()].filter((name) => !before.has(name))
    .filter((name) => !/^\.git\/objects\/pack\/pack-\w+\.(idx|pack|rev)$/.test(name));
  assert.deepEqual(added.sort(), ['.git/logs/refs/heads/agent', '.git/logs/refs/heads/agent/main',
    '.git/refs/heads/agent', '.git/refs/heads/agent/main']);
  assert.deepEqual(new Map([...after].filter(([name]) => before.has(name))), before);

  assert.equal(git(project, 'log', '--format=%s', 'main..agent/main'),
    'Uncommitted work\nBy the agent\n');
  assert.deepEqual(checkedOut(project, 'agent/main'), {
    '.envrc': `${record(project)}\n`,
    '.gitattributes': '* filter=evil diff=evil\n',
    'edited.txt': 'one, edited\ntwo\nthree, uncommitted\n',
    'left.txt': 'not committed\n',
    'untracked.txt': 'untracked\n',
  });
  assert.ok(!existsSync(firedFile(project)), 'what was planted ran on the host');
  return times[1] - times[0];
}

/** Three sessions of one agent on the scene's project at once, each in a copy with a name; the third is killed while it works.
 *  `start(...words)` starts `limactl-mcp`, in a process group of its own, and `mcp(...words)` runs it. */
export async function workAtOnce(spec, scene, start, mcp) {
  const { project } = scene;
  makeProject(project);
  const before = snapshot(project);
  const calls = Object.fromEntries(['one', 'two', 'three'].map((name) => [name, [
    ['write_file', { path: `${project}--${name}/work.txt`, content: `by ${name}\n` }],
    ['run_shell_command', { command: name === 'three' ? ['sleep', '600'] : ['cat', 'work.txt'], directory: `${project}--${name}` }],
  ]]));
  const names = Object.keys(calls);
  scene.decide = (tools, body) => {
    const name = names.find((each) => body.includes(`${project}--${each}`));
    if (tools.length === 0 || !name) return undefined;
    const [tool, args] = calls[name].shift() ?? [];
    return tool && spec.callOf(tool, args);
  };
  const sessions = names.map((name) =>
    start('run', spec.agent, '--name', name, '--trust', '--', ...spec.turnWithRun));
  await until('the third works', () => calls.three.length === 0);
  for (const session of sessions.slice(0, 2)) assert.equal(await session.ended, 0);
  process.kill(-sessions[2].pid, 'SIGKILL');
  await sessions[2].ended;
  assert.deepEqual(snapshot(project), before, 'the work is in the guest only');

  const taken = await Promise.all(names.map((name) => mcp('take', '--name', name)));
  assert.deepEqual(taken.map(({ stdout }) => stdout), names.map((name) => `Branch agent/${name}: 1 commit, 1 file changed.\n`),
    taken.map(({ stderr }) => stderr).join('\n'));
  for (const name of names) assert.equal(git(project, 'show', `agent/${name}:work.txt`), `by ${name}\n`);
  const dropped = await until('all may be dropped', async () => {
    const drop = await mcp('drop', '--all');
    return drop.code === 0 && drop;
  });
  assert.match(dropped.stdout, /^Dropped\./m);
}

/** Repeats it until it returns something. */
async function until(what, look) {
  for (const end = Date.now() + 300_000; Date.now() < end; await sleep(200)) {
    const found = await look();
    if (found) return found;
  }
  return assert.fail(what);
}
