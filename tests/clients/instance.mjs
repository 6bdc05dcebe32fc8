// A throwaway instance for the clients (tests/testing/loopback_instance.h).

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

function fromEnvironment(name) {
  const value = process.env[name];
  if (!value) throw new Error(`set ${name} to the path of the built program`);
  return value;
}

/** Path of the server's binary. */
export const serverProgram = fromEnvironment('LIMACTL_MCP');

const projectOnly = (directory) => [`${directory}/project:w`];

/** Starts the instance `name`. `mounts(directory)` returns its mounts, such as `DIR:w`; `directory` holds
 *  the project, by default the only mount. `stop` stops it and removes its files. */
export async function startInstance({ name = 'default', mounts = projectOnly } = {}) {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'lmcp-')));
  const project = join(directory, 'project');
  const limaHome = join(directory, 'lima');
  mkdirSync(project);
  const child = spawn(fromEnvironment('LOOPBACK_INSTANCE'), [limaHome, name, ...mounts(directory)],
    { stdio: ['pipe', 'pipe', 'inherit'] });
  const [port] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
  if (!/^\d+\n$/.test(String(port))) throw new Error(`no instance: ${port}`);
  return {
    project,
    limaHome,
    /** For an SDK's stdio transport. */
    server: {
      command: serverProgram,
      args: ['serve', name],
      env: { ...process.env, LIMA_HOME: limaHome },
      stderr: 'inherit',
    },
    async stop() {
      child.stdin.end();
      if (child.exitCode === null) await once(child, 'exit');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
