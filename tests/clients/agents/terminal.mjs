// SPDX-License-Identifier: Apache-2.0
// A terminal for agents, by tmux.

import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { patience, write } from './agent_specs.mjs';

export function hasTerminals() {
  try {
    return Boolean(execFileSync('tmux', ['-V'], { stdio: 'pipe' }));
  } catch {
    console.log('SKIPPED tests/clients/agents: terminals: no tmux (Debian: apt-get install tmux)');
    return false;
  }
}

/** Runs a command in `directory`. Its files are in `root`. */
export class Terminal {
  #socket;

  constructor(root, words, directory, environment) {
    const quote = (word) => `'${word.replaceAll("'", `'"'"'`)}'`;
    this.#socket = join(root, 'tmux');
    const all = Object.entries({ ...environment, TERM: 'xterm-256color' });
    write(join(root, 'terminal.sh'), `cd ${quote(directory)}
exec env -i ${all.map(([name, value]) => quote(`${name}=${value}`)).join(' ')} ${words.map(quote).join(' ')}
`);
    this.#tmux('-f', '/dev/null', 'new-session', '-d', '-x', '150', '-y', '50',
      `sh ${join(root, 'terminal.sh')}`);
  }

  #tmux(...words) {
    return execFileSync('tmux', ['-S', this.#socket, ...words], { encoding: 'utf8', stdio: 'pipe' });
  }

  screen() {
    return this.#tmux('capture-pane', '-p');
  }

  /** Waits until `condition` holds. */
  async until(condition, milliseconds = patience) {
    for (const end = Date.now() + milliseconds; !condition(); await sleep(200)) {
      if (Date.now() > end) throw new Error(`in vain: ${this.screen()}`);
    }
  }

  /** Presses keys when the agent is ready for them, and again if it was not. */
  async pressUntil(condition, ...keys) {
    for (let tries = 0; !condition(); ++tries) {
      if (tries === 6) throw new Error(`in vain: ${this.screen()}`);
      await sleep(3000);
      for (const key of keys) {
        this.#tmux('send-keys', key);
        await sleep(500);  // keys that come together are pasted text
      }
      await this.until(condition, 15_000).catch(() => undefined);
    }
  }

  /** Kills all that was started in the terminal: not every agent ends with it. */
  close() {
    const session = this.#tmux('display-message', '-p', '#{pane_pid}').trim();
    this.#tmux('kill-server');
    spawnSync('pkill', ['-KILL', '-s', session]);
  }
}
