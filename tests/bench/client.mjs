// A client for MCP servers over standard input and output.

import { spawn } from 'node:child_process';
import { performance } from 'node:perf_hooks';

/** How long a server may take to exit after its standard input was closed, in milliseconds. */
const kExitTime = 10_000;
/** How long a server may take to answer, in milliseconds. */
const kAnswerTime = 300_000;
/** How much of a server's standard error is kept for error messages. */
const kKeptErrors = 2000;

export class Client {
  #command;
  #waiting = new Map();
  #partialLine = [];
  #next = 1;
  #errors = '';
  #failure;
  #closed;

  /** What the server told an agent at the handshake. */
  instructions = '';

  /** Starts the server. `command` is the program with its arguments. */
  constructor(command) {
    this.#command = command.join(' ');
    this.child = spawn(command[0], command.slice(1), { stdio: 'pipe' });
    this.child.stdout.on('data', (data) => this.#read(data));
    this.child.stderr.on('data', (data) => {
      this.#errors = (this.#errors + data).slice(-kKeptErrors);
    });
    this.child.stdin.on('error', () => {}); // The server has exited, which 'close' reports.
    this.#closed = new Promise((resolve) => {
      this.child.on('error', (error) => { this.#fail(error.message); resolve(); });
      this.child.on('close', () => { this.#fail('the server exited'); resolve(); });
    });
  }

  /** Rejects what waits for an answer, and all later requests. */
  #fail(reason) {
    this.#failure ??= new Error(`${this.#command}: ${reason}\n${this.#errors}`);
    for (const { reject } of this.#waiting.values()) reject(this.#failure);
    this.#waiting.clear();
  }

  #read(data) {
    for (let end; (end = data.indexOf(10)) >= 0; data = data.subarray(end + 1)) {
      const answered = performance.now();
      const text = Buffer.concat([...this.#partialLine, data.subarray(0, end)]).toString();
      this.#partialLine = [];
      const answer = JSON.parse(text);
      const waiting = this.#waiting.get(answer.id);
      if (!waiting) continue;
      this.#waiting.delete(answer.id);
      if (answer.error || answer.result.isError) {
        waiting.reject(new Error(`${this.#command}: ${text.slice(0, 500)}`));
      } else {
        waiting.resolve({ result: answer.result, answered });
      }
    }
    if (data.length) this.#partialLine.push(data);
  }

  async #exchange(method, params) {
    if (this.#failure) throw this.#failure;
    const id = this.#next++;
    const line = `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
    const answer = new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    const sent = performance.now();
    this.child.stdin.write(line);
    const giveUp = setTimeout(() => this.#fail(`no answer within ${kAnswerTime} ms`), kAnswerTime);
    try {
      const { result, answered } = await answer;
      return { result, time: answered - sent };
    } finally {
      clearTimeout(giveUp);
    }
  }

  /** Performs the handshake. Returns this client. */
  async start() {
    const { result } = await this.#exchange('initialize', {
      protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' },
    });
    this.instructions = result.instructions ?? '';
    this.child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
    return this;
  }

  /** Returns the result of a tool call. Throws if it is an error. */
  async call(name, args) { return (await this.timedCall(name, args)).result; }

  /**
   * Returns the result of a tool call, and the milliseconds from sending the request to the last byte
   * of the response. This client's own work on the JSON is not included.
   */
  timedCall(name, args) { return this.#exchange('tools/call', { name, arguments: args }); }

  /** The process number of the server. */
  get pid() { return this.child.pid; }

  /** Closes the server's standard input, and waits until the server has exited. */
  async close() {
    this.child.stdin.end();
    const kill = setTimeout(() => this.child.kill('SIGKILL'), kExitTime);
    await this.#closed;
    clearTimeout(kill);
  }
}
