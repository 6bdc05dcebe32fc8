#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Times work in a copy of a project beside the same work on a mount, and what it costs to send the project
// and to take the work back.
//
//   copy.mjs --ours PROGRAM --repository BUNDLE --mount DIRECTORY [--instance NAME] [--sync NAME]
//            [--rounds N] [--json FILE]
//
// The project is the branch HEAD of BUNDLE with a dirty working tree, once below the mount and once below
// $HOME, which no mount of the instance may contain. --sync: also `limactl shell --sync`, in an instance
// that mounts nothing; this host needs rsync. Prints tables to standard output. Exits with 0 if every goal
// is reached, 2 if one is missed, 1 if something failed.

import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, loadavg } from 'node:os';
import { delimiter, join } from 'node:path';
import { parseArgs } from 'node:util';

import { Client, execute } from '../clients/client.mjs';
import { atExit, exitWith } from '../clients/instance.mjs';
import { median, numberTable, progress } from './report.mjs';
import { expect } from './tools.mjs';

const kChanged = 20;  // files with uncommitted changes, and as many untracked ones
const kModules = 100;

/** In milliseconds. */
const kGoals = { first: 15_000, again: 4000, take: 4000, start: 3000 };
const kTimesFaster = 5;

const text = (value) => ({ type: 'string', default: value });
const { values: options } = parseArgs({ options: {
  ours: text(), repository: text(), mount: text(), instance: text('default'), sync: text(),
  rounds: text('3'), json: text(),
} });

function makeDirectory(parent) {
  const directory = mkdtempSync(join(parent, 'bench-'));
  atExit(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

const git = (project, ...words) =>
  execFileSync('git', ['-C', project, ...words], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });

/** Changes `count` files of the project and adds as many. */
function makeDirty(project, count, mark) {
  const names = git(project, 'ls-files', '-z', '*.cc').split('\0').slice(0, count);
  for (const [i, name] of names.entries()) {
    appendFileSync(join(project, name), `// ${mark}\n`);
    writeFileSync(join(project, `${mark}${i}.txt`), `${mark}\n`);
  }
}

function makeProject(parent) {
  const project = join(makeDirectory(parent), 'project');
  mkdirSync(project);
  git(project, 'init', '-q', '-b', 'main');
  git(project, 'fetch', '-q', options.repository, 'HEAD');
  git(project, 'reset', '-q', '--hard', 'FETCH_HEAD');
  makeDirty(project, kChanged, 'uncommitted');
  mkdirSync(join(project, 'modules'));
  for (let i = 0; i < kModules; i++) {
    const functions = Array.from({ length: 20 }, (_, f) => `def f${f}(x):\n    return [x + ${f}]\n`);
    writeFileSync(join(project, 'modules', `m${i}.py`), functions.join('\n'));
  }
  return project;
}

const samples = {};  // milliseconds, by what was measured
const add = (what, time) => (samples[what] ??= []).push(time);

/** Runs a program in `directory`; returns the milliseconds it took. */
async function time(program, words, directory, environment = {}) {
  const begin = performance.now();
  const { code, stdout, stderr } = await execute(program, words, directory, { ...process.env, ...environment });
  const took = performance.now() - begin;
  if (code === 0) return took;
  throw new Error(`${program} ${words.join(' ')}: exit code ${code}\n${(stdout + stderr).slice(-2000)}`);
}

// The same work in the copy and on the mount, by run_shell_command.

const kWorks = [
  { id: 'status', name: '`git status`', goal: kTimesFaster, script: 'git status --short | wc -l' },
  { id: 'grep', name: '`git grep`', goal: kTimesFaster, script: 'git grep -c std::string | wc -l' },
  {
    id: 'files', name: '300 small files written, read and removed', goal: kTimesFaster,
    script: `mkdir small && cd small && for i in $(seq 300); do echo $i >$i; done
cat * | wc -l; cd .. && rm -r small`,
  },
  {
    id: 'build', name: `a build: ${kModules} Python modules compiled`, goal: kTimesFaster,
    script: 'python3 -m compileall -qf modules && ls modules/__pycache__ | wc -l',
  },
];

async function measureWorks(places, rounds) {
  const clients = {};
  for (const [where, { server }] of Object.entries(places)) {
    clients[where] = await new Client([options.ours, ...server]).start();
  }
  for (let round = 0; round <= rounds; round++) {
    for (const { id, script } of kWorks) {
      const order = Object.keys(places);
      if (round % 2) order.reverse();
      const counts = {};
      for (const where of order) {
        const { result, time: took } = await clients[where].timedCall('run_shell_command',
          { command: ['sh', '-ec', script], directory: places[where].project });
        counts[where] = result.structuredContent.stdout;
        expect(result.structuredContent.exit_code === 0, 'exit code 0', result);
        if (round > 0) add(`${id} ${where}`, took);  // the first fills caches
      }
      expect(counts.copy === counts.mount && Number(counts.copy) > 0, 'the same in both', counts);
    }
  }
  for (const client of Object.values(clients)) await client.close();
}

// Sending and taking.

/** Changes files in the guest as an agent does, and commits half of them. */
const kAgentsWork = `for name in $(git ls-files '*.cc' | head -n ${kChanged})
do echo '// by the agent' >>$name; done
git -c user.name=agent -c user.email=agent@example.org commit -qam work
for i in $(seq ${kChanged}); do date >agent$i.txt; done`;

async function measureCopy(project, rounds) {
  const mcp = (...words) => time(options.ours, [words[0], options.instance, ...words.slice(1)], project);
  for (let round = 0; round < rounds; round++) {
    await mcp('drop', '--force');
    add('first ours', await mcp('copy'));
    add('again ours', await mcp('copy'));
    makeDirty(project, 5, `round${round}_`);
    add('changed ours', await mcp('copy'));
    const client = await new Client(
      [options.ours, 'serve', options.instance, '--copy', project]).start();
    for (const command of ['diff', 'take']) {  // each fetches new work
      await client.call('run_shell_command',
        { command: ['sh', '-ec', kAgentsWork], directory: project });
      add(`${command} ours`, await mcp(command));
    }
    await client.close();
    git(project, 'branch', '-qD', `${options.instance}/main`);
  }
}

/** The same by limactl: each time the whole directory there, by rsync, and changes back. */
async function measureSync(project, rounds) {
  const shell = (option, script) => time('limactl',
    ['--tty=false', 'shell', option, options.sync, 'sh', '-ec', script], project);
  const sync = (script) => shell(`--sync=${project}`, script);
  for (let round = 0; round < rounds; round++) {
    await shell('--workdir=/', `rm -rf "$HOME${project}"`);
    add('first sync', await sync('true'));
    add('again sync', await sync('true'));
    makeDirty(project, 5, `sync${round}_`);
    add('changed sync', await sync('true'));
    add('take sync', await sync(kAgentsWork));
  }
}

/** `run` of an unchanged project until the agent starts. */
async function measureStarts(places, rounds) {
  const bin = makeDirectory(homedir());
  const started = join(bin, 'started');
  writeFileSync(join(bin, 'claude'),
    `#!/bin/sh\n[ "$1" = --version ] && echo 99.0.0 || date +%s%3N >${started}\n`, { mode: 0o755 });
  const environment = { PATH: [bin, process.env.PATH].join(delimiter) };
  for (let round = 0; round <= rounds; round++) {
    for (const [where, { project }] of Object.entries(places)) {
      const begin = Date.now();
      await time(options.ours, ['run', 'claude', options.instance], project, environment);
      if (round > 0) add(`start ${where}`, Number(readFileSync(started, 'utf8')) - begin);
    }
  }
}

// The report.

const medianOf = (what) => (samples[what] ? median(samples[what]) : undefined);
const shown = (value) => (value === undefined ? '–' : `${(value / 1000).toFixed(1)} s`);
const met = [];
const judge = (right) => { met.push(right); return right ? 'yes' : '**no**'; };

function report() {
  const works = kWorks.map(({ id, name, goal }) => {
    const [copy, mount] = [medianOf(`${id} copy`), medianOf(`${id} mount`)];
    const factor = mount / copy;
    return [name, shown(copy), shown(mount), `${factor.toFixed(1)} ×`, `${goal} ×`, judge(factor >= goal)];
  });
  const sending = [['first', 'the first send'], ['again', 'again, unchanged'],
    ['changed', 'again, with 5 files changed and 5 new'], ['diff', '`diff`'], ['take', '`take`']];
  const transfers = sending.map(([id, name]) => {
    const ours = medianOf(`${id} ours`);
    const goal = kGoals[id];
    return [name, shown(ours), shown(medianOf(`${id} sync`)), goal ? shown(goal) : '–',
      goal ? judge(ours <= goal) : '–'];
  });
  const [copy, mount] = [medianOf('start copy'), medianOf('start mount')];
  return [
    numberTable(['', 'in the copy', 'on the mount', 'faster', 'goal', 'met?'], works),
    numberTable(['', 'limactl mcp', 'limactl shell --sync', 'goal', 'met?'], transfers),
    numberTable(['', 'in the copy', 'on the mount', 'more', 'goal', 'met?'], [[
      'a second `run`, until the agent starts', shown(copy), shown(mount), shown(copy - mount),
      shown(kGoals.start), judge(copy - mount <= kGoals.start)]]),
  ].join('\n\n');
}

async function main() {
  const rounds = Number(options.rounds);
  const load = loadavg()[0];
  progress('making the projects');
  const project = makeProject(homedir());
  const mounted = makeProject(options.mount);
  atExit(() => spawnSync(options.ours, ['drop', '--force', options.instance],
    { cwd: project, stdio: 'ignore' }));
  const places = {
    copy: { project, server: ['serve', options.instance, '--copy', project] },
    mount: { project: mounted, server: ['serve', options.instance, '--root', mounted] },
  };
  progress('start of an agent');
  await time(options.ours, ['copy', options.instance], project);
  await measureStarts(places, rounds);
  progress('work in the copy and on the mount');
  await measureWorks(places, rounds);
  progress('send and take');
  await measureCopy(project, rounds);
  if (options.sync) {
    progress('limactl shell --sync');
    await measureSync(project, rounds);
  }
  progress(`done; load ${load.toFixed(1)} before, ${loadavg()[0].toFixed(1)} after`);
  if (options.json) {
    writeFileSync(options.json, `${JSON.stringify({ rounds, load, goals: kGoals, samples }, null, 2)}\n`);
  }
  console.log(report());
  return met.every(Boolean) ? 0 : 2;
}

exitWith('bench', main);
