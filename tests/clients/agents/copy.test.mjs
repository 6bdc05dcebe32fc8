// SPDX-License-Identifier: Apache-2.0
// Real agents, started by `limactl-mcp run` in a copy of the project (copy_session.mjs). Host and guest are
// one machine here; tests/vm/copy.test.mjs has a real guest.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { startGroup } from '../client.mjs';
import { serverProgram } from '../instance.mjs';
import { agents } from './agent_specs.mjs';
import { firedFile, git, workAndTake, workAtOnce } from './copy_session.mjs';
import { withScene } from './hostile_session.mjs';

// In parallel: most of the time each agent is still starting.
describe('in a copy', { concurrency: true }, () => {
  for (const spec of agents) {
    test(`${spec.title}'s work comes back as a branch`, { skip: spec.skip }, () =>
      withScene(spec, { name: 'agent', mounts: () => [] }, async (scene) => {
        const { mcp, project, root } = scene;
        const copy = join(root, 'copy');
        await workAndTake(spec, scene,
          () => mcp('run', spec.agent, '--copy-dir', copy, '--trust', '--', ...spec.turnWithRun), mcp);

        git(copy, 'status');
        assert.ok(existsSync(firedFile(project)), "the user's git in the agent's repository runs it");
      }));
  }
});

const claude = agents.find(({ agent }) => agent === 'claude');
test('three sessions work on one project at once, and come back as three branches', { skip: claude.skip }, () =>
  withScene(claude, { name: 'agent', mounts: () => [] }, (scene) => workAtOnce(claude, scene,
    (...words) => startGroup(serverProgram, words, scene.project, scene.environment), scene.mcp)));
