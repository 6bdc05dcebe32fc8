// SPDX-License-Identifier: Apache-2.0
// Takes the samples: one server at a time, in turn with the others and with the reference, so that drift
// of the machine affects all of them alike.

import { setTimeout as sleep } from 'node:timers/promises';

import { Client } from '../clients/client.mjs';
import { progress } from './report.mjs';
import { Tools } from './tools.mjs';
import { interleave, kInterleavedWrite, warmUp } from './works.mjs';

/** For what a server that has exited leaves running in the guest, in milliseconds. */
const kRest = 1000;
const kInterleavedWrites = 8;

/** What was measured, by the work's id and then by the name of a server, or `reference`. */
export class Samples {
  #times = {};
  #failures = {};
  add(id, name, time) { ((this.#times[id] ??= {})[name] ??= []).push(time); }
  fail(id, name, message) { (this.#failures[id] ??= {})[name] ??= message; }
  /** Milliseconds; none if a call has failed. */
  of(id, name) { return this.failure(id, name) ? [] : this.#times[id]?.[name] ?? []; }
  /** The first error, if any. */
  failure(id, name) { return this.#failures[id]?.[name]; }
}

async function connected(server, place, use) {
  const client = await new Client(server.command).start();
  try {
    const tools = new Tools(client, server.command);
    await warmUp(tools, place);
    await use(tools);
  } finally {
    await client.close();
  }
  await sleep(kRest);
}

/** A work that fails does not keep the others from being measured. */
async function sampleWorks(works, take, name, samples) {
  for (const work of works) {
    try {
      if (work.samples > 1) await take(work);
      for (let i = 0; i < work.samples; i++) samples.add(work.id, name, await take(work));
    } catch (error) {
      samples.fail(work.id, name, error.message);
      progress(`FAILED: ${name}, ${work.name}: ${error.message}`);
    }
  }
}

const rotated = (list, by) => list.map((_, i) => list[(i + by) % list.length]);

/**
 * Measures `works` on each of `servers` ({name, command}) and by `ssh`, in `rounds`. With a server
 * called "plugin" and if `interleaved`, also the writes between the plugin's calls. Throws if a server
 * cannot be started.
 */
export async function measure({ works, servers, ssh, place, rounds, interleaved }) {
  const samples = new Samples();
  const sections = [...new Set(works.map((work) => work.section))];
  const plugin = servers.find(({ name }) => name === 'plugin');
  for (let round = 0; round < rounds; round++) {
    const begin = (name, section) => progress(`round ${round + 1} of ${rounds}: ${section}, ${name}`);
    const due = works.filter((work) => !work.seldom || round % 2 === 0);
    for (const section of sections) {
      const block = due.filter((work) => work.section === section);
      for (const server of rotated([...servers, null], round)) {
        const name = server?.name ?? 'reference';
        const mine = server ? block : block.filter((work) => work.reference);
        if (!mine.length) continue;
        begin(name, section);
        const sample = (take) => sampleWorks(mine, take, name, samples);
        if (server) {
          await connected(server, place, (tools) => sample((work) => work.server(tools)));
        } else {
          await sample((work) => work.reference(ssh));
        }
      }
    }
    if (!plugin || !interleaved) continue;
    for (const server of servers.filter((each) => each !== plugin)) {
      begin(server.name, 'interleaved with the plugin');
      const { id } = kInterleavedWrite;
      await connected(server, place, (tools) => connected(plugin, place, async (pluginTools) => {
        for (let i = 0; i < kInterleavedWrites; i++) {
          const [time, pluginTime] = await interleave([tools, pluginTools], place);
          samples.add(id, server.name, time);
          if (server.name === 'ours') samples.add(id, plugin.name, pluginTime);
        }
      }));
    }
  }
  return samples;
}
