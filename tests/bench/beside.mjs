#!/usr/bin/env node
// Times MCP servers beside each other: the same calls, in turn, round for round, so that the ratios
// hold whatever else the machine is doing.
//
//   node tests/bench/beside.mjs DIRECTORY ROUNDS NAME=COMMAND...
//
// DIRECTORY is an empty one in a writable mount, under the same path on both sides. COMMAND is split
// at blanks, such as "ours=limactl mcp serve default"; servers get this environment. Prints the
// medians in milliseconds, with the lowest and the highest, and the memory of each server's processes
// after its last round (Linux). To compare with Lima's own plugin, build that (go build
// ./cmd/limactl-mcp in Lima's sources) and name it by its path; `./dev bench --vm --beside` does so in
// the test VM.

import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';

import { Client } from './mcp_client.mjs';

const [directory, rounds, ...servers] = process.argv.slice(2);
if (!servers.length || !(rounds > 0)) {
  console.error('usage: beside.mjs DIRECTORY ROUNDS NAME=COMMAND...');
  process.exit(1);
}

const kLarge = 16 * 1024 * 1024;
const line = 'int function_number(const char* name) { return name[0] == "x"[0]; }\n';
const large = line.repeat(Math.ceil(kLarge / line.length)).slice(0, kLarge);

/** Megabytes that the processes have for themselves, those they started included. */
function memory(pid) {
  const children = readdirSync(`/proc/${pid}/task`)
    .flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' '))
    .filter(Boolean);
  const own = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))[1] / 1024;
  return children.reduce((sum, child) => sum + memory(child), own);
}

function prepare() {
  mkdirSync(join(directory, 'hundred'));
  for (let i = 0; i < 100; i++) writeFileSync(join(directory, 'hundred', `file${i}.txt`), line);
  for (let d = 0; d < 100; d++) {
    mkdirSync(join(directory, 'tree', `d${d}`), { recursive: true });
    for (let f = 0; f < 100; f++) writeFileSync(join(directory, 'tree', `d${d}`, `f${f}.txt`), line);
  }
  writeFileSync(join(directory, 'small.txt'), large.slice(0, 4096));
  writeFileSync(join(directory, 'large.txt'), large);
  appendFileSync(join(directory, 'out.txt'), '');
}

const path = (name) => join(directory, name);
const works = {
  'start, initialize answered': null,
  'start, first list_directory answered': null,
  'run_shell_command true': (c) => c.call('run_shell_command', { command: ['true'], directory }),
  'read_file 4 KiB': (c) => c.call('read_file', { path: path('small.txt') }),
  'write_file 4 KiB':
    (c) => c.call('write_file', { path: path('out.txt'), content: large.slice(0, 4096) }),
  'list_directory, 100 entries': (c) => c.call('list_directory', { path: path('hundred') }),
  'glob */*7.txt, 10,000 files': (c) => c.call('glob', { path: path('tree'), pattern: '*/*7.txt' }),
  'read_file 16 MiB': (c) => c.call('read_file', { path: path('large.txt') }),
  'write_file 16 MiB': (c) => c.call('write_file', { path: path('out.txt'), content: large }),
};

async function sample(server, work) {
  const begin = performance.now();
  if (works[work]) {
    await works[work](server.client);
    return performance.now() - begin;
  }
  const fresh = await new Client(server.command).start();
  if (work.includes('list')) await fresh.call('list_directory', { path: path('hundred') });
  const time = performance.now() - begin;
  await fresh.close();
  return time;
}

prepare();
const measured = [];
for (const entry of servers) {
  const at = entry.indexOf('=');
  const command = entry.slice(at + 1).split(' ');
  const client = await new Client(command).start();
  measured.push({ name: entry.slice(0, at), command, client, times: {} });
}
for (let round = 0; round <= rounds; round++) {
  // Each goes first as often as the others; the first round only warms up.
  for (const work of Object.keys(works)) {
    for (let i = 0; i < measured.length; i++) {
      const server = measured[(round + i) % measured.length];
      const time = await sample(server, work);
      if (round > 0) (server.times[work] ??= []).push(time);
    }
  }
}
const shown = (times) => {
  times.sort((a, b) => a - b);
  const [low, middle, high] = [0, times.length >> 1, times.length - 1].map((i) => times[i].toFixed(1));
  return `${middle} (${low} to ${high})`;
};
console.log(`| ${['work', ...measured.map((s) => s.name)].join(' | ')} |`);
console.log(`|${'---|'.repeat(measured.length + 1)}`);
for (const work of Object.keys(works)) {
  console.log(`| ${[work, ...measured.map((s) => shown(s.times[work]))].join(' | ')} |`);
}
if (process.platform === 'linux') {
  console.log(`| ${['memory, MB', ...measured.map((s) => memory(s.client.child.pid).toFixed(0))].join(' | ')} |`);
}
for (const server of measured) await server.client.close();
