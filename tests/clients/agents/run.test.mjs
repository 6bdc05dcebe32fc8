// SPDX-License-Identifier: Apache-2.0
// Real agents, started by `limactl-mcp run` in a hostile project. The model calls what the traps offer and
// the agent's own tools. No trap fires; without run each of them fires. Prints a table of agents and
// traps.

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';

import { agents, ours, printTable } from './agent_specs.mjs';
import { hostileSession } from './hostile_session.mjs';
import * as claude from './traps/claude.mjs';
import * as codex from './traps/codex.mjs';
import * as copilot from './traps/copilot.mjs';
import * as gemini from './traps/gemini.mjs';
import * as opencode from './traps/opencode.mjs';

const allHostile = { claude, codex, copilot, gemini, opencode };
const projectInstructions = 'INSTRUCTIONS-OF-THE-PROJECT';

/** Agents' answers to a call of a tool that they do not have. */
const refusal = new RegExp(['No such tool available', 'unsupported (custom tool )?call',
  '^\\{"error":"Tool .* not found', 'unavailable tool',
  "^Tool '.*' does not exist"].join('|'));

const without = (all, some) => all.filter((each) => !some.includes(each));

/** Checks that hold for every session with run. */
function assertConfined(spec, hostile, session) {
  assert.deepEqual(session.fired, []);
  const allowed = [...ours.map(spec.name), ...hostile.harmless];
  assert.deepEqual(without(session.offered, allowed), [], 'offered to the model');
  assert.deepEqual(without(ours.map(spec.name), session.offered), [], 'not offered to the model');

  const [[shell, output], ...others] = session.results;
  assert.equal(shell, spec.name('run_shell_command'));
  assert.match(output, /guest of 127\.0\.0\.1/, 'the command ran in the guest');
  assert.deepEqual(session.leftOver, [], 'the model has asked for everything');
  const refused = others.filter(([, text]) => refusal.test(text));
  for (const name of without([...session.calls,
    ...(hostile.subagentsWithRun ? session.subagentCalls : [])], allowed)) {
    assert.ok(refused.some(([, text]) => text.includes(name)), `${name} is refused`);
  }
  const granted = others.filter(([name, text]) => !allowed.includes(name) && !refusal.test(text));
  assert.deepEqual(granted, []);

  assert.equal(session.stdout.trim(), 'done', session.stderr);
  assert.equal(session.code, 0);
  assert.deepEqual(session.settingsAfter, session.settingsBefore, "the user's settings");
}

/** The traps of each agent that have fired. */
const table = new Map(agents.map(({ title }) =>
  [title, { withRun: new Set(), withoutRun: new Set() }]));

// In parallel: most of the time each agent is still starting.
describe('run', { concurrency: true }, () => {
  after(() => printTable(['agent', 'trap', 'without run', 'with run'],
    [...table].flatMap(([title, { withRun, withoutRun }]) => [...new Set([...withoutRun, ...withRun])].map((trap) =>
      [title, trap, ...[withoutRun, withRun].map((fired) => (fired.has(trap) ? 'open' : 'closed'))]))));
  for (const spec of agents) {
    const hostile = allHostile[spec.agent];
    const { codeMode, firesBelow, firesLive, subagentsWithRun } = hostile;
    describe(spec.title, { concurrency: 1, skip: spec.skip }, () => {
      const withRun = async (options, where = '') => {
        const session = await hostileSession(spec, hostile, { confined: true, ...options });
        for (const trap of session.fired) table.get(spec.title).withRun.add(trap + where);
        return session;
      };

      /** Runs a session in which at least the traps `expected(session)` must fire. */
      const withoutRun = async (expected, options, where = '') => {
        const session = await hostileSession(spec, hostile, { confined: false, ...options });
        const traps = expected(session);
        for (const trap of traps.filter((name) => session.fired.includes(name))) {
          table.get(spec.title).withoutRun.add(trap + where);
        }
        assert.deepEqual(without(traps, session.fired), []);
      };

      test('all traps fire without run', async () => {
        await withoutRun(({ traps }) => traps);
      });

      test('no trap fires with run', async () => {
        const session = await withRun();
        assertConfined(spec, hostile, session);
        assert.deepEqual(session.written, [], 'written into the project');
        const isInstructed = (body) => body.includes(projectInstructions);
        assert.ok(session.bodies.some(isInstructed));
        assert.equal(session.subagents.some(isInstructed), subagentsWithRun ?? false);
      });

      const above = ', in a directory above';
      test('traps in a directory above fire without run', async () => {
        await withoutRun(() => firesBelow, { below: 'sub', silent: true }, above);
      });

      test('no trap in a directory above fires with run', async () => {
        const session = await withRun({ below: 'sub' }, above);
        assertConfined(spec, hostile, session);
        assert.deepEqual(session.written, [], 'written into the project');
      });

      // Only Claude Code rereads its settings. With the others the model's calls are the test.
      const during = ', set during the session';
      if (firesLive) {
        test('traps set during the session fire without run', async () => {
          await withoutRun(() => firesLive, { live: true }, during);
        });
      }

      test('no trap set during the session fires with run', async () => {
        assertConfined(spec, hostile, await withRun({ live: true }, during));
      });

      if (codeMode) describe('code that calls tools', { concurrency: 1 }, () => {
        const variant = { ...hostile, ...codeMode };

        test('has those of the host without run', async () => {
          const { fired } = await hostileSession(spec, variant, { confined: false });
          for (const trap of codeMode.fires) {
            assert.ok(fired.includes(trap), trap);
            table.get(spec.title).withoutRun.add(trap);
          }
        });

        test('has only those of the guest with run', async () => {
          const session = await hostileSession(spec, variant, { confined: true });
          for (const trap of session.fired) table.get(spec.title).withRun.add(trap);
          assert.deepEqual(session.fired, []);
          assert.deepEqual(without(session.offered, codeMode.harmless), []);
          const output = session.results.map(([, text]) => text).join('\n');
          assert.match(output, /guest of 127\.0\.0\.1/);
          const callable = /TOOLS (.*) END/.exec(output)[1].split(' ');
          assert.deepEqual(without(ours.map(spec.name), callable), []);
          assert.deepEqual(without(callable, [...ours.map(spec.name), ...codeMode.callable]), []);
        });
      });
    });
  }
});
