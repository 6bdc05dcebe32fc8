// SPDX-License-Identifier: Apache-2.0
// Faults inside the guest, and of the whole machine, while a server is connected to it.

import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { callsOfEveryTool, eventually, faultTest, inGuest, isQemu, kBootTimeout, mcp, mountPoint,
  name, shell, shellAsRoot, signalQemu, status, stop, tryShell } from './machine.mjs';

/** Breaks sshd by `script` while a command runs. The call must end, report that, and leave nothing behind;
 *  then all tools must work again. */
const sshdTest = (sentence, script) => faultTest(sentence, async (session) => {
  const directory = session.newDirectory('writable');
  await session.serve();
  const ended = await session.begin('sleep 8642 & sleep 8642', directory);
  await tryShell(script);
  assert.match(await ended(), /may have run/);
  // sshd itself may not be back yet.
  await eventually('the command is gone', async () =>
    (await tryShell("pgrep -x -f 'sleep 8642'; test $? = 1")).code === 0);
  await session.expectAllToolsWork(directory);
});

sshdTest('sessions of sshd are killed', `sudo -n pkill -KILL -f '^sshd(-session)?: '"$(id -un)"`);
sshdTest('sshd is killed and restarted', `sudo -n systemd-run --quiet --collect sh -c 'pkill -KILL sshd; sleep 1
systemctl restart ssh || systemctl restart sshd'`);

const kSmall = '/mnt/limactl-mcp-small';
const file = join(kSmall, 'file.txt');

/** With a file system of 4 MiB that belongs to Lima's user. */
const fileSystemTest = (sentence, use) => faultTest(sentence, async (session) => {
  const user = (await shell('id -u')).trim();
  const image = '/var/tmp/limactl-mcp-small.img';
  await shellAsRoot(`mkdir ${kSmall}; truncate -s 4M ${image}; mkfs.ext4 -q -m 0 ${image}
mount -o loop ${image} ${kSmall}; chown ${user} ${kSmall}`);
  await session.serve(['--allow-path', `${kSmall}:w`]);
  await session.write(file, 'kept');
  await use(session);
});

fileSystemTest('a full file system keeps the old file', async (session) => {
  const filled = await session.run(['sh', '-c', 'cat /dev/zero >filler'], kSmall);
  assert.match(filled.stderr, /No space left on device/);
  const large = 'x'.repeat(200_000);
  await session.refused('write_file', { path: file, content: large }, 'no space left');
  assert.equal(await session.read(file), 'kept');
  // No temporary file is left.
  assert.equal(await session.output(['sh', '-c', 'ls -A | grep -v lost+found'], kSmall), 'file.txt\nfiller\n');
  await session.run(['rm', 'filler'], kSmall);
  await session.write(file, large);
  assert.equal(await session.read(file), large);
});

fileSystemTest('a read-only file system is read, but not written', async (session) => {
  await shellAsRoot(`mount -o remount,ro ${kSmall}`);
  for (const path of [file, `${file}.new`]) {
    await session.refused('write_file', { path, content: 'lost' }, 'read-only');
  }
  assert.equal(await session.read(file), 'kept');
  await shellAsRoot(`mount -o remount,rw ${kSmall}`);
  await session.write(file, 'new');
  assert.equal(await session.read(file), 'new');
});

/** Unmounts in the guest. What is left at the mount point is an empty directory. */
const unmount = (each) => shellAsRoot(`umount '${mountPoint(each)}'`);

async function expectRefusedUntilMounted(session, each, directory) {
  for (const [tool, args] of callsOfEveryTool(directory)) await session.refused(tool, args, 'not mounted');
  assert.equal(await shellAsRoot(`ls -A '${mountPoint(each)}'`), '');
  await shellAsRoot(`mount '${mountPoint(each)}'`);
  rmSync(join(directory, 'file.txt'));
  await session.expectAllToolsWork(directory, inGuest(each, directory));
}

faultTest('a root that is not mounted is refused', async (session) => {
  for (const each of ['writable', 'mapped']) {
    const directory = session.newDirectory(each);
    writeFileSync(join(directory, 'file.txt'), 'text\n');
    await unmount(each);
    await session.serve();
    await expectRefusedUntilMounted(session, each, directory);
  }
});

faultTest('a root unmounted under a connected server is refused', async (session) => {
  const directory = session.newDirectory('writable');
  const path = join(directory, 'file.txt');
  writeFileSync(path, 'text\n');
  await session.serve();
  assert.equal(await session.read(path), 'text\n');
  await unmount('writable');
  // 9p cannot vanish by itself, so only a write checks it again.
  await session.refused('write_file', { path, content: 'lost' }, 'not mounted');
  await expectRefusedUntilMounted(session, 'writable', directory);
});

faultTest('doctor names a root that is not mounted, and other roots work', async (session) => {
  await unmount('writable');
  const { code, stdout } = await mcp('doctor', name);
  assert.equal(code, 1);
  assert.match(stdout, /FAIL +mounted .*not mounted/);
  const directory = session.newDirectory('mapped');
  await session.serve();
  await session.expectAllToolsWork(directory, inGuest('mapped', directory));
});

/** With a server that is connected. */
const machineTest = (sentence, use) => faultTest(sentence, async (session, context) => {
  const directory = session.newDirectory('writable');
  await session.serve();
  assert.equal((await session.run(['true'], directory)).exit_code, 0);
  await use(session, directory, context);
});

machineTest('the machine is stopped while a server runs, and started by another', async (session, directory) => {
  const first = session.client;
  await stop();
  for (const [tool, args] of callsOfEveryTool(directory)) await session.refused(tool, args, `limactl start ${name}`);
  await session.expectAnswersAtOnce();

  await session.serve(['--start']);
  await session.expectAnswersAtOnce();
  const progress = [];
  session.client.onNotification = ({ method, params }) => {
    if (method === 'notifications/progress') progress.push(params.message);
  };
  const result = await session.call('run_shell_command', { command: ['uname', '-n'], directory },
    { _meta: { progressToken: 'start' } }, kBootTimeout);
  assert.equal(result.structuredContent?.stdout, `lima-${name}\n`, JSON.stringify(result));
  assert.match(progress.join('\n'), /start/);
  assert.equal(await status(), 'Running');
  await session.expectAllToolsWork(directory);

  session.use(first);
  await session.expectAllToolsWork(directory);
});

machineTest('the machine is frozen and thawed', async (session, directory, context) => {
  if (!isQemu()) {
    context.skip('this virtual machine is not a process that a test can stop');
    return;
  }
  const path = join(directory, 'file.txt');
  writeFileSync(path, 'old text\n');
  // Keep-alives give the connection up after a minute, if a tool's own limit is not reached first.
  const timeout = 90_000;
  const ended = await session.begin('exec sleep 8642', directory);
  signalQemu('SIGSTOP');
  const frozen = Date.now();
  const calls = callsOfEveryTool(directory).map(([tool, args]) => session.call(tool, args, {}, timeout));
  await session.expectAnswersAtOnce();
  for (const result of await Promise.all(calls)) assert.ok(result.isError, JSON.stringify(result));
  assert.match(await ended(frozen + timeout - Date.now()), /may have run/);
  await session.expectAnswersAtOnce();
  signalQemu('SIGCONT');
  // A write that was under way may still arrive.
  assert.match(await session.read(path), /^(old|new) text\n$/);
  assert.match(readFileSync(path, 'utf8'), /^(old|new) text\n$/);
  await session.expectAllToolsWork(session.newDirectory('writable'));
});

machineTest('the machine is rebooted from within', async (session, directory) => {
  const ended = await session.begin('exec sleep 8642', directory);
  const bootId = 'cat /proc/sys/kernel/random/boot_id';
  const before = await shell(bootId);
  await tryShell('sudo -n systemctl reboot');
  // The guest may kill the command before the connection is lost.
  assert.match(await ended(), /may have run|exit status /);
  await eventually('the guest has booted', async () => {
    await session.expectAnswersAtOnce();
    const now = await tryShell(bootId);
    return now.code === 0 && now.stdout !== before;
  });
  // sshd may be there before the mounts.
  await eventually('the mounts are there', async () =>
    !(await session.call('list_directory', { path: directory })).isError);
  await session.expectAllToolsWork(directory);
});
