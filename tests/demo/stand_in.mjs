#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Stands in for Claude Code in the picture. Starts the MCP server that `limactl mcp run claude` passes
// to it, and makes fixed calls.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { Client } from '../clients/client.mjs';

const options = process.argv.slice(2);
if (options[0] === '--version') {
  console.log('99.0.0');
  process.exit();
}

/** The text of the file that an option names. */
function read(option) {
  const found = options.find((each) => each.startsWith(`${option}=`));
  return readFileSync(found.slice(option.length + 1), 'utf8');
}

const bold = (text) => `\x1b[1m${text}\x1b[m`;
const dim = (text) => `\x1b[2m${text}\x1b[m`;
const green = (text) => `\x1b[32m${text}\x1b[m`;

const instructions = read('--append-system-prompt-file');
const [, project] = /The project is the directory (\/.*), in a virtual machine/.exec(instructions);
const { lima } = JSON.parse(read('--mcp-config')).mcpServers;
Object.assign(process.env, lima.env);
const client = await new Client([lima.command, ...lima.args]).start();

/** Prints the call in short, and the lines that `show` returns of its result. */
async function call(tool, args, words, show = () => []) {
  const { structuredContent } = await client.call(tool, args);
  console.log(`${green('●')} ${bold(tool)} ${words}`);
  for (const line of show(structuredContent)) console.log(dim(`    ${line}`));
}

console.log(dim('\nA stand-in for Claude Code; its calls are real.'));
console.log(`${bold('>')} Let \`make test\` run my new test.`);
const makefile = join(project, 'Makefile');
await call('glob', { pattern: '**/*', path: project }, '**/*', ({ matches }) =>
  [matches.map((path) => path.slice(project.length + 1)).sort().join('  ')]);
await call('read_file', { path: makefile }, 'Makefile');
await call('replace',
  { path: makefile, old_string: 'sh -n greet.sh', new_string: 'sh greet_test.sh' }, 'Makefile');
await call('run_shell_command', { command: ['make', 'test'], directory: project }, 'make test',
  ({ stdout }) => stdout.trim().split('\n'));
await client.close();
console.log();
