// SPDX-License-Identifier: Apache-2.0
// What is measured: each kind of work, done by a server and by its reference.

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { kLarge, kPart, kSmall, text } from './place.mjs';
import { expect, lines } from './tools.mjs';

/** Between two calls of an agent that thinks, in milliseconds. */
const kPause = 1000;
const kMixedRounds = 8;
const kOutput = 16_000_000;

/** One call of each kind, as an agent makes them, with pauses before each. Returns their sum. */
async function mixedCalls(tools, place, pause) {
  const calls = [
    () => tools.list(place.project, 10),
    () => tools.read(join(place.project, 'small.txt'), kSmall),
    () => tools.read(join(place.project, 'other.txt'), kSmall),
    () => tools.write(join(place.project, 'written.txt'), kSmall),
    () => tools.ls(place.project, 'README.md'),
    () => tools.glob(place.project, '*.txt', 8),
  ];
  let sum = 0;
  for (const call of calls) {
    if (pause) await sleep(pause);
    sum += await call();
  }
  return sum;
}

async function mixedWorkload(tools, place, pause) {
  let sum = 0;
  for (let i = 0; i < kMixedRounds; i++) sum += await mixedCalls(tools, place, pause);
  return sum;
}

/** Called once after a server has started, before anything is measured. */
export const warmUp = (tools, place) => mixedCalls(tools, place, 0);

/** A reference: a command by ssh, whose output is checked. */
const viaSsh = (referenceName, command, check = () => true, input = undefined) => ({
  referenceName,
  async reference(ssh) {
    const { output, time } = await ssh.run(command, input);
    expect(check(output), `of ssh ${command}`, output);
    return time;
  },
});

/** Measured with two servers connected, each calling after the other: see interleave(). */
export const kInterleavedWrite = {
  id: 'write_4k_interleaved', name: "write 4 KiB, interleaved with another server's calls",
};

/**
 * Each server in turn runs a command, then each in turn writes. Returns the milliseconds that each
 * write took, in the order of `servers`.
 */
export async function interleave(servers, place) {
  for (const tools of servers) await tools.true(place.project);
  const written = join(place.project, 'written.txt');
  const times = [];
  for (const tools of servers) times.push(await tools.write(written, kSmall));
  return times;
}

/**
 * A work has the `id` of its goal, and a `name`. `server` takes one sample of a server, and `reference`
 * one of ssh, in milliseconds. `samples` are taken in a row; if there are several, one more comes first
 * and is not counted. All works of a `section` are measured on one server before the next server has
 * its turn. `seldom`: only in every second round.
 */
export function listWorks(place) {
  const [written, small] = ['written.txt', 'small.txt'].map((name) => join(place.project, name));
  const count = (wanted) => (output) => lines(output).length === wanted;
  const size = (wanted) => (output) => output.length === wanted;
  const gitGrep = (directory) => viaSsh('git grep',
    `cd ${directory} && git grep -n -I --no-index -e needle`, count(100));
  const find = (name, directory, depth, pattern, wanted) => viaSsh(name,
    `find ${directory} -mindepth ${depth} -maxdepth ${depth} -name '${pattern}' -printf '%T@ %p\\n'`, count(wanted));
  const loginShell = viaSsh('ssh, login shell', 'bash -lc true');
  const ls = viaSsh('ssh, login shell', `bash -lc 'cd ${place.project}; ls -la'`,
    (output) => output.includes('README.md'));
  const works = [
    { id: 'start', name: 'start until `initialize` is answered', samples: 10, server: (tools) => tools.start() },
    { id: 'start_list', name: 'start until the first list is answered', samples: 3,
      server: (tools) => tools.start((fresh) => fresh.list(place.hundred, 100)),
      referenceName: 'ssh, new connection',
      reference: async (ssh) => (await ssh.runAlone('true')).time },
    { id: 'true', name: '`true`, back to back', samples: 10,
      server: (tools) => tools.true(place.project), ...loginShell },
    { section: 'workload', id: 'mixed', name: '48 mixed calls back to back',
      server: (tools) => mixedWorkload(tools, place, 0) },
    { section: 'workload', id: 'mixed_with_pauses', name: '48 mixed calls, a second between them', seldom: true,
      server: (tools) => mixedWorkload(tools, place, kPause) },

    { id: 'ls_after_write', name: '`ls -la` right after a write', samples: 5,
      server: async (tools) => {
        await tools.write(written, kSmall);
        return tools.ls(place.project, 'README.md');
      },
      ...ls,
      reference: async (ssh) => {
        await ssh.run(`cat > ${written}`, text(kSmall));
        return ls.reference(ssh);
      } },
    { id: 'true_after_pause', name: '`true`, a second after the last call', samples: 5,
      server: async (tools) => { await sleep(kPause); return tools.true(place.project); },
      ...loginShell,
      reference: async (ssh) => { await sleep(kPause); return loginShell.reference(ssh); } },
    { id: 'write_4k', name: 'write 4 KiB over an existing file', samples: 10,
      server: (tools) => tools.write(written, kSmall),
      ...viaSsh('ssh cat', `cat > ${written}`, undefined, text(kSmall)) },
    { id: 'glob_one_directory', name: 'glob `*.txt` in a directory of ten names', samples: 10,
      server: (tools) => tools.glob(place.project, '*.txt', 8),
      ...find('find', place.project, 1, '*.txt', 8) },
    { id: 'list_few', name: 'list eight names', samples: 10,
      server: (tools) => tools.list(place.few, 8), ...viaSsh('ssh ls -la', `ls -la ${place.few}`, count(11)) },
    { id: 'list_100', name: 'list 100 names', samples: 5,
      server: (tools) => tools.list(place.hundred, 100),
      ...viaSsh('ssh ls -la', `ls -la ${place.hundred}`, count(103)) },
    { id: 'read_4k', name: 'read 4 KiB', samples: 10,
      server: (tools) => tools.read(small, kSmall), ...viaSsh('ssh cat', `cat ${small}`, size(kSmall)) },
    { id: 'search_100', name: 'search 100 files, back to back', samples: 5,
      server: (tools) => tools.search(place.repository, 'needle', 100), ...gitGrep(place.repository) },

    { section: 'bulk', id: 'glob_10000', name: 'glob `*/*7.txt` over 10,000 files', seldom: true,
      server: (tools) => tools.glob(place.tree, '*/*7.txt', 1000),
      ...find('find, with times', place.tree, 2, '*7.txt', 1000) },
    { section: 'bulk', id: 'search_10000', name: 'search 10,000 files',
      server: (tools) => tools.search(place.tree, 'needle', 100), ...gitGrep(place.tree) },
    { section: 'bulk', id: 'read_16m', name: 'read 16 MiB, 2 at a time',
      server: async (tools) => {
        let time = 0;
        for (let bytes = 0; bytes < kLarge; bytes += kPart) time += await tools.read(place.part, kPart);
        return time;
      },
      ...viaSsh('ssh cat', `cat${` ${place.part}`.repeat(kLarge / kPart)}`, size(kLarge)) },
    { section: 'bulk', id: 'write_16m', name: 'write 16 MiB',
      server: (tools) => tools.write(place.largeWritten, kLarge),
      ...viaSsh('ssh cat', `cat > ${place.largeWritten}`, undefined, text(kLarge)) },
    { section: 'bulk', id: 'output_16m', name: '16 MB of output (ours keeps 256 KiB, the plugin all)',
      // Ours keeps the beginning and the end.
      server: (tools) => tools.run(['sh', '-c', `yes | head -c ${kOutput}`], place.project,
        (stdout) => expect(stdout.length > 10_000 && stdout.startsWith('y\ny\n'), 'yes', stdout)),
      ...viaSsh('ssh, login shell', `bash -lc 'yes | head -c ${kOutput}'`, size(kOutput)) },
  ];
  return works.map((work) => ({ section: 'calls', samples: 1, ...work }));
}
