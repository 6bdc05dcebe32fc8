// SPDX-License-Identifier: Apache-2.0
// The first lines of the README as the instance's user types them, with real agents and a stub of their
// model: `limactl mcp run AGENT` creates the instance "agent", which mounts nothing, and works in a copy of
// the project there; `limactl mcp diff`; `limactl mcp take` (copy_session.mjs). Two things are not as
// typed: `--trust` and a prompt, since nobody is there to answer.

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

import { agents } from '../clients/agents/agent_specs.mjs';
import { workAndTake, workAtOnce } from '../clients/agents/copy_session.mjs';
import { withScene } from '../clients/agents/hostile_session.mjs';
import { execute, startGroup } from '../clients/client.mjs';
import { recordHostKey } from './host_key.mjs';

/** limactl's own limit for a start is ten minutes. */
const patience = { timeout: 900_000 };

/** Runs a command line with a terminal. */
const scriptWords = (line) =>
  (process.platform === 'darwin' ? ['-q', '/dev/null', 'sh', '-c', line] : ['-qec', line, '/dev/null']);

/** A project of the user's, which no mount contains. */
function makeHome() {
  const directory = mkdtempSync(join(homedir(), 'lmcp-'));
  const project = join(directory, 'project');
  mkdirSync(project);
  return { project, limaHome: process.env.LIMA_HOME,
    stop: () => rmSync(directory, { recursive: true, force: true }) };
}

const installed = agents.filter(({ skip }) => !skip);

describe('the first lines of the README', { concurrency: 1 }, () => {
  const limactl = (...words) =>
    execute('limactl', ['--tty=false', ...words], homedir(), process.env, patience);

  after(() => limactl('delete', '--force', 'agent'));

  /** Works with one agent; `start` starts the session. */
  const proveAgent = (spec, start) =>
    withScene(spec, makeHome(), async (scene) => {
      const environment = { ...process.env, ...scene.environment };
      const mcp = (...words) =>
        execute('limactl', ['mcp', ...words], scene.project, environment, patience);
      const words = ['run', spec.agent, '--trust', '--', ...spec.turnWithRun];
      const began = performance.now();
      const firstCall = await workAndTake(spec, scene,
        () => (start ? start(words, scene.project, environment) : mcp(...words)), mcp);
      const seconds = (milliseconds) => (milliseconds / 1000).toFixed(1);
      console.log(`${spec.title}: ${seconds(performance.now() - began)} s in all; ` +
        `${seconds(firstCall)} s from the model's first call to its result`);
    });

  const [first, ...others] = installed;

  test(`create the instance: ${first.title}`, async () => {
    await limactl('delete', '--force', 'agent');
    await proveAgent(first, async (words, project, environment) => {
      const line = ['limactl', 'mcp', ...words].map((word) => `'${word}'`).join(' ');
      const session = await execute('script', scriptWords(line), project, environment,
        { ...patience, input: '\n' });  // the user presses Enter
      assert.match(session.stdout, /Create it now\? \[Y\/n\] /);
      return session;
    });
    const { stdout } = await limactl('shell', 'agent', 'findmnt', '-nt', '9p,virtiofs,fuse.sshfs');
    assert.equal(stdout, '', 'it mounts nothing');
    await recordHostKey('agent');
  });

  test('work with each other agent', { concurrency: true }, async (context) => {
    await Promise.all(others.map((spec) => context.test(spec.title, () => proveAgent(spec))));
  });

  test(`three sessions at once: ${first.title}`, () => withScene(first, makeHome(), async (scene) => {
    const environment = { ...process.env, ...scene.environment };
    await workAtOnce(first, scene,
      (...words) => startGroup('limactl', ['mcp', ...words], scene.project, environment),
      (...words) => execute('limactl', ['mcp', ...words], scene.project, environment, patience));
  }));
});
