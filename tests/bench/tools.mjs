// SPDX-License-Identifier: Apache-2.0
// The tools of a server under measurement. Each answer is checked: a server that answers wrongly is
// not worth measuring.

import { readFileSync } from 'node:fs';

import { Client } from '../clients/client.mjs';
import { text } from './place.mjs';

/** Throws unless `right`. `what` was expected, `answer` came. */
export function expect(right, what, answer) {
  if (!right) throw new Error(`wrong answer, ${what}: ${JSON.stringify(answer).slice(0, 500)}`);
}

/** The lines that are not empty. */
export const lines = (output) => output.split('\n').filter(Boolean);

/** Counts writes of all servers: each has a content of its own. */
let writes = 0;

/** Each method makes one call, checks the answer, and returns the milliseconds that it took. */
export class Tools {
  #client;
  #command;
  /** `client` is connected to a server that `command` started. */
  constructor(client, command) {
    this.#client = client;
    this.#command = command;
  }

  /** Starts another server, calls `use` with its tools, and returns the milliseconds of both. */
  async start(use) {
    const begin = performance.now();
    const client = await new Client(this.#command).start();
    await use?.(new Tools(client, this.#command));
    const time = performance.now() - begin;
    await client.close();
    return time;
  }

  async #time(tool, args, check) {
    const { result, time } = await this.#client.timedCall(tool, args);
    check(result.structuredContent);
    return time;
  }
  list(path, count) {
    return this.#time('list_directory', { path }, ({ entries }) =>
      expect(entries.length === count, `${count} entries`, entries));
  }
  read(path, size) {
    return this.#time('read_file', { path }, ({ content }) =>
      expect(content.length === size, `${size} bytes`, content));
  }
  write(path, size) {
    const content = `${++writes} ${text(size)}`.slice(0, size);
    return this.#time('write_file', { path, content }, () =>
      expect(readFileSync(path, 'latin1') === content, `the new content of ${path}`, ''));
  }
  run(command, directory, check) {
    return this.#time('run_shell_command', { command, directory }, (result) => {
      expect(result.exit_code === 0, 'exit code 0', result);
      check(result.stdout);
    });
  }
  ls(directory, name) {
    return this.run(['ls', '-la'], directory, (stdout) =>
      expect(stdout.includes(name), `ls with ${name}`, stdout));
  }
  true(directory) { return this.run(['true'], directory, () => {}); }
  glob(path, pattern, count) {
    return this.#time('glob', { path, pattern }, ({ matches }) =>
      expect(matches.length === count, `${count} matches`, matches));
  }
  search(path, pattern, count) {
    return this.#time('search_file_content', { path, pattern }, ({ git_grep_output: found }) =>
      expect(lines(found).length === count, `${count} lines`, found));
  }
}
