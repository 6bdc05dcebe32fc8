// SPDX-License-Identifier: Apache-2.0
// How time and memory grow with the work: one kind of call, on more and more of something.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

import { Client } from '../clients/client.mjs';
import { copyGrowth } from './growth_copy.mjs';
import { text } from './place.mjs';
import { usageOf } from './usage.mjs';

const kCalls = 5;
/** A step may grow by this much more than its input: other work on the machine costs that. */
const kTolerated = 1.5;
/** Steps below these are not compared: fixed costs are most of them. */
const kSmallMilliseconds = 10;
const kSmallMebibytes = 8;

const kKibibyte = 1024;
const kMebibyte = 1024 * kKibibyte;
const kFilesOfADirectory = 100;

function steps(from, to, factor) {
  const sizes = [];
  for (let size = from; size < to; size *= factor) sizes.push(size);
  return [...sizes, to];
}
const amount = (bytes) =>
  (bytes < kMebibyte ? `${bytes / kKibibyte} KiB` : `${bytes / kMebibyte} MiB`);

/** Each series has a `tool`, its `sizes`, and for each size how to `make` its input and call the tool. A `constant` one may not grow. */
function listSeries(root) {
  const shell = (script) => execFileSync('sh', ['-ec', script], { cwd: root });
  const file = (bytes) => join(root, `file.${bytes}`);
  const makeFile = (bytes) =>
    shell(`yes 'a line of text, "quoted", which has 64 bytes with its line end.' | head -c ${bytes} > ${file(bytes)}`);
  const list = (count) => join(root, `list.${count}`);
  const makeList = (count) => shell(
    `mkdir -p ${list(count)} && cd ${list(count)} && seq ${count} | sed 's/.*/file&.txt/' | xargs touch`);
  const tree = (count) => join(root, `tree.${count}`);
  // A hundred files of one line in each directory. One of them has another line, to be found.
  const makeTree = (count) => shell(`
    mkdir -p ${tree(count)} && cd ${tree(count)}
    for d in $(seq ${count / kFilesOfADirectory}); do
      mkdir d$d
      yes 'a line of text in a file' | head -n ${kFilesOfADirectory} | (cd d$d && split -l 1 -a 3 - f)
      echo 'a needle' >> d$d/faaa
    done`);

  const deep = (depth) => join(root, ...Array(depth).fill('d'));
  const makeDeep = (depth) => shell(`mkdir -p ${deep(depth)}`);
  const makeLines = (count) => shell(`yes one | head -n ${count} > lines.${count}`);
  // A tree of 10,000 files with so many ignored ones.
  const ignored = (count) => join(root, `ignored.${count}`);
  const makeIgnored = (count) => shell(`
    mkdir -p ${ignored(count)} && cd ${ignored(count)} && git init -q . && echo node_modules/ > .gitignore
    seq -f 'src/d%g' 100 | xargs mkdir -p && for d in src/*; do seq -f "$d/f%g.c" 100; done | xargs touch
    seq -f 'node_modules/p%g' ${count / kFilesOfADirectory} | xargs mkdir -p
    for d in node_modules/*; do seq -f "$d/f%g.c" ${kFilesOfADirectory}; done | xargs touch`);

  const whole = steps(kKibibyte, kMebibyte, 4); // about what fits into one message
  const ranges = steps(kKibibyte, 256 * kMebibyte, 4);
  const written = steps(kKibibyte, 48 * kMebibyte, 4); // escaped, this fits into a request's 64 MiB
  const entries = steps(10, 100_000, 10);
  const files = steps(100, 100_000, 10);
  const parts = steps(100, 50_000, 4); // of a command, which may have 128 KiB
  const levels = steps(10, 1000, 10); // of a path, which may have 4 KiB
  const run = (name, make, tool = 'run_shell_command') => ({
    name: `${tool}, ${name}`, tool, sizes: parts, args: (count) => ({ command: make(count), directory: root }) });
  return [
    run('lines', (count) => ['bash', '-c', ':\n'.repeat(count)]),
    run('here-document', (count) => ['bash', '-c', `: <<END\n${'x\n'.repeat(count)}END`]),
    run('lines of a word', (count) => ['printf', '', '\n'.repeat(count)]),
    run('words', (count) => ['true', ...Array(count).fill('x')]),
    run('bytes', (count) => ['true', 'é'.repeat(count)]),
    run('quotes', (count) => ['true', "'".repeat(count / 4)]),
    { ...run('depth', (count) => ['bash', '-c', `${'{ '.repeat(count)}:${'; }'.repeat(count)}`]),
      sizes: steps(10, 2000, 4) },
    run('lines', (count) => ['bash', '-c', ':\n'.repeat(count)], 'start_process'),
    run('words', (count) => ['true', ...Array(count).fill('x')], 'start_process'),
    { name: 'write_file, depth', tool: 'write_file', sizes: levels, make: makeDeep,
      args: (depth) => ({ path: join(deep(depth), 'new.txt'), content: 'new\n' }) },
    { name: 'list_directory, depth', tool: 'list_directory', sizes: levels, make: makeDeep,
      args: (depth) => ({ path: deep(depth) }) },
    { name: 'glob **/*.txt, depth', tool: 'glob', sizes: levels, make: makeDeep,
      args: (depth) => ({ pattern: '**/*.txt', path: deep(depth) }) },
    { name: 'glob, bytes of the pattern', tool: 'glob', sizes: steps(10, 4000, 4),
      args: (count) => ({ pattern: '?'.repeat(count), path: root }) },
    { name: 'search, bytes of the pattern', tool: 'search_file_content', sizes: steps(10, 16_000, 4),
      args: (count) => ({ pattern: 'x'.repeat(count), path: root }) },
    { name: 'replace, lines', tool: 'replace', sizes: steps(100, 100_000, 10), make: makeLines,
      args: (count) => ({ path: join(root, `lines.${count}`), old_string: 'one', new_string: 'one ', allow_multiple: true }) },
    { name: 'read_file', tool: 'read_file', sizes: whole, shown: amount, make: makeFile,
      args: (bytes) => ({ path: file(bytes) }) },
    { name: 'read_file, the last ten lines', tool: 'read_file', sizes: ranges, shown: amount, make: makeFile,
      args: (bytes) => ({ path: file(bytes), offset: Math.max(bytes / 64 - 10, 0), limit: 10 }) },
    { name: 'read_file, the first ten lines', tool: 'read_file', sizes: ranges, shown: amount, make: makeFile,
      args: (bytes) => ({ path: file(bytes), offset: 0, limit: 10 }) },
    { name: 'write_file', tool: 'write_file', sizes: written, shown: amount,
      args: (bytes) => ({ path: join(root, 'written'), content: text(bytes) }) },
    { name: 'list_directory', tool: 'list_directory', sizes: entries, make: makeList,
      args: (count) => ({ path: list(count) }) },
    { name: 'write_file, among so many', tool: 'write_file', sizes: entries, make: makeList,
      args: (count) => ({ path: join(list(count), 'file1.txt'), content: 'new\n' }) },
    { name: 'glob **/faaa', tool: 'glob', sizes: files, make: makeTree,
      args: (count) => ({ pattern: '**/faaa', path: tree(count) }) },
    { name: 'glob **/f1.c beside ignored files', tool: 'glob', sizes: [1000, 120_000], make: makeIgnored,
      args: (count) => ({ pattern: '**/f1.c', path: ignored(count) }), constant: true },
    { name: 'search for one line in a hundred', tool: 'search_file_content', sizes: files,
      args: (count) => ({ pattern: 'needle', path: tree(count) }) },
  ];
}

/** The fastest of some calls, and the peak memory of a server of its own. */
async function measure(command, root, tool, args) {
  const client = await new Client(command).start();
  await client.call('list_directory', { path: root }); // connects
  const times = [];
  for (let i = 0; i < kCalls; i++) times.push((await client.timedCall(tool, args)).time);
  const { peak } = usageOf(client.pid);
  await client.close();
  return { time: Math.min(...times), peak };
}

/** Prints a table for each series. Returns whether nothing grew faster than its input. */
async function toolGrowth(command, root) {
  let good = true;
  for (const { name, tool, sizes, shown = String, make, args, constant } of listSeries(root)) {
    console.log(`\n${name.padEnd(34)}       ms  peak MiB     input`);
    let before;
    for (const size of sizes) {
      make?.(size);
      const taken = await measure(command, root, tool, args(size));
      const input = before && !constant ? size / before.size : 1;
      const limit = (value, small) => Math.max(value, small) * input * kTolerated;
      const slow = before && taken.time > limit(before.time, kSmallMilliseconds);
      const large = before && taken.peak > limit(before.peak, kSmallMebibytes);
      good &&= !slow && !large;
      const numbers = [taken.time, taken.peak, input].map((value) => value.toFixed(1).padStart(9));
      console.log(`  ${shown(size).padEnd(30)}${numbers.join(' ')}` +
        `${slow ? '  TIME GROWS FASTER' : ''}${large ? '  MEMORY GROWS FASTER' : ''}`);
      before = { ...taken, size };
    }
  }
  return good;
}

/** The same for the commands of a copy, in milliseconds. */
async function copiesGrowth(program) {
  let good = true;
  let before;
  for await (const { name, size, times } of copyGrowth(program)) {
    const commands = Object.keys(times);
    if (before?.name !== name) {
      before = undefined;
      console.log(`\n${`copy: ${name}`.padEnd(32)}${commands.map((word) => word.padStart(9)).join('')}`);
    }
    const slow = before ? commands.filter((word) =>
      times[word] > Math.max(before.times[word], kSmallMilliseconds) * (size / before.size) * kTolerated) : [];
    good &&= slow.length === 0;
    console.log(`  ${String(size).padEnd(30)}${commands.map((word) => times[word].toFixed(0).padStart(9)).join('')}` +
      `${slow.length ? `  TIME GROWS FASTER: ${slow.join(', ')}` : ''}`);
    before = { name, size, times };
  }
  return good;
}

/** Returns whether nothing grew faster than its input. `command` starts our server in a mount at `root`. */
export async function growth(command, root) {
  const results = [await toolGrowth(command, root), await copiesGrowth(command[0])];
  const good = results.every(Boolean);
  console.log(`\n${good ? 'Nothing' : 'Something'} grows faster than its input.`);
  return good;
}
