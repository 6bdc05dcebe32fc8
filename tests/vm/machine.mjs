// SPDX-License-Identifier: Apache-2.0
// What the tests in a real Lima instance share: the product as users start it, through `limactl mcp serve`,
// and the instance that tests/vm/run has started and described in the environment. The instance is broken,
// examined and repaired with limactl and ssh alone: nothing of the product is used, and no connection that a
// fault could break.

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { Client, execute } from '../clients/client.mjs';
import { recordHostKey } from './host_key.mjs';

/** The guest's processor may be emulated on a busy machine. A login alone then takes seconds. */
export const kGuestTimeout = 120_000;
/** A boot takes one to three minutes, and many more on a busy machine. */
export const kBootTimeout = 1_200_000;
/** For calls that need no guest. They take milliseconds, more on a busy machine. */
const kAtOnce = 5000;

const { LIMACTL_MCP_VM_INSTANCE: name, LIMACTL_MCP_VM_MOUNTS: mounts, LIMA_HOME: limaHome } = process.env;
if (!name || !mounts || !limaHome) throw new Error('the environment is not set; tests/vm/run sets it');
const qemuPidFile = join(limaHome, name, 'qemu.pid');
const faultMark = join(dirname(mounts), `${name}.broken-by-a-test`);
export { name };

/** The host's side of the mount writable, read-only or mapped, and where the guest has it. */
export const mount = (each) => join(mounts, each);
export const mountPoint = (each) => (each === 'mapped' ? '/mnt/mapped' : mount(each));

/** Where the guest has a directory that newDirectory() has made in a mount. */
export const inGuest = (each, directory) => join(mountPoint(each), basename(directory));

/** Runs a shell script in the guest as Lima's user, over a connection of its own. The guest may reboot. */
export const tryShell = (script) => execute('ssh',
  ['-F', join(limaHome, name, 'ssh.config'), '-o', 'ControlMaster=no', '-o', 'ControlPath=none',
    '-o', 'ConnectTimeout=30', '-o', 'ServerAliveInterval=10', `lima-${name.replace(/[._]/g, '-')}`, 'sh'],
  undefined, process.env, { input: script, timeout: kGuestTimeout });

/** The output of what must succeed. */
function outputOf(what, { code, stdout, stderr }) {
  if (code !== 0) throw new Error(`${what}: exit code ${code}, ${stdout}${stderr}`);
  return stdout;
}

/** The output of a script that must succeed; the second as the guest's root. */
export const shell = async (script) => outputOf(`in the guest: ${script}`, await tryShell(script));
const asRoot = (script) => `exec sudo -n sh -e <<'END OF SCRIPT'\n${script}\nEND OF SCRIPT\n`;
export const shellAsRoot = (script) => shell(asRoot(script));

/** limactl copies an image before its own limit for a boot begins. */
const patience = { timeout: kBootTimeout + 300_000 };
export const mcp = (...words) => execute('limactl', ['mcp', ...words], undefined, process.env, patience);
export const tryLimactl = (...words) =>
  execute('limactl', ['--tty=false', ...words], undefined, process.env, patience);
export const limactl = async (...words) => outputOf(`limactl ${words[0]}`, await tryLimactl(...words));

/** As Lima's list shows it: Running, Stopped, Broken. */
export const status = async () => (await limactl('list', '--format', '{{.Status}}', name)).trim();
export const stop = () => limactl('stop', name);
export const start = async () => {
  await limactl('start', `--timeout=${kBootTimeout / 1000}s`, name);
  await recordHostKey(name);
};

/** SIGSTOP and SIGCONT for QEMU freeze and thaw the guest. Only if it runs in QEMU. */
export const isQemu = () => existsSync(qemuPidFile);
export function signalQemu(signal) {
  const qemu = Number(readFileSync(qemuPidFile, 'utf8'));
  // Other numbers would name a process group, or all processes of this user.
  if (!(qemu > 1)) throw new Error(`no process number in ${qemuPidFile}`);
  process.kill(qemu, signal);
}

/** Each step does nothing if nothing is broken. */
const repairGuest = async () => (await tryShell(asRoot(`
for directory in /mnt/limactl-mcp-*; do
  ! mountpoint -q "$directory" || umount --lazy "$directory"
  [ ! -d "$directory" ] || rmdir "$directory"
done
rm -f /var/tmp/limactl-mcp-*.img
mount --all || true
for directory in '${['writable', 'read-only', 'mapped'].map(mountPoint).join("' '")}'
do mountpoint -q "$directory"; done`))).code === 0;

/** Undoes what tests do to the machine, by a restart if need be. Does nothing if no fault was announced since
 *  the last time. */
async function repair() {
  if (!existsSync(faultMark)) return;
  if (isQemu()) signalQemu('SIGCONT');
  let isRepaired = false;
  // sshd may just have been killed.
  for (const end = Date.now() + kGuestTimeout; !isRepaired && Date.now() < end && await status() === 'Running';) {
    isRepaired = await repairGuest();
    if (!isRepaired) await sleep(1000);
  }
  if (!isRepaired) {
    if (await status() !== 'Stopped') await limactl('stop', '--force', name);
    await start();
    if (!await repairGuest()) throw new Error('a restart did not repair the virtual machine');
  }
  rmSync(faultMark);
}

/** Waits until `condition` holds. Throws when that takes longer than a boot. */
export async function eventually(what, condition) {
  for (const end = Date.now() + kBootTimeout; !await condition(); await sleep(500)) {
    if (Date.now() > end) throw new Error(`waited in vain until ${what}`);
  }
}

/** One call of each tool, two of write_file, in `directory` and its file `file.txt`. */
export function callsOfEveryTool(directory) {
  const path = join(directory, 'file.txt');
  const touch = { command: ['touch', 'touched'], directory };
  return [
    ['glob', { pattern: '*.txt', path: directory }],
    ['list_directory', { path: directory }],
    ['read_file', { path }],
    ['replace', { path, old_string: 't', new_string: 'T' }],
    ['run_shell_command', touch],
    ['search_file_content', { pattern: 't', path: directory }],
    ['start_process', touch],
    ['write_file', { path, content: 'new text\n' }],
    ['write_file', { path: join(directory, 'new/file.txt'), content: 'new text\n' }],
  ];
}

const textOf = (result) => result.content[0].text;

/** What one test uses. */
class Session {
  #clients = [];
  #directories = [];

  get client() { return this.#clients.at(-1); }

  /** A new directory on the host in a mount, removed after the test. The guest has never looked up its name,
   *  so caches of the mount do not know it. */
  newDirectory(each) {
    this.#directories.push(mkdtempSync(join(mount(each), 'test.')));
    return this.#directories.at(-1);
  }

  /** Starts another server. The calls below go to it. */
  async serve(options = [], instance = name) {
    this.#clients.push(new Client(['limactl', 'mcp', 'serve', instance, ...options]));
    await this.client.start();
  }

  /** The calls below go to a server that was started before. */
  use(client) { this.#clients.push(client); }

  /** The result of a call, which may be an error. */
  async call(tool, args, meta = {}, milliseconds = kGuestTimeout) {
    return (await this.client.request('tools/call', { name: tool, arguments: args, ...meta }, milliseconds)).result;
  }

  /** The structured result of a call that must succeed. */
  async result(tool, args) {
    const result = await this.call(tool, args);
    assert.ok(!result.isError, `${tool}: ${textOf(result)}`);
    return result.structuredContent;
  }

  /** Calls what must fail, with this text. */
  async refused(tool, args, text) {
    const result = await this.call(tool, args);
    assert.ok(result.isError, `${tool} returned ${JSON.stringify(result)}`);
    assert.ok(textOf(result).includes(text), `${tool}: ${textOf(result)}`);
  }

  run(command, directory) { return this.result('run_shell_command', { command, directory }); }
  async output(command, directory) { return (await this.run(command, directory)).stdout; }
  async read(path) { return (await this.result('read_file', { path })).content; }
  write(path, content) { return this.result('write_file', { path, content }); }

  /** Starts a bash script, and waits until it runs. Returns a function that waits for its result, as JSON. */
  async begin(script, directory) {
    const result = this.call('run_shell_command',
      { command: ['bash', '-c', `touch started; ${script}`], directory }, {}, kBootTimeout);
    result.catch(() => {});  // if the test fails before
    const started = join(directory, 'started');
    await eventually('the command runs', () => existsSync(started));
    rmSync(started);
    return async (milliseconds = kGuestTimeout) =>
      JSON.stringify(await Promise.race([result, sleep(milliseconds, 'no answer', { ref: false })]));
  }

  /** Every tool works on `directory`, a new one in a writable mount. */
  async expectAllToolsWork(directory, guests = directory) {
    const path = join(directory, 'file.txt');
    await this.write(path, 'some text\n');
    assert.equal(readFileSync(path, 'utf8'), 'some text\n');
    assert.equal(await this.read(path), 'some text\n');
    assert.equal(await this.output(['pwd'], directory), `${guests}\n`);
    assert.equal(await this.output(['cat', 'file.txt'], directory), 'some text\n');
    const { entries } = await this.result('list_directory', { path: directory });
    assert.deepEqual(entries.map((entry) => [entry.name, entry.size]), [['file.txt', 10]]);
    assert.deepEqual((await this.result('glob', { pattern: '*.txt', path: directory })).matches, [path]);
    assert.equal((await this.result('search_file_content', { pattern: 'text', path: directory })).git_grep_output,
      'file.txt:1:some text\n');
    assert.equal((await this.result('replace', { path, old_string: 'some', new_string: 'other' })).replacements, 1);
    assert.equal(readFileSync(path, 'utf8'), 'other text\n');
  }

  /** `ping` and `tools/list` never wait for the guest. */
  async expectAnswersAtOnce() {
    await this.client.request('ping', {}, kAtOnce);
    assert.ok((await this.client.request('tools/list', {}, kAtOnce)).result.tools.length >= 6);
  }

  end() {
    for (const client of this.#clients) client.child.kill('SIGKILL');
    for (const directory of this.#directories) rmSync(directory, { recursive: true, force: true });
  }
}

/** Defines a test. `use` gets a Session and node's context. */
export function vmTest(sentence, use, breaksTheMachine = false) {
  test(sentence, async (context) => {
    await repair();  // a test that was killed may have left it broken
    await recordHostKey(name);
    if (breaksTheMachine) writeFileSync(faultMark, '');
    const session = new Session();
    try {
      await use(session, context);
    } catch (error) {
      if (session.client) console.log(`the server's log:\n${session.client.log}`);
      throw error;
    } finally {
      session.end();
      if (breaksTheMachine) await repair();
    }
  });
}

/** Defines a test that breaks the machine, which is repaired afterwards. */
export const faultTest = (sentence, use) => vmTest(sentence, use, true);
