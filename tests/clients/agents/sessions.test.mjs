// SPDX-License-Identifier: Apache-2.0
// Real agents, started twice by `limactl-mcp run` in a hostile project: without --trust, then to go on
// with that session, with --trust. No trap fires, and long results arrive.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { existsSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import { agents, ours, write } from './agent_specs.mjs';
import { toolResults, withScene } from './hostile_session.mjs';
import * as claude from './traps/claude.mjs';
import * as copilot from './traps/copilot.mjs';
import * as opencode from './traps/opencode.mjs';

const allHostile = { claude, copilot, opencode };
const first = 'FIRST-PROMPT';
const second = 'SECOND-PROMPT';

// In parallel: most of the time each agent is still starting.
describe('a session', { concurrency: true }, () => {
  for (const spec of agents.filter(({ agent }) => allHostile[agent])) {
    const hostile = allHostile[spec.agent];
    test(`of ${spec.title} goes on, and only --trust lets it write`, { skip: spec.skip }, () =>
      withScene(spec, {}, async (scene) => {
        const { home, model, project, traps } = scene;
        hostile.prepareHome(home, project, traps);
        hostile.plant(project, traps);
        hostile.plantFurther?.(project, traps);

        // Programs that agents start by name.
        const bin = join(project, 'bin');
        for (const program of ['bwrap', 'gh', 'git', 'node', 'pgrep', 'rg']) {
          write(join(bin, program), `#!/bin/sh\n${traps.touch(`${program} on PATH`)}\n`, 0o755);
        }
        scene.environment.PATH = [bin, scene.environment.PATH].join(delimiter);
        writeFileSync(join(project, 'long.txt'), `${'a line of a long file\n'.repeat(1500)}THE-END\n`);

        /** Runs a session in which the model writes a file and reads a long one. */
        const work = async (name, prompt, options, words) => {
          const path = join(project, name);
          const queue = [spec.callOf('write_file', { path, content: 'x' }),
            spec.callOf('read_file', { path: join(project, 'long.txt') })];
          model.turns.length = 0;
          scene.decide = (tools) => (tools.length > 0 ? queue.shift() : undefined);
          const ended = await scene.mcp('run', spec.agent, 'default', ...options, '--', ...words);
          assert.equal(ended.code, 0, ended.stderr);
          const turns = model.turns.filter(({ tools }) => tools.length > 0);
          assert.deepEqual([...new Set(turns.flatMap(({ tools }) => tools))].sort(),
            [...ours.map(spec.name), ...hostile.harmless.filter((tool) => turns[0].tools.includes(tool))].sort());
          assert.ok(turns[0].body.includes(prompt));
          assert.deepEqual(traps.fired(model.turns.map(({ body }) => body)), []);
          const [read, written] = toolResults(turns.at(-1).body).reverse();
          return { isWritten: existsSync(path), read, written, body: turns[0].body };
        };

        const asked = await work('one.txt', first, [], hostile.withRun(first));
        assert.equal(asked.isWritten, false);
        const again = await work('two.txt', second, ['--trust'], spec.goOn(hostile.withRun(second)));
        assert.equal(again.isWritten, true, JSON.stringify(again.written));
        assert.match(JSON.stringify(again.read), /THE-END/);
        assert.ok(again.body.includes(first), 'the first session goes on');
      }));
  }
});
