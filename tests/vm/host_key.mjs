// SPDX-License-Identifier: Apache-2.0
// Gives an instance's ssh.config the form of Lima 2.3, which verifies the guest's host key. An older limactl
// writes its own form at each start.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { execute } from '../clients/client.mjs';

const directoryOf = (instance) => join(process.env.LIMA_HOME, instance);
const hostOf = (instance) => `lima-${instance.replace(/[._]/g, '-')}`;
export const knownHosts = (instance) => join(directoryOf(instance), 'ssh_known_hosts');

/** Records the keys that the running guest has. Does nothing if ssh.config names a record. */
export async function recordHostKey(instance) {
  const file = join(directoryOf(instance), 'ssh.config');
  const config = readFileSync(file, 'utf8');
  if (/HostKeyAlias/.test(config)) return;
  const keys = await execute('limactl', ['shell', '--workdir=/', instance, 'cat', '/etc/ssh/ssh_host_ed25519_key.pub',
    '/etc/ssh/ssh_host_ecdsa_key.pub', '/etc/ssh/ssh_host_rsa_key.pub'], undefined, process.env);
  const lines = keys.stdout.trim().split('\n');
  if (!lines[0]) throw new Error(`the guest has no host key: ${keys.stderr}`);
  writeFileSync(knownHosts(instance), lines.map((key) => `${hostOf(instance)} ${key}\n`).join(''));
  const without = config.replace(/^ *(StrictHostKeyChecking|UserKnownHostsFile|NoHostAuthenticationForLocalhost) .*\n/gm, '');
  writeFileSync(file, without.replace(/^Host .*\n/m, (host) => `${host}  StrictHostKeyChecking yes
  UserKnownHostsFile "${knownHosts(instance)}"
  HostKeyAlias ${hostOf(instance)}
  NoHostAuthenticationForLocalhost yes
`));
}
