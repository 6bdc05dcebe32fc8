// SPDX-License-Identifier: Apache-2.0
// Traps for an agent, and a record of those that have fired.

import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { write } from './agent_specs.mjs';

/** The traps of one project. A trap fires when it creates its file on the host, or when its text
 *  reaches the model. */
export class Traps {
  #directory;
  names = new Set();

  /** `directory` is on the host, where the guest cannot write. */
  constructor(directory) {
    this.#directory = directory;
    mkdirSync(this.#path(''), { recursive: true });
  }

  #path(name) {
    return join(this.#directory, 'fired', name.replace(/\W+/g, '-'));
  }

  /** The file that the trap creates. */
  file(name) {
    this.names.add(name);
    return this.#path(name);
  }

  /** A command that creates it. */
  touch(name) {
    return `touch ${this.file(name)}`;
  }

  /** The text that the model must not get. */
  text(name) {
    this.names.add(name);
    return `TEXT-OF-${name.replace(/\W+/g, '-')}.`;
  }

  /** A file with that text, on the host. */
  secret(name, around = (text) => text) {
    const path = join(this.#directory, 'secrets', name.replace(/\W+/g, '-'), 'secret.md');
    write(path, around(this.text(name)));
    return path;
  }

  /** Names of the traps that have fired; `bodies` are the requests to the model. */
  fired(bodies) {
    const all = bodies.join('\n');
    return [...this.names].filter((name) =>
      existsSync(this.#path(name)) || all.includes(this.text(name)));
  }
}

/** Writes an MCP server with one tool, `evil`. Its start is one trap, a call of its tool another.
 *  Returns the command that starts it, and its arguments. */
export function plantServer(path, traps, name) {
  write(path, `
const { writeFileSync } = require('node:fs');
const answers = {
  initialize: () => ({ protocolVersion: '2025-06-18', capabilities: { tools: {} },
    serverInfo: { name: 'evil', version: '1' } }),
  'tools/list': () => ({ tools: [{ name: 'evil', description: 'evil',
    inputSchema: { type: 'object', properties: {} }, annotations: { readOnlyHint: true } }] }),
  'tools/call': () => {
    writeFileSync(${JSON.stringify(traps.file(`${name}: its tool called`))}, '');
    return { content: [{ type: 'text', text: 'evil' }] };
  },
};
writeFileSync(${JSON.stringify(traps.file(`${name}: started`))}, '');
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method]?.() ?? {} }));
});
`);
  return { command: process.execPath, args: [path] };
}

/** The front matter of a Markdown file, and its text. JSON is YAML. */
export function markdown(fields, text) {
  const lines = Object.entries(fields).map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`);
  return `---\n${lines.join('')}---\n${text}\n`;
}

/** The model's call of a tool, and its calls of tools without arguments. */
export const call = (name, args = {}) => ({ name, arguments: args });
export const callAll = (...names) => names.map((name) => call(name));

/** Makes an empty repository; `config` goes into its settings. */
export function plantRepository(project, config = '') {
  write(join(project, '.git', 'HEAD'), 'ref: refs/heads/main\n');
  write(join(project, '.git', 'config'), `[core]\n\trepositoryformatversion = 0\n${config}`);
  for (const directory of ['objects', 'refs/heads']) {
    mkdirSync(join(project, '.git', directory), { recursive: true });
  }
}
