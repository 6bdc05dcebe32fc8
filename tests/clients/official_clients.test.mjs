// SPDX-License-Identifier: Apache-2.0
// The official TypeScript clients against the real binary: one suite, run with each client in each
// of its eras. Both SDKs check what they receive against the protocol's own schemas; every result is
// also checked here against the tool's output schema. And the MCP inspector's command line.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import Ajv from 'ajv/dist/2020.js';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { Client as ModernClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernTransport } from '@modelcontextprotocol/client/stdio';

import { serverProgram, startInstance } from './instance.mjs';

const identity = { name: 'limactl-mcp-test', version: '1' };
const toolNames = ['glob', 'list_directory', 'read_file', 'read_process', 'replace',
  'run_shell_command', 'search_file_content', 'start_process', 'write_file', 'write_process'];

const flavours = [
  {
    name: 'sdk 1.x',
    era: 'legacy',
    async connect(server) {
      const client = new LegacyClient(identity);
      await client.connect(new LegacyTransport(server));
      return {
        client,
        call: (params, options) => client.callTool(params, CallToolResultSchema, options),
      };
    },
  },
  ...[
    { name: 'client 2.x, legacy', era: 'legacy', mode: 'legacy' },
    { name: 'client 2.x, finding out', era: 'modern', mode: 'auto' },
    { name: 'client 2.x, modern', era: 'modern', mode: { pin: '2026-07-28' } },
  ].map(({ name, era, mode }) => ({
    name,
    era,
    async connect(server) {
      const client = new ModernClient(identity, { versionNegotiation: { mode } });
      await client.connect(new ModernTransport(server));
      assert.equal(client.getProtocolEra(), era);
      return { client, call: (params, options) => client.callTool(params, options) };
    },
  })),
];

/** Rejects as the clients do when a request is cancelled or times out. */
const isAbort = (error) => /abort|cancel|time|withdrawn/i.test(String(error));

for (const flavour of flavours) {
  describe(flavour.name, () => {
    let instance;
    let client;
    let call;
    let validators;

    before(async () => {
      instance = await startInstance();
      ({ client, call } = await flavour.connect(instance.server));
      const { tools } = await client.listTools();
      const ajv = new Ajv();
      validators = new Map(tools.map((tool) => [tool.name, ajv.compile(tool.outputSchema)]));
    });

    after(async () => {
      await client?.close();
      await instance?.stop();
    });

    /** Calls a tool that must succeed and returns its structured content. */
    async function succeed(name, args, options) {
      const result = await call({ name, arguments: args }, options);
      assert.ok(!result.isError, JSON.stringify(result));
      const validate = validators.get(name);
      assert.ok(validate(result.structuredContent), JSON.stringify(validate.errors));
      assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
      return result.structuredContent;
    }

    async function fail(name, args) {
      const result = await call({ name, arguments: args });
      assert.equal(result.isError, true, JSON.stringify(result));
      assert.equal(result.structuredContent, undefined);
      return result.content[0].text;
    }

    test('says who it is and which mounts there are', () => {
      assert.equal(client.getServerVersion().name, 'lima');
      assert.ok(client.getInstructions().includes(`${instance.project} (writable)`));
    });

    test('lists the tools in alphabetical order', async () => {
      const { tools, nextCursor } = await client.listTools();
      assert.deepEqual(tools.map((tool) => tool.name), toolNames);
      assert.equal(nextCursor, undefined);
      for (const tool of tools) assert.ok(tool.title && tool.description && tool.annotations);
    });

    test('writes a file and reads it back', async () => {
      const path = join(instance.project, 'dir', 'a.txt');
      const content = 'one\r\ntwo \u{1F600}\n\ufeffthree';
      assert.deepEqual(await succeed('write_file', { path, content }), {});
      assert.equal(readFileSync(path, 'utf8'), content);
      assert.deepEqual(await succeed('read_file', { path }), { content });
    });

    test('lists, globs and searches', async () => {
      const path = join(instance.project, 'found.txt');
      writeFileSync(path, 'first\nneedle in line two\n');
      const { entries } = await succeed('list_directory', { path: instance.project });
      assert.ok(entries.some((entry) => entry.name === 'found.txt' && entry.size === 25));
      const { matches } = await succeed('glob',
        { pattern: 'found.*', path: instance.project });
      assert.deepEqual(matches, [path]);
      const { git_grep_output: output } = await succeed('search_file_content',
        { pattern: 'needle', path: instance.project });
      assert.equal(output.trimEnd(), 'found.txt:2:needle in line two');
    });

    test('runs a command and tells its exit code', async () => {
      const result = await succeed('run_shell_command',
        { command: ['sh', '-c', 'echo out; echo err >&2; exit 7'], directory: instance.project });
      assert.deepEqual(result,
        { stdout: 'out\n', stderr: 'err\n', exit_code: 7, error: 'exit status 7' });
    });

    test('refuses a path outside the mounts', async () => {
      assert.match(await fail('read_file', { path: '/etc/passwd' }), /\/etc\/passwd/);
    });

    test('refuses arguments that break the schema', async () => {
      assert.match(await fail('read_file', { path: 7 }), /^validating "arguments": /);
    });

    test('an unknown tool is a protocol error', async () => {
      await assert.rejects(call({ name: 'no_such_tool', arguments: {} }), /-32602|unknown tool/);
    });

    test('carries a result of several megabytes', async () => {
      const path = join(instance.project, 'big.txt');
      const content = 'a line of text with "quotes" and \\ and é\n'.repeat(80_000);
      writeFileSync(path, content);
      assert.equal((await succeed('read_file', { path })).content, content);
      writeFileSync(path, content + content);
      const refused = await call({ name: 'read_file', arguments: { path } });
      assert.ok(refused.isError);
      assert.match(refused.content[0].text, /read it in parts/);
    });

    test('a cancelled command ends in the guest, and the next call works', async () => {
      const started = join(instance.project, 'started');
      const ended = join(instance.project, 'ended');
      const controller = new AbortController();
      const running = call({
        name: 'run_shell_command',
        arguments: {
          command: ['bash', '-c', `trap 'touch ${ended}; exit' TERM; touch ${started}; sleep 60 & wait`],
          directory: instance.project,
        },
      }, { signal: controller.signal });
      running.catch(() => {});
      await until(() => existsSync(started));
      controller.abort(new Error('aborted by the test'));
      await assert.rejects(running, isAbort);
      await until(() => existsSync(ended));
      await succeed('list_directory', { path: instance.project });
    });

    test('the client’s own time limit cancels', async () => {
      await assert.rejects(call({
        name: 'run_shell_command',
        arguments: { command: ['sleep', '60'], directory: instance.project },
      }, { timeout: 300 }), isAbort);
      await succeed('list_directory', { path: instance.project });
    });

    test('progress resets the client’s time limit', async () => {
      const seen = [];
      const result = await succeed('run_shell_command',
        { command: ['sh', '-c', 'for i in 1 2 3 4; do echo $i; sleep 1; done'],
          directory: instance.project },
        { timeout: 3000, resetTimeoutOnProgress: true, onprogress: (value) => seen.push(value) });
      assert.equal(result.stdout, '1\n2\n3\n4\n');
      assert.ok(seen.length >= 2, `${seen.length} notifications`);
      for (let i = 1; i < seen.length; ++i) assert.ok(seen[i].progress > seen[i - 1].progress);
    });

    test('answers calls beside a long one', async () => {
      const long = succeed('run_shell_command',
        { command: ['sleep', '1'], directory: instance.project });
      let longEnded = false;
      long.then(() => { longEnded = true; });
      await Promise.all(Array.from({ length: 50 },
        () => succeed('list_directory', { path: instance.project })));
      assert.equal(longEnded, false);
      await long;
    });
  });
}

const inspector = join(import.meta.dirname, 'node_modules', '.bin', 'mcp-inspector');

describe('inspector', () => {
  let instance;
  before(async () => { instance = await startInstance(); });
  after(async () => { await instance?.stop(); });

  async function inspect(...options) {
    const { stdout } = await promisify(execFile)(process.execPath,
      [inspector, '--cli', '-e', `LIMA_HOME=${instance.limaHome}`, ...options, '--',
        serverProgram, 'serve', 'default'], { timeout: 60_000 });
    return JSON.parse(stdout);
  }

  test('lists the tools', async () => {
    const { tools } = await inspect('--method', 'tools/list');
    assert.equal(tools.length, 10);
  });

  test('finds no fault with the schemas', async () => {
    const { tools } = await inspect('--method', 'tools/list', '--strict');
    assert.equal(tools[0].name, 'glob');
  });

  test('calls a tool', async () => {
    const result = await inspect('--method', 'tools/call', '--tool-name', 'list_directory',
      '--tool-arg', `path=${instance.project}`);
    assert.deepEqual(result.structuredContent, { entries: [] });
  });
});

/** Waits until `condition` holds: the guest's processes send no event when they exit. */
async function until(condition) {
  const deadline = Date.now() + 20_000;
  while (!condition()) {
    assert.ok(Date.now() < deadline, `still not so: ${condition}`);
    await new Promise((resolve) => { setTimeout(resolve, 20); });
  }
}
