// SPDX-License-Identifier: Apache-2.0
// Every tool in a real virtual machine that works. What needs no real mounts is tested in tests/suites.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';

import { knownHosts } from './host_key.mjs';
import { inGuest, limactl, mcp, mount, mountPoint, name, tryLimactl, tryShell, vmTest } from './machine.mjs';

vmTest('all tools work on each writable mount', async (session) => {
  await session.serve();
  for (const each of ['writable', 'mapped']) {
    const directory = session.newDirectory(each);
    assert.equal(await session.output(['uname', '-n'], directory), `lima-${name}\n`);
    await session.expectAllToolsWork(directory, inGuest(each, directory));
  }
});

vmTest('doctor warns of the read-only mount and of forwarded ports only', async () => {
  const { code, stdout } = await mcp('doctor', '--json', name);
  assert.equal(code, 0, stdout);
  for (const check of JSON.parse(stdout).checks) {
    // The instance forwards ports, as Lima's default does.
    const warns = check.name === 'mounts' || check.name === 'exposure';
    assert.equal(check.result, warns ? 'warning' : 'passed', JSON.stringify(check));
    if (check.name === 'mounts') assert.ok(check.text.endsWith(`: ${mount('read-only')}`), check.text);
  }
  assert.deepEqual(readdirSync(mount('writable')).filter((each) => each.startsWith('.limactl-mcp-')), []);
});

vmTest('a guest with another host key than the recorded one is refused', async (session) => {
  const recorded = readFileSync(knownHosts(name), 'utf8');
  const directory = session.newDirectory('writable');
  const other = ['ssh-ed25519', 'AAAAC3NzaC1lZDI1NTE5AAAAI', 'A'.repeat(43)];
  writeFileSync(knownHosts(name), `${recorded.split(' ')[0]} ${other[0]} ${other[1]}${other[2]}\n`);
  try {
    await session.serve();
    await session.refused('list_directory', { path: directory }, 'is not the guest that Lima started');
    const { code, stdout } = await mcp('doctor', name);
    assert.equal(code, 1, stdout);
    assert.match(stdout, /SHA256:/);
  } finally {
    writeFileSync(knownHosts(name), recorded);
  }
  await session.expectAllToolsWork(directory);
});

vmTest('what the host changed is read', async (session) => {
  await session.serve();
  const path = join(session.newDirectory('writable'), 'file.txt');
  for (const text of ['before', 'after!', 'after, and longer', '', 'shorter']) {
    writeFileSync(path, text);
    assert.equal(await session.read(path), text);
  }
});

vmTest('what the host changed on a read-only mount is read as commands see it', async (session) => {
  await session.serve();
  const directory = session.newDirectory('read-only');
  for (const text of ['before', 'after!']) {
    writeFileSync(join(directory, 'file.txt'), text);
    const seen = await session.output(['cat', 'file.txt'], directory);
    assert.equal(await session.read(join(directory, 'file.txt')), seen);
  }
});

vmTest('instructions name roots with a cache that is never refreshed', async (session, context) => {
  const cached = await tryShell(`grep ' ${mountPoint('read-only')} 9p ' /proc/mounts | grep -q fscache`);
  if (cached.code !== 0) {
    context.skip("this guest's read-only mounts have no such cache");
    return;
  }
  await session.serve();
  assert.match(session.client.instructions, new RegExp(`${mount('read-only')} .*may show old contents`));
});

vmTest('a read-only mount is read, but not written', async (session) => {
  await session.serve();
  const directory = session.newDirectory('read-only');
  const path = join(directory, 'file.txt');
  const absent = join(directory, 'new.txt');
  writeFileSync(path, 'kept');
  assert.equal(await session.read(path), 'kept');
  for (const each of [path, absent]) {
    await session.refused('write_file', { path: each, content: 'lost' }, 'read-only');
  }
  assert.equal(readFileSync(path, 'utf8'), 'kept');
  assert.ok(!existsSync(absent));
});

vmTest('a mount point that differs from the location is translated', async (session) => {
  await session.serve();
  const directory = session.newDirectory('mapped');
  const guests = inGuest('mapped', directory);
  const path = join(guests, 'file.txt');
  await session.write(join(directory, 'file.txt'), 'same file');
  assert.equal(await session.output(['cat', path], directory), 'same file');
  assert.equal(await session.read(path), 'same file');
  assert.deepEqual((await session.result('glob', { pattern: '*.txt', path: guests })).matches,
    [join(directory, 'file.txt')]);
});

// copy.test.mjs has an instance without mounts.
vmTest('an instance from agent-sandbox has the project and nothing else of this machine', async (session) => {
  const instance = 'mounted';
  const project = session.newDirectory('writable');
  const remove = () => tryLimactl('delete', '--force', instance);
  await remove();
  try {
    // Small, because the other instance runs too. All else is the template's. limactl also copies the image.
    await limactl('start', '--timeout=20m', '--memory=2', '--disk=6', `--name=${instance}`,
      `--mount-only=${project}:w`, process.env.LIMACTL_MCP_VM_TEMPLATE);
    const { code, stdout } = await mcp('doctor', instance);
    assert.equal(code, 0, stdout);
    assert.match(stdout, /ok +mounted /);

    await session.serve([], instance);
    const path = join(project, 'file.txt');
    await session.write(path, 'by the agent');
    assert.equal(readFileSync(path, 'utf8'), 'by the agent');
    writeFileSync(path, 'by the user');
    assert.equal(await session.output(['cat', 'file.txt'], project), 'by the user');
    assert.ok(session.client.instructions.includes(`- ${project} (writable)\n`));
    assert.equal(await session.output(['findmnt', '-rno', 'TARGET', '-t', '9p,virtiofs,fuse.sshfs'], project),
      `${project}\n`);

    await session.run(['sh', '-c', `nohup python3 -m http.server --bind 127.0.0.1 28791 >/dev/null 2>&1 &
until python3 -c 'import socket; socket.create_connection(("127.0.0.1", 28791))'; do sleep 1; done`], project);
    assert.match(readFileSync(join(process.env.LIMA_HOME, instance, 'ha.stderr.log'), 'utf8'),
      /TCP \(except for SSH\) and UDP port forwarding is disabled/);
    await assert.rejects(new Promise((resolve, reject) => {
      connect(28791, '127.0.0.1', resolve).on('error', reject);
    }), /ECONNREFUSED/);
  } finally {
    await remove();
  }
});
