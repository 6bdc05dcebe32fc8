// SPDX-License-Identifier: Apache-2.0
// An instance from the template agent-closed: attack.sh tries 67 ways out of it or up in it while a server of
// ours with its proxy runs, after the first boot and after a restart.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { eventually, kBootTimeout, limactl, mcp, tryLimactl, vmTest } from './machine.mjs';

const instance = 'closed';
const template = join(dirname(process.env.LIMACTL_MCP_VM_TEMPLATE), 'agent-closed.yaml');
const attack = readFileSync(new URL('attack.sh', import.meta.url), 'utf8');
const home = '/home/somebody';
/** Small, because the other instance runs too. All else is the template's. */
const create = ['start', '--timeout=30m', '--cpus=1', '--memory=2', '--disk=6', `--name=${instance}`, '--set',
  `.param.hostHome="${home}" | .param.packages="curl git python3"`, template];

vmTest('nothing leaves an instance from agent-closed, also after a restart', async (session) => {
  const remove = () => tryLimactl('delete', '--force', instance);
  await remove();
  try {
    await limactl(...create);
    await session.serve([`--allow-path=${home}:w`, '--command-timeout=20m'], instance);
    for (const boot of ['first', 'second']) {
      const doctor = await mcp('doctor', instance);
      assert.equal(doctor.code, 0, doctor.stdout);
      assert.match(doctor.stdout, /ok +network +closed /);
      await eventually('the server has connected', async () =>
        !(await session.call('list_directory', { path: home })).isError);
      await session.write(join(home, 'attack.sh'), attack);
      const { structuredContent } = await session.call('run_shell_command',
        { command: ['bash', 'attack.sh'], directory: home }, {}, kBootTimeout);
      assert.match(structuredContent.stdout, /^67 of 67 closed$/m, `${boot} boot: ${structuredContent.stdout}`);
      const denied = await session.call('run_shell_command',
        { command: ['curl', '-sS', 'https://other.example'], directory: home });
      assert.match(JSON.stringify(denied), /denied other.example:443.*limactl mcp allow closed other.example/);
      if (boot === 'first') {
        await limactl('stop', instance);
        await limactl('start', '--timeout=30m', instance);
      }
    }
  } finally {
    await remove();
  }
});
