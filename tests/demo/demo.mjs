#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Makes an agent's calls and a user's commands, and shows what comes: first on a mount, then in a copy of a
// project that has uncommitted changes.
//
//   LIMACTL_MCP=PROGRAM demo.mjs [--instance NAME]
//
// Without --instance it makes a throwaway instance on this machine with the program LOOPBACK_INSTANCE: a
// Lima instance directory with a local sshd. Exits with 0 only if every step succeeds.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

import { Client } from '../clients/client.mjs';
import { atExit, startInstance } from '../clients/instance.mjs';

const program = resolve(process.env.LIMACTL_MCP);
const { values: options } = parseArgs({ options: { instance: { type: 'string' } } });

// The report: who does what, with the result below it. No line is longer than kColumns.

const [kColumns, kIndent, kWhoColumns, kWhatColumns] = [100, 10, 8, 74];
const kMaxLines = 12; // of one result

const shorter = []; // what is printed in the place of what
const shortened = (text) => shorter.reduce((all, [from, to]) => all.replaceAll(from, to), text);

/** Breaks lines that are too long, between words where there are some. */
function wrapped(text, width) {
  const line = new RegExp(`(.{1,${width}})(?: +|$)|.{${width}}`, 'gmu');
  return shortened(text).trimEnd().split('\n')
    .flatMap((each) => (each.length > width ? each.match(line).map((part) => part.trimEnd()) : [each]));
}

const say = (text) => console.log(`${wrapped(text, kColumns).join('\n')}\n`);

function printIndented(text) {
  const lines = wrapped(text, kColumns - kIndent);
  const more = lines.length > kMaxLines ? [`… and ${lines.length - kMaxLines + 1} more lines`] : [];
  for (const line of [...lines.slice(0, more.length ? kMaxLines - 1 : kMaxLines), ...more]) {
    console.log(line && ' '.repeat(kIndent) + line);
  }
}

let allRight = true;

/** Reports a step that took as long as since `begin`. `expected` is part of what must come. */
function report(who, what, begin, came, { expected, isRight, isRefusal }) {
  const outcome = !isRight ? 'FAILED'
    : isRefusal ? 'refused' : `${(performance.now() - begin).toFixed(1)} ms`;
  console.log(`${who.padEnd(kWhoColumns)}${shortened(what).padEnd(kWhatColumns)} ${outcome}`);
  if (isRight) {
    printIndented(came);
  } else {
    printIndented(`expected: ${expected}`);
    printIndented(`came:     ${came || 'nothing'}`);
  }
  allRight &&= isRight;
}

// What the agent does.

/** An agent that gets its results as text, and reports each call. */
async function startAgent(...words) {
  const begin = performance.now();
  const client = await new Client([program, ...words], { name: 'claude-code' }).start();
  const { tools } = (await client.request('tools/list')).result;
  report('agent', 'connect', begin, `${tools.length} tools: ${tools.map(({ name }) => name).join(', ')}`,
    { expected: 'instructions, and ten tools', isRight: client.instructions !== '' && tools.length === 10 });
  const use = async (tool, args) => {
    const { result } = await client.request('tools/call', { name: tool, arguments: args });
    return { text: result.content[0].text, isError: result.isError ?? false };
  };
  const reported = async (isRefusal, tool, args, shown, expected) => {
    const start = performance.now();
    const { text, isError } = await use(tool, args);
    const what = expected ? `a ${isRefusal ? 'refusal' : 'result'} with: ${expected}` : 'success';
    report('agent', `${tool} ${shown}`, start, text,
      { expected: what, isRight: isError === isRefusal && text.includes(expected), isRefusal });
  };
  return {
    client,
    /** Calls a tool. Its text must contain `expected`; an empty one stands for success. */
    call: (tool, args, shown, expected = '') => reported(false, tool, args, shown, expected),
    refused: (tool, args, shown, expected) => reported(true, tool, args, shown, expected),
    /** Runs a command that is no part of the demo; returns the first line of its output. */
    async do(command, directory) {
      const { text, isError } = await use('run_shell_command', { command, directory });
      if (isError || text.includes('[exit status')) throw new Error(`${command[0]} failed: ${text}`);
      return text.split('\n')[0];
    },
    async leave() {
      const code = await client.close();
      if (code !== 0) throw new Error(`the server exited with ${code}`);
    },
  };
}

async function workOnAMount(instance) {
  const agent = await startAgent('serve', instance);
  // In a new directory, so that the user's files stay untouched.
  const root = agent.client.writableRoot;
  const name = await agent.do(['mktemp', '-d', 'limactl-mcp-demo.XXXXXX'], root);
  const directory = join(root, name);
  shorter.unshift([directory, 'my-project']);
  const file = join(directory, 'hello.txt');
  const content = 'Hello from an agent.\nThe answer is 42.\n';
  const hook = join(directory, '.git/hooks/post-checkout');
  const shell = (...command) => ['run_shell_command', { command, directory }];

  await agent.call('write_file', { path: file, content }, file);
  await agent.call('read_file', { path: file }, file, content);
  await agent.call('search_file_content', { pattern: 'answer is [0-9]+', path: directory },
    "'answer is [0-9]+'", 'hello.txt:2:The answer is 42.');
  await agent.call('glob', { pattern: '**/*.txt', path: directory }, "'**/*.txt'", file);
  await agent.call('list_directory', { path: directory }, directory, 'hello.txt');
  const script = 'uname -sr; wc -l hello.txt; exit 3';
  await agent.call(...shell('sh', '-c', script), `'${script}'`, '2 hello.txt');
  await agent.refused('read_file', { path: '/etc/passwd' }, '/etc/passwd', 'outside the directories');
  await agent.call(...shell('ln', '-s', '/etc', 'way-out'), 'ln -s /etc way-out');
  const passwd = join(directory, 'way-out/passwd');
  await agent.refused('read_file', { path: passwd }, passwd, 'outside');
  await agent.refused('write_file', { path: hook, content: '#!/bin/sh\n' }, hook, '.git');
  await agent.do(['rm', '-r', '--', name], root);
  await agent.leave();
}

/** A commit, an uncommitted change, and a file that git ignores. */
const kMakeProject = `git init -q -b main .
echo .env > .gitignore
printf '%s\\n' 'fn main() {' '    println!("Helo");' '}' > main.rs
git add -A
git -c user.name=You -c user.email=you@example.org -c commit.gpgSign=false commit -qm 'First'
echo '// Mine, not committed.' >> main.rs
echo KEY=secret > .env
git status --short --ignored`;

/** `scratch` is a directory of this host, `copy` one that the guest will have. */
async function workInACopy(instance, scratch, copy) {
  const project = join(scratch, 'my-project');
  mkdirSync(project);
  const add = (shown, words, expected) => {
    const begin = performance.now();
    const { status, stdout, stderr } = spawnSync(words[0], words.slice(1), { cwd: project, encoding: 'utf8' });
    const came = stderr + stdout;
    report('you', shown, begin, came,
      { expected: `exit code 0, and: ${expected}`, isRight: status === 0 && came.includes(expected) });
    return came;
  };
  const inProject = (shown, expected, script = shown) => add(shown, ['sh', '-ec', script], expected);
  const mcp = (command, expected, ...words) =>
    add(`limactl mcp ${command} ${instance}`, [program, command, instance, ...words], expected);

  inProject('git status --short --ignored', ' M main.rs\n!! .env\n', kMakeProject);
  mcp('copy', 'Copied to ', '--copy-dir', copy);
  const agent = await startAgent('serve', instance, '--copy', project);
  const [env, source, notes] = ['.env', 'main.rs', 'notes.md'].map((name) => join(project, name));
  await agent.refused('read_file', { path: env }, env, 'does not exist');
  await agent.call('replace', { path: source, old_string: 'Helo', new_string: 'Hello' }, source);
  await agent.call('run_shell_command',
    { command: ['git', 'commit', '-am', 'Greet properly'], directory: project },
    "git commit -am 'Greet properly'", '1 file changed');
  await agent.call('write_file', { path: notes, content: 'Greets.\n' }, notes);
  await agent.leave();
  say('\nYour project is as before. What the agent did comes when you take it:');
  inProject('git log --oneline --all; git status --short', ' First\n M main.rs\n');
  const diff = mcp('diff', '+    println!("Hello");');
  if (diff.includes('+// Mine')) throw new Error('the diff has your own change, too');
  const branch = `${instance}/main`;
  mcp('take', `Branch ${branch}: 2 commits, 2 files changed.`);
  inProject(`git log --format=%s main..${branch}`, 'Uncommitted work');
  inProject(`git show ${branch}:main.rs; git status --short`,
    '    println!("Hello");\n}\n// Mine, not committed.\n M main.rs\n');
  mcp('drop', 'Dropped.');
}

async function demonstrate() {
  const instance = options.instance ? undefined : await startInstance({ name: 'agent' });
  const name = options.instance ?? 'agent';
  if (instance) Object.assign(process.env, { HOME: instance.directory, LIMA_HOME: instance.limaHome });
  const scratch = instance?.directory ?? mkdtempSync(join(tmpdir(), 'lmcp-'));
  const copy = `/tmp/${basename(scratch)}-copy`;
  atExit(() => {
    for (const each of [scratch, ...(instance ? [copy] : [])]) rmSync(each, { recursive: true, force: true });
  });
  shorter.unshift([`${scratch}/`, '']);
  say('limactl-mcp gives an AI agent files, search and commands in a virtual machine, and keeps it from ' +
    'the rest of your host. This demo makes the calls of an agent and the commands of its user. ' +
    (instance ? 'No VM is needed: the instance is a throwaway one, and sshd on 127.0.0.1 plays its guest, ' +
      'so that commands run on this machine. With Lima they run in the VM.'
      : `It works in the Lima instance ${name}, and removes what it makes.`));
  say('1. On a mount. The agent works in the directories that the instance mounts, and nowhere else:');
  await workOnAMount(name);
  say('\n2. In a copy. The agent gets your project with your uncommitted changes, but not what git ignores:');
  await workInACopy(name, scratch, copy);
  console.log(allRight
    ? '\nEverything worked. Next: ./dev test, or with Lima: limactl mcp run claude\n' +
      '(README.md, "Start your agent in a virtual machine")'
    : '\nA step FAILED, see above: please report it with its lines.');
  await instance?.stop();
  return allRight ? 0 : 1;
}

demonstrate().then((code) => process.exit(code), (error) => {
  console.error(`demo: ${error.message}`);
  process.exit(1);
});
