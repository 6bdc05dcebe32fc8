// SPDX-License-Identifier: Apache-2.0
// The files that the benchmarks work on, made on the host in a writable mount.

import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const kLine = 'int function_number(const char* name) { return name[0] == "x"[0]; } // needle\n';
const kOtherLine = kLine.replace('needle', 'text');

/** `size` bytes of lines. */
export const text = (size) => kLine.repeat(Math.ceil(size / kLine.length)).slice(0, size);

export const kSmall = 4096;
export const kLarge = 16 * 1024 * 1024;

/** A file that is read at once: servers limit the length of a message. */
export const kPart = kLarge / 8;

/** Ten names, eight of them *.txt; what is read and written by the mixed calls is among them. */
const kProject = [...'12345'].map((number) => `notes${number}.txt`)
  .concat('small.txt', 'other.txt', 'written.txt', 'README.md', 'main.c');

const kHundred = [...Array(100).keys()].map((i) => `file${i}.c`);

export class Place {
  /** Makes the files in a new directory inside `mount`, which has the same path on both sides. */
  constructor(mount) {
    this.root = mkdtempSync(join(mount, 'bench-'));
    this.project = this.#directory('project', kProject);
    this.few = this.#directory('few', [...'12345678'].map((number) => `file${number}.c`));
    this.hundred = this.#directory('hundred', kHundred);
    // Lima's plugin searches by an absolute path, at which git 2.39 crashes outside of a repository.
    this.repository = this.#directory('repository', kHundred);
    execFileSync('git', ['init', '-q', this.repository]);
    for (const name of ['small.txt', 'other.txt', 'written.txt']) {
      writeFileSync(join(this.project, name), text(kSmall));
    }
    this.tree = join(this.root, 'tree');
    for (let d = 0; d < 100; d++) {
      const directory =
        this.#directory(`tree/d${d}`, [...Array(100).keys()].map((f) => `f${f}.txt`), kOtherLine);
      appendFileSync(join(directory, 'f50.txt'), kLine);
    }
    this.part = join(this.root, 'part.txt');
    writeFileSync(this.part, text(kPart));
    this.largeWritten = join(this.root, 'large_written.txt');
    writeFileSync(this.largeWritten, '');
  }

  #directory(name, files, line = kLine) {
    const directory = join(this.root, name);
    mkdirSync(directory, { recursive: true });
    for (const file of files) writeFileSync(join(directory, file), line);
    return directory;
  }

  remove() { rmSync(this.root, { recursive: true, force: true }); }
}
