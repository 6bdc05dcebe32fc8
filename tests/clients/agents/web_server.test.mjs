// SPDX-License-Identifier: Apache-2.0
// A Vite server that an agent has started in the guest, in the user's browser: `run --port`, hot reload included.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { agents, write } from './agent_specs.mjs';
import { withScene } from './hostile_session.mjs';

const kVite = 'vite@7.1.12';
const spec = agents.find(({ agent }) => agent === 'claude');
const chromium = ['chromium', 'chromium-browser', 'google-chrome'].find((name) => {
  try {
    execFileSync(name, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
});

const files = {
  'index.html': '<script type="module" src="/main.js"></script>\n',
  // Each page has a name, so that hot reload is told from loading it again.
  'main.js': `import { value } from './value.js';
const page = Math.random();
const say = (text) => fetch('/seen?' + text + ' by ' + page);
say(value);
import.meta.hot.accept('./value.js', (module) => say(module.value));
`,
  'value.js': "export const value = 'first';\n",
  'vite.config.js': `import { appendFileSync } from 'node:fs';
export default { plugins: [{ name: 'seen', configureServer({ middlewares }) {
  middlewares.use('/seen', (request, response) => {
    appendFileSync('seen.log', decodeURIComponent(request.url.slice(request.url.indexOf('?') + 1)) + '\\n');
    response.end();
  });
} }] };
`,
};

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}

/** Repeats it until it returns something. */
async function until(what, look) {
  for (const end = Date.now() + 60_000; Date.now() < end; await sleep(100)) {
    const found = await look();
    if (found) return found;
  }
  assert.fail(what);
}

/** What the user sees of a page that the guest serves, and changes. */
async function browse(project, port) {
  const url = `http://localhost:${port}/`;
  await until('the page comes', () => fetch(url).then((answer) => answer.ok, () => false));
  const profile = join(project, '..', 'chromium');
  const browser = spawn(chromium, ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
    `--user-data-dir=${profile}`, '--remote-debugging-pipe', url],
  { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'], detached: true });
  const seen = (value) => () => {
    try {
      return readFileSync(join(project, 'seen.log'), 'utf8').match(new RegExp(`^${value} by (.*)$`, 'm'))?.[1];
    } catch {
      return undefined;
    }
  };
  try {
    const page = await until('the browser runs the page', seen('first'));
    write(join(project, 'value.js'), "export const value = 'second';\n");
    assert.equal(await until('the page is updated', seen('second')), page, 'it was not loaded again');
  } finally {
    process.kill(-browser.pid, 'SIGKILL');
    await once(browser, 'exit');
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

const skip = spec.skip || (chromium ? false : 'there is no Chromium on this machine');

test('a server that the agent started is reached by the browser, with hot reload', { skip }, () =>
  withScene(spec, { name: 'agent' }, async (scene) => {
    const { project } = scene;
    for (const [name, text] of Object.entries(files)) write(join(project, name), text);
    execFileSync('npm', ['install', '--no-save', '--no-package-lock', '--no-progress', kVite],
      { cwd: project, stdio: 'ignore' });
    const [host, guest] = [await freePort(), await freePort()];
    const command = ['node_modules/.bin/vite', '--port', String(guest), '--strictPort'];
    const steps = [
      () => spec.callOf('start_process', { command, directory: project }),
      () => browse(project, host),
    ];
    let failure;
    scene.decide = async (tools) => {
      if (tools.length === 0) return undefined;  // for a title, say
      try {
        return await steps.shift()?.();
      } catch (error) {
        failure = error;
        return undefined;
      }
    };
    const session = await scene.mcp('run', 'claude', '--trust', '--port', `${host}:${guest}`, '--', ...spec.turnWithRun);
    assert.equal(session.code, 0, session.stderr);
    if (failure) throw failure;
    assert.equal(steps.length, 0, session.stderr);
    assert.match(session.stderr, new RegExp(`^http://localhost:${host} -> agent:${guest}$`, 'm'));
    await assert.rejects(fetch(`http://localhost:${host}/`), 'the port ends with the agent');
  }));
