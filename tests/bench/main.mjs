#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Times MCP servers in a Lima instance, one after the other, beside ssh, find, cat and git grep.
//
//   main.mjs --ours PROGRAM [--plugin PROGRAM] [--also NAME=PROGRAM]... [--instance NAME]
//            [--mount DIRECTORY] [--goals local|vm] [--rounds N] [--only TEXT] [--json FILE] [--chart FILE]
//            [--growth]
//
// Without --instance it makes a throwaway one with the program LOOPBACK_INSTANCE. The mount must be writable
// and have the same path on both sides; the default is the instance's first writable one. --growth shows how
// time and memory grow with the work instead. Prints tables to standard output. Exits with 0 if every goal
// is reached, 2 if one is missed, 1 if a call of ours or of the reference failed, or if nothing could be
// measured.

import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { Client } from '../clients/client.mjs';
import { atExit, exitWith, startInstance } from '../clients/instance.mjs';
import { kGoals } from './goals.mjs';
import { growth } from './growth.mjs';
import { measure } from './measure.mjs';
import { Place } from './place.mjs';
import { chart, limitTable, progress, rows, secondsSoFar, table } from './report.mjs';
import { SharedSsh } from './shared_ssh.mjs';
import { limits } from './usage.mjs';
import { kInterleavedWrite, listWorks } from './works.mjs';

function readArguments() {
  const text = (value) => ({ type: 'string', default: value });
  const { values } = parseArgs({
    options: {
      ours: text(), plugin: text(), also: { type: 'string', multiple: true, default: [] },
      instance: text(), mount: text(), goals: text('local'),
      rounds: text(), only: text(''), json: text(), chart: text(), growth: { type: 'boolean' },
    },
  });
  const rounds = Number(values.rounds ?? (values.goals === 'vm' ? 3 : 5));
  if (!Number.isInteger(rounds) || rounds < 1) {
    throw new Error(`--rounds ${values.rounds}: give a whole number above 0`);
  }
  const programs = [['ours', values.ours], ...(values.plugin ? [['plugin', values.plugin]] : [])];
  for (const entry of values.also) {
    const at = entry.indexOf('=');
    programs.push([entry.slice(0, at), entry.slice(at + 1)]);
  }
  const instance = values.instance ?? 'default';
  const servers = programs.map(([name, program]) => ({ name, command: [program, 'serve', instance] }));
  return { ...values, instance, loopback: !values.instance, rounds, servers, goals: kGoals[values.goals] };
}

/** The first directory that the server's instructions call writable. */
async function writableMount(command) {
  const client = await new Client(command).start();
  await client.close();
  return client.writableRoot;
}

async function main() {
  const { servers, rounds, only, instance, goals, ...options } = readArguments();
  const names = servers.map(({ name }) => name);
  const load = loadavg()[0];
  const temporary = realpathSync(mkdtempSync(join(tmpdir(), 'bench-')));
  atExit(() => rmSync(temporary, { recursive: true, force: true }));
  if (options.loopback) {
    const { limaHome: home, project } = await startInstance();
    process.env.LIMA_HOME = home;
    options.mount = project;
  }
  const place = new Place(options.mount ?? await writableMount(servers[0].command));
  atExit(() => place.remove());
  if (options.growth) return await growth(servers[0].command, place.root) ? 0 : 2;

  const limaHome = process.env.LIMA_HOME ?? join(homedir(), '.lima');
  const ssh = new SharedSsh(join(limaHome, instance, 'ssh.config'),
    `lima-${instance.replace(/[._]/g, '-')}`, join(temporary, 'ssh.sock'));
  atExit(() => ssh.close());

  const chosen = ({ id, name }) => goals[id] && name.includes(only);
  const works = listWorks(place).filter(chosen);
  const interleaved = names.includes('plugin') && chosen(kInterleavedWrite);
  const samples = await measure({ works, servers, ssh, place, rounds, interleaved });
  if (interleaved) {
    works.splice(works.findIndex(({ id }) => id === 'write_4k') + 1, 0, kInterleavedWrite);
  }
  const otherLimits = options.loopback && !only && process.platform === 'linux'
    ? await limits(servers[0].command, place) : [];

  const allRows = rows(works, goals, names, samples);
  const notes =
    { rounds, seconds: secondsSoFar(), load_before: load, load_after: loadavg()[0] };
  if (options.json) {
    const result = { ...notes, rows: allRows, limits: otherLimits };
    writeFileSync(options.json, `${JSON.stringify(result, null, 2)}\n`);
  }
  if (options.chart) writeFileSync(options.chart, chart(allRows));
  progress(`done; load ${load.toFixed(1)} before, ${notes.load_after.toFixed(1)} after`);
  console.log(table(allRows, names));
  if (otherLimits.length) console.log(`\n${limitTable(otherLimits)}`);
  if (allRows.some(({ times }) => times.ours?.failure || times.reference?.failure)) return 1;
  const missed = allRows.some(({ met }) => met === false) ||
    otherLimits.some(({ value, goal }) => value > goal);
  return missed ? 2 : 0;
}

// Servers and ssh that still run exit with this program: it closes their standard input.
exitWith('bench', main);
