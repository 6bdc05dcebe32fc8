// SPDX-License-Identifier: Apache-2.0
// Commands in the guest over one ssh connection that stays open: what the servers are compared with.

import { spawn, spawnSync } from 'node:child_process';
import { performance } from 'node:perf_hooks';

export class SharedSsh {
  #words;

  /** Connects. `controlPath` is the socket of the connection, a short path. */
  constructor(config, host, controlPath) {
    this.#words = ['-F', config, '-o', `ControlPath=${controlPath}`, '-o', 'LogLevel=ERROR', host];
    const { status, error } = spawnSync(
      'ssh', ['-o', 'ControlMaster=yes', '-o', 'ControlPersist=yes', '-f', '-N', ...this.#words],
      { stdio: ['ignore', 'ignore', 'inherit'] });
    if (error) throw error;
    if (status !== 0) throw new Error(`ssh cannot connect to ${host}: exit code ${status}`);
  }

  /** Returns the output of `command` and the milliseconds it took. sshd runs it by `$SHELL -c`. */
  run(command, input = '') { return this.#run(['-o', 'ControlMaster=no'], command, input); }

  /** The same over a connection of its own. */
  runAlone(command) { return this.#run(['-o', 'ControlMaster=no', '-o', 'ControlPath=none'], command, ''); }

  #run(options, command, input) {
    return new Promise((resolve, reject) => {
      const begin = performance.now();
      const child = spawn('ssh', [...options, ...this.#words, command]);
      const output = [];
      let errors = '';
      child.stdout.on('data', (data) => output.push(data));
      child.stderr.on('data', (data) => { errors += data; });
      child.stdin.on('error', () => {}); // The exit code reports it.
      child.on('error', reject);
      child.on('close', (code) => {
        const time = performance.now() - begin;
        if (code === 0) resolve({ output: Buffer.concat(output).toString(), time });
        else reject(new Error(`ssh ${command}: exit code ${code}\n${errors.slice(-2000)}`));
      });
      child.stdin.end(input);
    });
  }

  /** Closes the connection. */
  close() { spawnSync('ssh', ['-q', '-O', 'exit', ...this.#words], { stdio: 'ignore' }); }
}
