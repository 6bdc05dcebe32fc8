// SPDX-License-Identifier: Apache-2.0
// Real agents, set up in a fresh home as `limactl mcp configure` prints it. Their own list shows the server
// connected. In a whole turn against a stub of their model's endpoint, they offer none of their own file
// and shell tools, and run a command in the guest.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { agents, followSteps, ours } from './agent_specs.mjs';
import { withScene } from './hostile_session.mjs';

/** Checks one agent; `step` defines a step of the test. */
async function check(spec, scene, step) {
  const { model, project } = scene;
  let flags = [];  // which configure has told
  scene.installLimactl();

  /** Runs a program in the project; returns its output. */
  async function run(program, ...words) {
    const { code, stdout, stderr } = await scene.execute(program, ...words);
    // eslint-disable-next-line no-control-regex -- colours
    const text = `${stdout}${stderr}`.replace(/\x1b\[[0-9;]*m/g, '');
    assert.equal(code, 0, text);
    return text;
  }

  async function configure() {
    const printed = await run('limactl', 'mcp', 'configure', spec.agent, 'default');
    const start = await followSteps(spec, printed, project, run);
    Object.assign(scene.environment, start.environment);
    flags = start.words;
  }

  /** The tools that a turn offers, subagents included. */
  async function offered(decide = () => undefined) {
    model.turns.length = 0;
    scene.decide = decide;
    await run(spec.agent, ...flags, ...spec.turn);
    return model.turns.flatMap(({ tools }) => tools);
  }

  const assertOffered = (some, tools) => {
    for (const tool of some) assert.ok(tools.includes(tool), `${tool} of ${tools}`);
  };
  const assertNotOffered = (some, tools) => {
    for (const tool of some) assert.ok(!tools.includes(tool), `${tool} of ${tools}`);
  };

  await step('has tools of its own that reach the host, without configure', async () => {
    assertOffered(spec.ownWithout, await offered());
  });

  await step('lists the server as connected', async () => {
    await configure();
    assert.match(await run(spec.agent, 'mcp', 'list'), spec.listed);
  });

  await step('offers only tools of the guest, and runs a command there', async () => {
    const command = ['sh', '-c', 'echo "guest of $SSH_CONNECTION" | tee proof'];
    const tools = await offered((names, body) =>
      (names.includes(spec.name('run_shell_command')) && !body.includes('guest of 127.0.0.1')
        ? spec.callOf('run_shell_command', { command, directory: project }) : undefined));
    assertOffered(ours.map(spec.name), tools);
    assertNotOffered(spec.own, tools);
    assert.ok(existsSync(join(project, 'proof')), 'the command ran');
    assert.ok(model.turns.some(({ body }) => body.includes('guest of 127.0.0.1')),
      'the agent handed the command\'s output, which came by SSH, to its model');
  });

  if (spec.helper) await step('gives the agents that it starts no more than it has', async () => {
    let isStarted = false;
    await offered((names) => {
      if (!names.includes(spec.helper.name) || isStarted) return undefined;
      isStarted = true;
      return spec.helper;
    });
    const others = model.turns.map(({ tools }) => tools)
      .filter((tools) => tools.length > 0 && !tools.includes(spec.helper.name));
    assert.notEqual(others.length, 0, 'the helper has had a turn, without helpers of its own');
    assertNotOffered(spec.own, others.flat());
  });
}

// In parallel: most of the time each agent is still starting.
describe('agents', { concurrency: true }, () => {
  for (const spec of agents) {
    test(spec.title, { skip: spec.skip }, (context) =>
      withScene(spec, {}, (scene) => check(spec, scene, (name, use) => context.test(name, use))));
  }
});
