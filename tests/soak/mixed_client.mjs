// SPDX-License-Identifier: Apache-2.0
// A client of the soak with a server of its own.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { Client } from '../clients/client.mjs';

const kAtOnce = 8;
const kPatience = 120_000;
const kFiles = 20;
const kWrittenFiles = 10;

const contentOf = (file) => `this is file ${file}\n${'x'.repeat(200 * file)}\n`;

/** Errors that report that the connection is lost or cannot be made. */
const kConnectionError = /onnect|limactl start|is not ready|SFTP|may have run|signal/;

/** Keeps several calls of all kinds in flight and checks each response. It alone uses `directory` in the
 *  guest. `seed` determines the calls. */
export class MixedClient {
  #client;
  #directory;
  #random;
  #begun = 0;
  #isWritten = new Set(); // the files with a call of write_file under way
  #possible = Array.from({ length: kWrittenFiles }, () => new Set()); // contents of the files

  done = 0;
  tally = {
    good: 0,
    refused: 0, // as expected: paths outside the mount
    broken: 0, // reported a lost or missing connection
    cancelled: 0, // by the client; no response
  };

  constructor(command, directory, seed) {
    this.#client = new Client(command);
    this.#directory = directory;
    this.#random = seed;
    for (let file = 0; file < kFiles; ++file) writeFileSync(this.#path(`file${file}.txt`), contentOf(file));
  }

  get pid() { return this.#client.pid; }

  /** Returns this client. */
  async start() {
    await this.#client.start();
    return this;
  }

  /** Makes `calls` calls. Throws on the first response that is wrong or late. */
  async run(calls) {
    const kinds = this.#kinds();
    await Promise.all(Array.from({ length: kAtOnce }, async () => {
      while (this.#begun < calls) {
        ++this.#begun;
        let choice = this.#below(1000);
        await kinds.find(([share]) => (choice -= share) < 0)[1](this.#begun);
        ++this.done;
      }
    }));
  }

  /** The kinds of calls, with their shares in thousandths. */
  #kinds() {
    const directory = this.#directory;
    const readOne = (range) => {
      const file = this.#below(kFiles);
      return this.#expect('read_file', { path: this.#path(`file${file}.txt`), ...range }, `this is file ${file}`);
    };
    return [
      [450, () => readOne()],
      [50, () => readOne({ offset: 0, limit: 1 })],
      [200, () => this.#expect('list_directory', { path: directory }, 'file19.txt')],
      [150, (number) => this.#write(`call ${number}\n`)],
      [100, () => this.#expect('read_file', { path: '/etc/passwd' }, 'outside', true)],
      [15, () => this.#expect('glob', { pattern: '**/file1*.txt', path: directory }, 'file10.txt')],
      [10, () => this.#expect('search_file_content', { pattern: 'this is file 7$', path: directory }, 'file7.txt')],
      // With a background process, as of a command that starts a server.
      [23, (number) => this.#expect('run_shell_command',
        { command: ['sh', '-c', `sleep 0.1 & echo word${number}`], directory }, `word${number}`)],
      [2, () => {
        this.#client.cancel(this.#call('run_shell_command', { command: ['sleep', '1000'], directory }).id);
        ++this.tally.cancelled;
      }],
    ];
  }

  #path(name) { return join(this.#directory, name); }

  #below(limit) {
    this.#random = this.#random * 48_271 % 2_147_483_647;
    return this.#random % limit;
  }

  #call(tool, args) {
    return this.#client.request('tools/call', { name: tool, arguments: args }, kPatience);
  }

  /** Makes a call whose result, or refusal, contains `expected`. Returns whether it has failed. */
  async #expect(tool, args, expected, isRefusal = false) {
    const { result } = await this.#call(tool, args);
    const text = JSON.stringify(result.content);
    // A command that was cut short reports it beside its output.
    const isError = result.isError || result.structuredContent?.error !== undefined;
    if (isRefusal === Boolean(isError) && text.includes(expected)) {
      ++this.tally[isRefusal ? 'refused' : 'good'];
    } else if (isError && kConnectionError.test(text)) {
      ++this.tally.broken;
    } else {
      throw new Error(`expected ${expected}, got: ${text}`);
    }
    return isError;
  }

  async #write(content) {
    let file;
    do file = this.#below(kWrittenFiles); while (this.#isWritten.has(file));  // more than kAtOnce
    this.#isWritten.add(file);
    const isError = await this.#expect('write_file', { path: this.#path(`written${file}`), content }, '');
    this.#isWritten.delete(file);
    // After an error the file may hold the old content or the new one.
    if (!isError) this.#possible[file].clear();
    else if (this.#possible[file].size === 0) this.#possible[file].add('');  // nothing was there
    this.#possible[file].add(content);
  }

  /** Throws unless each written file holds what was last reported as written, or what may have been written
   *  since. */
  requireNothingLost() {
    for (const [file, possible] of this.#possible.entries()) {
      const path = this.#path(`written${file}`);
      const content = existsSync(path) ? readFileSync(path, 'utf8') : '';
      if (possible.size > 0 && !possible.has(content)) {
        throw new Error(`${path} does not hold what was written last: ${content}`);
      }
    }
    // After a lost connection a temporary file stays until a later write.
    const left = readdirSync(this.#directory).find((name) => !/^(\.limactl-mcp-|file|written)/.test(name));
    if (left) throw new Error(`left behind: ${this.#path(left)}`);
  }
}
