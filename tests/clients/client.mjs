// SPDX-License-Identifier: Apache-2.0
// A client for MCP servers over standard input and output.

import { spawn } from 'node:child_process';
import { performance } from 'node:perf_hooks';

/** How long a server may take to exit after its standard input was closed, in milliseconds. */
const kExitTime = 10_000;
/** How long a server may take to answer, in milliseconds. */
const kAnswerTime = 300_000;
/** How much of a server's standard error is kept for error messages. */
const kKeptErrors = 2000;

/** Runs a program. Returns its exit code, or the signal that ended it, and its output. */
export function execute(program, words, cwd, env, { input = '', timeout } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { cwd, env, timeout });
    child.stdin.on('error', () => {}); // It may exit without reading.
    child.stdin.end(input);
    const ended = { stdout: '', stderr: '' };
    for (const stream of ['stdout', 'stderr']) {
      child[stream].on('data', (data) => { ended[stream] += data; });
    }
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code: code ?? signal, ...ended }));
  });
}

/** Starts a program in a process group of its own. `ended` becomes its exit code, or the signal that ended it. */
export function startGroup(program, words, cwd, env) {
  const child = spawn(program, words, { cwd, env, stdio: 'ignore', detached: true });
  const ended = new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve(code ?? signal));
  });
  return { pid: child.pid, ended };
}

export class Client {
  #command;
  #name;
  #waiting = new Map();
  #cancelled = new Set(); // may still be answered, if they were done before
  #partialLine = [];
  #next = 1;
  #failure;
  #closed;

  /** What the server told an agent at the handshake. */
  instructions = '';
  /** The end of its standard error. */
  log = '';
  onNotification = () => {};

  /** Starts the server. `command` is the program with its arguments; `name` is the client's, and `options`
   *  are those of spawn. */
  constructor(command, { name = 'bench', ...options } = {}) {
    this.#command = command.join(' ');
    this.#name = name;
    this.child = spawn(command[0], command.slice(1), { ...options, stdio: 'pipe' });
    this.child.stdout.on('data', (data) => this.#read(data));
    this.child.stderr.on('data', (data) => { this.log = (this.log + data).slice(-kKeptErrors); });
    this.child.stdin.on('error', () => {}); // The server has exited, which 'close' reports.
    this.#closed = new Promise((resolve) => {
      this.child.on('error', (error) => { this.#fail(error.message); resolve(); });
      this.child.on('close', (code) => { this.#fail('the server exited'); resolve(code); });
    });
  }

  /** Rejects what waits for an answer, and all later requests. */
  #fail(reason) {
    this.#failure ??= new Error(`${this.#command}: ${reason}\n${this.log}`);
    for (const id of this.#waiting.keys()) this.#take(id).reject(this.#failure);
  }

  /** Ends the wait for an answer. */
  #take(id) {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    clearTimeout(waiting?.timer);
    return waiting;
  }

  #read(data) {
    for (let end; (end = data.indexOf(10)) >= 0; data = data.subarray(end + 1)) {
      const answered = performance.now();
      const text = Buffer.concat([...this.#partialLine, data.subarray(0, end)]).toString();
      this.#partialLine = [];
      const answer = JSON.parse(text);
      if (answer.id === undefined) this.onNotification(answer);
      const waiting = this.#take(answer.id);
      const isExpected = waiting || answer.id === undefined || this.#cancelled.delete(answer.id);
      if (!isExpected) this.#fail(`a response to no request: ${text.slice(0, 500)}`);
      if (answer.error) waiting?.reject(new Error(`${this.#command}: ${text.slice(0, 500)}`));
      else waiting?.resolve({ result: answer.result, time: answered - waiting.sent });
    }
    if (data.length) this.#partialLine.push(data);
  }

  #send(message) { this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`); }

  /**
   * Sends a request. Returns a promise with its `id`, of the result and of the milliseconds from sending
   * the request to the last byte of the response; this client's own work on the JSON is not included.
   */
  request(method, params = {}, milliseconds = kAnswerTime) {
    const id = this.#next++;
    const line = `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
    const answer = new Promise((resolve, reject) => {
      if (this.#failure) throw this.#failure;
      const timer = setTimeout(() => this.#fail(`no answer within ${milliseconds} ms`), milliseconds);
      this.#waiting.set(id, { resolve, reject, timer, sent: performance.now() });
      this.child.stdin.write(line);
    });
    return Object.assign(answer, { id });
  }

  /** Cancels a request, whose promise never settles. */
  cancel(id) {
    this.#take(id);
    this.#cancelled.add(id);
    this.#send({ method: 'notifications/cancelled', params: { requestId: id } });
  }

  /** Performs the handshake. Returns this client. */
  async start() {
    const { result } = await this.request('initialize', {
      protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: this.#name, version: '1' },
    });
    this.instructions = result.instructions ?? '';
    this.#send({ method: 'notifications/initialized' });
    return this;
  }

  /** Returns the result of a tool call. Throws if it is an error. */
  async call(name, args) { return (await this.timedCall(name, args)).result; }

  /** Returns the result of a tool call, and its milliseconds. Throws if it is an error. */
  async timedCall(name, args) {
    const timed = await this.request('tools/call', { name, arguments: args });
    if (timed.result.isError) throw new Error(`${this.#command}: ${JSON.stringify(timed.result).slice(0, 500)}`);
    return timed;
  }

  /** The process number of the server. */
  get pid() { return this.child.pid; }

  /** The first directory that the instructions call writable. */
  get writableRoot() {
    const found = /^- (\/.*) \(writable\)$/m.exec(this.instructions);
    if (!found) {
      throw new Error('the instance has no writable mount; make one, for example with ' +
        'limactl start --mount-only "$PWD:w" --name agent');
    }
    return found[1];
  }

  /** Closes the server's standard input, and waits until the server has exited. Returns its exit code. */
  async close() {
    this.child.stdin.end();
    const kill = setTimeout(() => this.child.kill('SIGKILL'), kExitTime);
    const code = await this.#closed;
    clearTimeout(kill);
    return code;
  }
}
