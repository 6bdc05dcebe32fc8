// SPDX-License-Identifier: Apache-2.0
// What a server takes beside time: memory, threads, many clients at once. Needs Linux's /proc.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { Client } from '../clients/client.mjs';
import { kLarge, text } from './place.mjs';

/** MiB and threads of a process and all its descendants. */
export function usageOf(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const number = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)[1]);
  const usage = { peak: number('VmHWM') / 1024, resident: number('VmRSS') / 1024, threads: number('Threads') };
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  for (const child of children) {
    const more = usageOf(child);
    for (const key of Object.keys(usage)) usage[key] += more[key];
  }
  return usage;
}

const timed = async (work) => {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
};

/** Milliseconds that `count` servers at once take for 100 reads each, one after the other. */
async function manyServers(command, count, read) {
  const clients = await Promise.all([...Array(count)].map(() => new Client(command).start()));
  const time = await timed(() => Promise.all(clients.map(async (client) => {
    for (let i = 0; i < 100; i++) await read(client);
  })));
  await Promise.all(clients.map((client) => client.close()));
  return time;
}

/** Rows of { what, value, unit, goal } for the server that `command` starts. */
export async function limits(command, place) {
  const file = (name) => ({ path: join(place.project, name) });
  const read = (client) => client.call('read_file', file('small.txt'));
  const client = await new Client(command).start();
  await client.call('read_file', { path: place.part });
  await client.call('write_file', { path: place.largeWritten, content: text(kLarge) });
  const { peak, resident } = usageOf(client.pid);
  const one = await timed(() => read(client));
  const thousand = await timed(() => Promise.all([...Array(1000)].map(() => read(client))));
  const { threads } = usageOf(client.pid);
  await client.close();
  const alone = await manyServers(command, 1, read);
  return [
    { what: 'peak memory, after reading 2 and writing 16 MiB', value: peak, unit: 'MiB', goal: 96 },
    { what: 'memory after that', value: resident, unit: 'MiB', goal: 16 },
    { what: '1,000 reads at once', value: thousand, unit: 'ms', goal: 1000 * one },
    { what: 'threads after that', value: threads, unit: '', goal: 32 },
    { what: '100 reads each by 10 servers', value: await manyServers(command, 10, read), unit: 'ms', goal: 10 * alone },
  ];
}
