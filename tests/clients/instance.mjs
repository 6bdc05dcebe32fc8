// SPDX-License-Identifier: Apache-2.0
// A throwaway instance for the clients (tests/testing/loopback_instance.h).

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// What this machine and its user have set does not count (tests/testing/settings.h).
for (const name of Object.keys(process.env)) {
  if (/^(GIT_|LC_|LANG|XDG_CONFIG_HOME$)/.test(name)) delete process.env[name];
}
Object.assign(process.env, { GIT_CONFIG_NOSYSTEM: '1', LANG: 'C.UTF-8' });
process.umask(0o022);

/** Path of the server's binary. */
export const serverProgram = process.env.LIMACTL_MCP;

const cleanUps = [];
process.on('exit', () => { for (const cleanUp of cleanUps.reverse()) cleanUp(); });
for (const [signal, code] of [['SIGINT', 130], ['SIGTERM', 143], ['SIGHUP', 129]]) {
  process.on(signal, () => process.exit(code));
}
/** Calls `cleanUp` when this program exits, also by a signal; the last one first. */
export const atExit = (cleanUp) => cleanUps.push(cleanUp);

/** Exits with the code that `main` returns, or with 1 and its error. */
export function exitWith(program, main) {
  main().then((code) => process.exit(code), (error) => {
    console.error(`${program}: ${error.stack ?? error}`);
    process.exit(1);
  });
}

const projectOnly = (directory) => [`${directory}/project:w`];

/** Starts the instance `name`. `mounts(directory)` returns its mounts, such as `DIR:w`; `directory` holds
 *  the project, by default the only mount. `restart` starts it anew, on another port and with another host
 *  key. `stop` stops it and removes its files. Needs LOOPBACK_INSTANCE, the path of the program. */
export async function startInstance({ name = 'default', mounts = projectOnly } = {}) {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'lmcp-')));
  const remove = () => rmSync(directory, { recursive: true, force: true });
  atExit(remove);
  const project = join(directory, 'project');
  const limaHome = join(directory, 'lima');
  mkdirSync(project);
  const options = mounts(directory);
  let child;
  async function start() {
    child = spawn(process.env.LOOPBACK_INSTANCE ?? 'loopback-instance', [limaHome, name, ...options],
      { stdio: ['pipe', 'pipe', 'inherit'] });
    const [port] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
    if (!/^\d+\n$/.test(String(port))) throw new Error(`no instance: ${port}`);
  }
  async function end() {
    child.stdin.end();
    if (child.exitCode === null) await once(child, 'exit');
  }
  await start();
  return {
    directory,
    project,
    limaHome,
    /** For an SDK's stdio transport. */
    server: {
      command: serverProgram,
      args: ['serve', name],
      env: { ...process.env, LIMA_HOME: limaHome },
      stderr: 'inherit',
    },
    /** The process whose child is sshd. */
    get pid() { return child.pid; },
    async restart() {
      await end();
      await start();
    },
    async stop() {
      await end();
      remove();
    },
  };
}
