// SPDX-License-Identifier: Apache-2.0
// Claude Code, started by `limactl-mcp run` in a terminal: a slow call goes to the background, and wakes the model
// when it ends. With -p, the model waits for its result.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { serverProgram, startInstance } from '../instance.mjs';
import { agents } from './agent_specs.mjs';
import { toolResults, withScene } from './hostile_session.mjs';
import { Terminal, hasTerminals } from './terminal.mjs';

const spec = agents.find(({ agent }) => agent === 'claude');
const skip = spec.skip || !hasTerminals();

/** Shorter than the ten seconds that `run` sets. */
const soon = { CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS: '2000' };

const moved = /It was moved to the background as task (\w+)/;

/** The model's call of a shell line in the guest. */
const shell = (project, line) =>
  spec.callOf('run_shell_command', { command: ['sh', '-c', line], directory: project });

/** Runs a session. Each turn the model makes the next of `calls(project)`, or what that returns for the result before; at the
 *  end it waits. `check(session)` follows. */
async function inTerminal({ options = [], environment = soon, calls }, check) {
  const instance = await startInstance({ name: 'agent' });
  await withScene(spec, instance, async (scene) => {
    const { model, project, root } = scene;
    Object.assign(scene.environment, environment);
    const queue = calls(project);
    const resultsIn = (body) => toolResults(body).map(([, result]) => JSON.stringify(result));
    scene.decide = (tools, body) => {
      if (tools.length === 0) return undefined;  // for a title, say
      const next = queue.shift();
      return typeof next === 'function' ? next(resultsIn(body).at(-1)) : next;
    };
    const requests = () => model.turns.filter(({ tools }) => tools.length > 0).map(({ body }) => body);
    const terminal = new Terminal(root, [serverProgram, 'run', spec.agent, '--trust', ...options],
      project, scene.environment);
    let isOpen = true;
    const close = () => {
      if (isOpen) terminal.close();
      isOpen = false;
    };
    try {
      await terminal.pressUntil(() => requests().length > 0, 'run it', 'Enter');
      await check({
        close, instance, project, requests, terminal,
        results: () => resultsIn(requests().at(-1)),
        /** Waits until the model has been told this. */
        told: (pattern) => terminal.until(() => pattern.test(requests().at(-1)), 60_000),
        /** Waits until the process whose id the guest wrote into `pid` has ended; five seconds at most. */
        async ended() {
          const id = Number(readFileSync(join(project, 'pid'), 'utf8'));
          const runs = () => {
            try { return process.kill(id, 0); } catch { return false; }
          };
          for (const end = Date.now() + 5000; runs(); await sleep(100)) {
            assert.ok(Date.now() < end, 'the command still runs');
          }
        },
      });
    } finally {
      close();
    }
  });
}

describe('Claude Code', { concurrency: true, skip }, () => {
  test('works on during a slow call, and is woken with its result', () => inTerminal({
    environment: {},
    calls: (project) => [shell(project, 'sleep 14; echo THE-$((1 + 1))ND; exit 3'),
      spec.callOf('list_directory', { path: project })],
  }, async ({ requests, results, told }) => {
    await told(/still running after 10s/);
    await told(/no entries/);
    assert.equal(results().length, 2, 'another tool has answered meanwhile');
    assert.ok(!requests().at(-1).includes('THE-2ND'));
    await told(/THE-2ND[^]*exit status 3/);
  }));

  test('gets the plain result of a short call', () => inTerminal({
    calls: (project) => [shell(project, 'echo THE-$((1 + 1))ND')],
  }, async ({ results, told }) => {
    await told(/THE-2ND/);
    assert.match(results()[0], /^[^a-z]*"type":"text","text":"THE-2ND\\n"/);
  }));

  test('stops a command in the background', () => inTerminal({
    calls: (project) => [shell(project, 'echo $$ >pid; sleep 300; :'),
      (result) => ({ name: 'TaskStop', arguments: { task_id: moved.exec(result)[1] } })],
  }, async ({ ended, told }) => {
    await told(/TaskStop[^]*tool_result/);
    await ended();
  }));

  test('ends a command in the background with the session', () => inTerminal({
    calls: (project) => [shell(project, 'echo $$ >pid; sleep 300; :')],
  }, async ({ close, ended, told }) => {
    await told(moved);
    close();
    await ended();
  }));

  // Without the option there is no limit; this stands for nine minutes.
  test('is woken when a time limit of the user ends a command', () => inTerminal({
    options: ['--command-timeout', '6s'],
    calls: (project) => [shell(project, 'echo $$ >pid; sleep 300; :')],
  }, async ({ ended, told }) => {
    await told(moved);
    await told(/timed out after 6s/);
    await ended();
  }));

  test('is woken when a process prints a line', () => inTerminal({
    calls: (project) => [spec.callOf('start_process', { command: ['sh', '-c',
      'echo starting; until [ -e go ]; do sleep 0.1; done; echo LISTENING on 30; exec sleep 300'], directory: project, wait_ms: 0 }),
    spec.callOf('read_process', { id: 'p1', until: 'listen|LISTEN' }), shell(project, 'sleep 1; touch go')],
  }, async ({ requests, told }) => {
    await told(moved);
    assert.ok(!requests().at(-1).includes('LISTENING on 30\\n'));
    await told(/matched: LISTENING on 30/);
  }));

  test('is told at once that the connection was lost', () => inTerminal({
    calls: (project) => [shell(project, 'sleep 300')],
  }, async ({ instance, told }) => {
    await told(moved);
    await instance.restart();
    await told(/connection to the guest was lost[^]*the command may have run/);
  }));

  test('waits for a slow call with -p, whatever the environment says', () => withScene(spec, { name: 'agent' }, async (scene) => {
    Object.assign(scene.environment, soon, { CLAUDE_AUTO_BACKGROUND_TASKS: '1' });
    const queue = [shell(scene.project, 'sleep 5; echo THE-$((1 + 1))ND')];
    scene.decide = (tools) => (tools.length > 0 ? queue.shift() : undefined);
    const { code, stderr } = await scene.mcp('run', spec.agent, '--trust', '--', '-p', 'run it');
    assert.equal(code, 0, stderr);
    const [[, result]] = toolResults(scene.model.turns.at(-1).body);
    assert.match(JSON.stringify(result), /THE-2ND/);
  }));
});
