// SPDX-License-Identifier: Apache-2.0
// Prints an SVG of a terminal in which `limactl mcp run claude`, `diff` and `take` ran, in a project
// with an uncommitted file. The output is real. A script stands in for the agent (stand_in.mjs), a
// local sshd for the virtual machine (tests/testing/loopback_instance.h). `picture` starts it.

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { serverProgram, startInstance } from '../clients/instance.mjs';
import { drawTerminal } from './terminal.mjs';

/** Breaks the longest line between two words. */
const kColumns = 92;
const kSession = ['limactl mcp run claude', 'limactl mcp diff', 'limactl mcp take'];
/** Shown instead of this machine's. */
const kHome = '/home/me';

const kCommitted = {
  'greet.sh': 'echo "Hello, ${1:-world}!"\n',
  'Makefile': 'install:\n\tinstall greet.sh /usr/local/bin/greet\n\ntest:\n\tsh -n greet.sh\n',
};
const kUncommitted = {
  'greet_test.sh': '[ "$(sh greet.sh)" = "Hello, world!" ] && echo "ok: greets the world"\n',
};

function write(directory, files, mode) {
  mkdirSync(directory, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(directory, name), text, { mode });
  }
}

function makeProject(project, env) {
  const git = (...words) => execFileSync('git', words, { cwd: project, env });
  write(project, kCommitted);
  git('init', '-q', '-b', 'main');
  git('add', '-A');
  git('commit', '-q', '-m', 'Greet');
  write(project, kUncommitted);
}

/** Host and guest are one machine here, so the copy needs another directory than the project's. */
function makePrograms(directory, copy) {
  const limactl = `#!/bin/sh
shift
[ "$1" != run ] || set -- "$@" --copy-dir '${copy}'
exec '${resolve(serverProgram)}' "$@"
`;
  write(directory, { limactl }, 0o755);
  symlinkSync(fileURLToPath(new URL('stand_in.mjs', import.meta.url)), join(directory, 'claude'));
}

/** What a terminal shows of the session. */
function record(project, env) {
  const prompt = '\\033[1;34m~/my-project\\033[m $ \\033[1m%s\\033[m\\n';
  const steps = kSession.map((command) => `printf '${prompt}' '${command}'\n${command} || exit`);
  const { status, stdout } = spawnSync('script', ['-qec', steps.join('\necho\n'), '/dev/null'],
    { cwd: project, env, input: '', encoding: 'utf8' });
  if (status !== 0) throw new Error(`the session failed:\n${stdout}`);
  return stdout.replaceAll('\r\n', '\n');
}

const instance = await startInstance({ name: 'agent', mounts: () => [] });
try {
  const root = dirname(instance.limaHome);
  const [home, guest, bin] = ['home', 'guest', 'bin'].map((name) => join(root, name));
  const project = join(home, 'my-project');
  const env = {
    GIT_CONFIG_NOSYSTEM: '1',
    HOME: home,
    LC_ALL: 'C.UTF-8',
    LIMA_HOME: instance.limaHome,
    PAGER: 'cat',
    PATH: `${bin}:${process.env.PATH}`,
    SHELL: '/bin/sh',
    TERM: 'xterm-256color',
  };
  write(home, { '.gitconfig': '[user]\nname = Ann\nemail = ann@example.org\n' });
  makeProject(project, env);
  makePrograms(bin, join(guest, 'my-project'));
  const shown = record(project, env).replaceAll(home, kHome).replaceAll(guest, kHome);
  process.stdout.write(drawTerminal(shown, kColumns, kSession.join(', ')));
} finally {
  await instance.stop();
}
