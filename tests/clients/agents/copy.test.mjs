// Real agents, started by `limactl-mcp run` in a copy of the project (copy_session.mjs). Host and guest are
// one machine here; tests/vm/copy.test.mjs has a real guest.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { serverProgram } from '../instance.mjs';
import { agents, programs } from './agent_specs.mjs';
import { firedFile, git, workAndTake } from './copy_session.mjs';
import { execute, startScene } from './hostile_session.mjs';

// In parallel: most of the time each agent is still starting.
describe('in a copy', { concurrency: true }, () => {
  for (const spec of agents) {
    const skip = !existsSync(join(programs, spec.program));
    test(`${spec.title}'s work comes back as a branch`, { skip }, async () => {
      const scene = await startScene(spec, { name: 'agent', mounts: () => [] });
      try {
        const { project } = scene;
        const copy = join(dirname(project), 'copy');
        const mcp = (...words) => execute(serverProgram, words, project, scene.environment);
        await workAndTake(spec, scene, () => mcp('run', spec.agent, '--copy-dir', copy, '--trust',
          '--', ...(spec.turnWithRun ?? spec.turn)), mcp);

        git(copy, 'status');
        assert.ok(existsSync(firedFile(project)), "the user's git in the agent's repository runs it");
      } finally {
        await scene.stop();
      }
    });
  }
});
