// The MCP inspector's command line against the real binary.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { serverProgram, startInstance } from './instance.mjs';

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
