// The tools of a server under measurement.

import { readFileSync } from 'node:fs';

import { expect, lines } from './checks.mjs';
import { text } from './place.mjs';

/** Counts writes of all servers: each has a content of its own. */
let writes = 0;

/** Each method makes one call, checks the answer, and returns the milliseconds that it took. */
export class Tools {
  #client;
  constructor(client) { this.#client = client; }

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
