// Real agents, started by `limactl-mcp run` in a copy of the project. The model edits, commits, leaves
// something uncommitted, and plants what would run on the host. `take` brings exactly that back, as a
// branch; the user's repository is otherwise as before, and nothing planted runs.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { serverProgram } from '../instance.mjs';
import { agents, programs, write } from './agent_specs.mjs';
import { execute, snapshot, startScene, toolResults } from './hostile_session.mjs';

/** Runs git on the host; returns its output. */
function git(directory, ...words) {
  const user = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.org'];
  const { SSH_CONNECTION, ...env } = process.env;
  return execFileSync('git', [...user, ...words],
    { cwd: directory, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
}

/** A repository with a commit, an uncommitted change, an untracked file and an ignored one. */
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

/** The work: [tool, arguments]. `fired` is the file that what is planted creates on the host. Host and
 *  guest are one machine here, but only the guest's programs have SSH_CONNECTION. */
function calls(project, fired) {
  const shell = (...lines) =>
    ['run_shell_command', { command: ['sh', '-ec', lines.join('\n')], directory: project }];
  const record = `[ -n "$SSH_CONNECTION" ] || echo "$0" >>${fired}`;
  return [
    ['replace', { path: join(project, 'edited.txt'), old_string: 'one', new_string: 'one, edited' }],
    shell('ls -a', 'git commit -qam "By the agent"', 'echo "committed, $SSH_CONNECTION"'),
    ['write_file', { path: join(project, 'left.txt'), content: 'not committed\n' }],
    shell(
      'mkdir .git/hooks',
      `printf '%s\\n' '#!/bin/sh' '${record}' >.git/hooks/post-checkout`,
      'chmod +x .git/hooks/post-checkout',
      'for hook in pre-commit post-commit reference-transaction post-index-change update; do',
      '  cp .git/hooks/post-checkout ".git/hooks/$hook"',
      'done',
      'for key in core.fsmonitor core.pager diff.external diff.evil.textconv filter.evil.clean',
      `  do git config "$key" '${record}; cat'`,
      'done',
      "echo '* filter=evil diff=evil' >.gitattributes",
      `echo '${record}' >.envrc`),
  ];
}

/** Works in the copy; returns how the session has ended, and the results of the calls. */
async function work(spec, scene, copy, fired) {
  const queue = calls(scene.project, fired);
  const results = [];
  scene.decide = (tools, body) => {
    if (tools.length === 0) return undefined;  // for a title, say
    if (queue.length < 4) results.push(JSON.stringify(toolResults(body).at(-1)));
    const [tool, args] = queue.shift() ?? [];
    return tool && { name: spec.name(tool), ...spec.call?.(tool), arguments: args };
  };
  const ended = await execute(serverProgram,
    ['run', spec.agent, '--copy-dir', copy, '--trust', '--', ...(spec.turnWithRun ?? spec.turn)],
    scene.project, scene.environment);
  return { ...ended, results };
}

/** What a checkout of the branch has that main has not: each file's name and text. */
function checkedOut(project, branch) {
  const directory = join(dirname(project), 'checkout');
  git(project, 'worktree', 'add', directory, branch);
  const names = git(directory, 'diff', '--name-only', 'main').trim().split('\n');
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(directory, name), 'utf8')]));
}

// In parallel: most of the time each agent is still starting.
describe('in a copy', { concurrency: true }, () => {
  for (const spec of agents) {
    const skip = !existsSync(join(programs, spec.program));
    test(`${spec.title}'s work comes back as a branch`, { skip }, async () => {
      const scene = await startScene(spec, { name: 'agent', mounts: () => [] });
      try {
        const { project } = scene;
        const root = dirname(project);
        const copy = join(root, 'copy');
        const fired = join(root, 'fired-on-the-host');
        const mcp = (...words) => execute(serverProgram, words, project, scene.environment);
        makeProject(project);
        const before = snapshot(project);

        const session = await work(spec, scene, copy, fired);
        assert.equal(session.code, 0, session.stderr);
        assert.equal(session.stdout.trim(), 'done', session.stderr);
        const [, committed] = session.results;
        assert.match(committed, /committed, 127\.0\.0\.1/, 'in the guest');
        assert.ok(!/\.env\b/.test(committed), 'ignored files stay behind');
        assert.match(session.stderr, new RegExp('^Copied to agent:.*\\n[^]*\\n  \\.envrc: direnv[^]*' +
          '\n4 files changed, 1 commit\\. See: limactl mcp diff\\. Take: limactl mcp take\n$', 'm'));
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
        assert.deepEqual(added.sort(), ['.git/logs/refs/heads/agent',
          '.git/logs/refs/heads/agent/main', '.git/refs/heads/agent', '.git/refs/heads/agent/main']);
        assert.deepEqual(new Map([...after].filter(([name]) => before.has(name))), before);

        assert.equal(git(project, 'log', '--format=%s', 'main..agent/main'),
          'Uncommitted work\nBy the agent\n');
        assert.deepEqual(checkedOut(project, 'agent/main'), {
          '.envrc': `[ -n "$SSH_CONNECTION" ] || echo "$0" >>${fired}\n`,
          '.gitattributes': '* filter=evil diff=evil\n',
          'edited.txt': 'one, edited\ntwo\nthree, uncommitted\n',
          'left.txt': 'not committed\n',
          'untracked.txt': 'untracked\n',
        });
        assert.ok(!existsSync(fired), 'what was planted ran on the host');
        git(copy, 'status');
        assert.ok(existsSync(fired), "the user's git in the agent's repository runs it");
      } finally {
        await scene.stop();
      }
    });
  }
});
