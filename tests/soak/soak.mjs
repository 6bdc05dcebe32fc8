#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Several clients with a server each make calls of all kinds, a million in all, while faults are injected
// into the guest. Every response is checked. Memory, descriptors, threads and guest processes must not grow.
// Exits with 0 if all that holds, 2 if something grows, 1 if a response is wrong. Needs Linux's /proc.
//
//   LIMACTL_MCP=PROGRAM LOOPBACK_INSTANCE=PROGRAM soak.mjs [--calls N] [--faults N] [--json FILE]
//     [--chart FILE]

import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';

import { median } from '../bench/report.mjs';
import { exitWith, serverProgram, startInstance } from '../clients/instance.mjs';
import { chart } from './chart.mjs';
import { MixedClient } from './mixed_client.mjs';

const kClients = 4;
const kSamples = 400;
/** A sample costs as much as several calls. */
const kFewestBetweenSamples = 250;
const kPatience = 60_000;
/** With fewer calls, usage is still rising to its steady level. */
const kFewestToCompare = 100_000;

/** Figures that must not grow: how far the last quarter may be above the second one. */
const kBounds = [
  ['mebibytes', 'resident memory, MiB', 4],
  ['descriptors', 'descriptors', 3],
  // A server keeps the threads of its busiest moment: cancelled calls that wait for a guest under a fault,
  // and those that have come since.
  ['threads', 'threads', 8],
  ['guest_processes', 'processes in the guest', 12],
];

const { values: options } = parseArgs({ options: {
  calls: { type: 'string', default: '1000000' }, faults: { type: 'string', default: '60' },
  json: { type: 'string' }, chart: { type: 'string' },
} });
const [calls, faults] = [Number(options.calls), Number(options.faults)];

/** sshd, and the processes of the guest: sshd's descendants, and those with the guest's home. */
async function guestProcesses(instance) {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-ww', '-o', 'pid=,ppid=,stat=,command=', 'e'],
    { maxBuffer: 2 ** 28 });
  const all = stdout.split('\n').map((line) => /^ *(\d+) +(\d+) +([^Z]\S*) +(.*)/.exec(line))
    .filter(Boolean).map(([, pid, parent, , command]) => ({ pid: Number(pid), parent: Number(parent), command }));
  const sshd = all.find(({ parent }) => parent === instance.pid)?.pid;
  const family = new Set([sshd]);
  for (let size = 0; size !== family.size;) {
    size = family.size;
    for (const { pid, parent } of all) if (family.has(parent)) family.add(pid);
  }
  const home = `HOME=${join(instance.limaHome, 'default', 'guest-home')}`;
  return { sshd, processes: all.filter(({ pid, command }) =>
    pid !== sshd && (family.has(pid) || command.includes(home))) };
}

function kill(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;  // it has exited
  }
}

/** The sshd processes that serve a session, oldest first: those without another below them. */
async function sessions(instance) {
  const { processes } = await guestProcesses(instance);
  const all = processes.filter(({ command }) => /^\S*sshd/.test(command));
  return all.filter(({ pid }) => !all.some(({ parent }) => parent === pid)).map(({ pid }) => pid);
}

/** The guest works again when it returns. */
async function injectFault(instance, number) {
  if (number % 4 < 2) {
    const all = await sessions(instance);
    for (const pid of number % 4 === 0 ? all.slice(0, 1) : all) kill(pid, 'SIGKILL');
  } else if (number % 4 === 2) {
    const { sshd } = await guestProcesses(instance);
    const frozen = new Set([sshd]);
    kill(sshd, 'SIGSTOP');
    for (let size = 0; size !== frozen.size;) {  // until there are no new ones
      size = frozen.size;
      for (const { pid } of (await guestProcesses(instance)).processes) {
        kill(pid, 'SIGSTOP');
        frozen.add(pid);
      }
    }
    await sleep(1000);  // the length of the fault
    for (const pid of [...frozen].reverse()) kill(pid, 'SIGCONT');
  } else {
    await instance.restart();
  }
}

/** What is in use; the figures of the servers are those of the largest one. */
async function takeSample(instance, clients, done) {
  const servers = clients.map(({ pid }) => {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const number = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
    return { mebibytes: number('VmRSS') / 1024, threads: number('Threads'),
      descriptors: readdirSync(`/proc/${pid}/fd`).length };
  });
  const most = (key) => Math.max(...servers.map((server) => server[key]));
  return { calls: done, mebibytes: most('mebibytes'), descriptors: most('descriptors'),
    threads: most('threads'), guest_processes: (await guestProcesses(instance)).processes.length };
}

/** Takes samples and injects faults at regular numbers of calls until the clients are done. */
async function watch(instance, clients, isOver) {
  const samples = [];
  const faultsAt = [];
  const betweenSamples = Math.max(Math.floor(calls / kSamples), kFewestBetweenSamples);
  const betweenFaults = Math.floor(calls / (faults + 1));
  for (; !isOver(); await sleep(5)) {
    const done = clients.reduce((sum, client) => sum + client.done, 0);
    if (done >= betweenSamples * samples.length) {
      samples.push(await takeSample(instance, clients, done));
      process.stderr.write(`\r${done} of ${calls} calls, ${faultsAt.length} faults`);
    }
    if (faultsAt.length < faults && done >= betweenFaults * (faultsAt.length + 1)) {
      await injectFault(instance, faultsAt.length);
      faultsAt.push(done);
    }
  }
  process.stderr.write('\n');
  return { samples, faults_at: faultsAt };
}

/** What must hold after all calls: no write is lost, and nothing runs in the guest. */
async function requireQuiet(instance, clients) {
  for (const client of clients) client.requireNothingLost();
  for (const { pid } of clients) kill(pid, 'SIGKILL');
  for (const end = Date.now() + kPatience; ; await sleep(100)) {
    const [left] = (await guestProcesses(instance)).processes;
    if (!left) return;
    if (Date.now() > end) throw new Error(`still running in the guest: ${left.command.slice(0, 300)}`);
  }
}

function isFlat(samples) {
  const medianOf = (key, from, to) => median(
    samples.slice(from * samples.length, to * samples.length).map((sample) => sample[key])) || 0;
  return kBounds.map(([key, name, slack]) => {
    const [before, after] = [medianOf(key, 0.25, 0.5), medianOf(key, 0.75, 1)];
    const grows = after > before + slack;
    console.log(`${name}: ${before} in the second quarter, ${after} in the last${grows ? '  GROWS' : ''}`);
    return !grows;
  }).every(Boolean);
}

async function main() {
  const instance = await startInstance();
  process.env.LIMA_HOME = instance.limaHome;
  const clients = [];
  for (let i = 0; i < kClients; ++i) {
    const directory = join(instance.project, `client${i}`);
    mkdirSync(directory);
    clients.push(await new MixedClient([serverProgram, 'serve', 'default'], directory, i + 1).start());
  }
  let isOver = false;
  const work = Promise.all(clients.map((client) => client.run(calls / kClients))).finally(() => { isOver = true; });
  const [figures] = await Promise.all([watch(instance, clients, () => isOver), work]);
  await requireQuiet(instance, clients);
  const sum = (key) => clients.reduce((all, { tally }) => all + tally[key], 0);
  console.log(`${clients.reduce((all, { done }) => all + done, 0)} calls: ${sum('good')} good, ` +
    `${sum('refused')} refused as expected, ${sum('broken')} reported a lost connection, ` +
    `${sum('cancelled')} cancelled; ${figures.faults_at.length} faults`);
  if (options.json) writeFileSync(options.json, `${JSON.stringify(figures, null, 1)}\n`);
  if (options.chart) writeFileSync(options.chart, chart(figures));
  const flat = isFlat(figures.samples);
  await instance.stop();
  return flat || calls < kFewestToCompare ? 0 : 2;
}

exitWith('soak', main);
