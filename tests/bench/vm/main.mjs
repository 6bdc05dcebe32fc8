#!/usr/bin/env node
// Times MCP servers in a running Lima instance, one after the other, beside ssh, find, cat and git
// grep. tests/bench/vm/run starts it as the instance's user.
//
//   main.mjs --mount DIRECTORY --ssh-directory DIRECTORY --json FILE --ours PROGRAM
//            [--plugin PROGRAM] [--also NAME=PROGRAM]... [--rounds N] [--only TEXT]
//
// The mount is writable and has the same path on both sides. Prints the table to standard output.
// Exits with 0 when every goal is reached, 2 when one is missed, 1 when a call of ours or of the
// reference failed, or when nothing could be measured.

import { writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { measure } from './measure.mjs';
import { Place } from './place.mjs';
import { rows, table } from './report.mjs';
import { SharedSsh } from './shared_ssh.mjs';
import { kInterleavedWrite, listWorks } from './works.mjs';

const kInstance = 'default';

function readArguments() {
  const { values } = parseArgs({
    options: {
      mount: { type: 'string' },
      'ssh-directory': { type: 'string' },
      json: { type: 'string' },
      ours: { type: 'string' },
      plugin: { type: 'string' },
      also: { type: 'string', multiple: true, default: [] },
      rounds: { type: 'string', default: '3' },
      only: { type: 'string', default: '' },
    },
  });
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) {
    throw new Error(`--rounds ${values.rounds}: give a whole number above 0`);
  }
  const programs = [['ours', values.ours], ...(values.plugin ? [['plugin', values.plugin]] : [])];
  for (const entry of values.also) {
    const at = entry.indexOf('=');
    programs.push([entry.slice(0, at), entry.slice(at + 1)]);
  }
  const servers = programs.map(([name, program]) => ({ name, command: [program, 'serve', kInstance] }));
  return { ...values, rounds, servers };
}

async function main() {
  const { mount, json, rounds, servers, only, ...options } = readArguments();
  const names = servers.map(({ name }) => name);
  const begin = performance.now();
  const progress = (line) => {
    const seconds = Math.round((performance.now() - begin) / 1000);
    process.stderr.write(`[${String(seconds).padStart(4)}s] ${line}\n`);
  };

  const load = loadavg()[0];
  const place = new Place(mount);
  let ssh;
  process.on('exit', () => {
    ssh?.close();
    place.remove();
  });
  for (const [signal, code] of [['SIGINT', 130], ['SIGTERM', 143], ['SIGHUP', 129]]) {
    process.on(signal, () => process.exit(code));
  }
  ssh = new SharedSsh(join(process.env.LIMA_HOME, kInstance, 'ssh.config'), `lima-${kInstance}`,
    join(options['ssh-directory'], 'ssh.sock'));

  const chosen = (work) => work.name.includes(only);
  const works = listWorks(place).filter(chosen);
  const interleaved = names.includes('plugin') && chosen(kInterleavedWrite);
  const samples = await measure({ works, servers, ssh, place, rounds, interleaved, progress });
  if (interleaved) {
    works.splice(works.findIndex(({ id }) => id === 'write_4k') + 1, 0, kInterleavedWrite);
  }

  const allRows = rows(works, names, samples);
  const seconds = Math.round((performance.now() - begin) / 1000);
  const notes = { rounds, seconds, load_before: load, load_after: loadavg()[0] };
  writeFileSync(json, `${JSON.stringify({ ...notes, rows: allRows }, null, 2)}\n`);
  progress(`done; load ${load.toFixed(1)} before, ${notes.load_after.toFixed(1)} after`);
  console.log(table(allRows, names));
  if (allRows.some(({ times }) => times.ours?.failure || times.reference?.failure)) return 1;
  return allRows.some(({ met }) => met === false) ? 2 : 0;
}

// The servers and ssh that still run end with this program: their standard input is closed.
main().then((code) => process.exit(code), (error) => {
  console.error(`bench: ${error.stack ?? error}`);
  process.exit(1);
});
