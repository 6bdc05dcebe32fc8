// SPDX-License-Identifier: Apache-2.0
// How the time of a copy's commands grows with the project, and with what the agent made.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { execute } from '../clients/client.mjs';
import { atExit } from '../clients/instance.mjs';

const kTenfold = [1, 10, 100, 1000];
const kName = 'user.name=user -c user.email=user@example.org';

// Each makes `count` of something: of the project before the first send, or in the copy.
const kProjects = {
  'files of the project': (count) => `mkdir -p d && cd d && seq ${count * 10} | xargs -n 1 -P 1 sh -c 'echo $0 >$0'`,
  'bytes of a file': (count) => `head -c ${count * 16384} /dev/urandom >big`,
  'depth of a path': (count) => `d=$(printf 'd/%.0s' $(seq ${Math.ceil(count / 2)})) && mkdir -p $d && echo x >"$d"x`,
  'commits of the project': (count) => `for i in $(seq ${count}); do echo commit refs/heads/main
echo "committer user <user@example.org> $((1700000000 + i)) +0000"; printf 'data 1\\nx'
[ $i -gt 1 ] || echo from refs/heads/main^0; printf 'M 644 inline f%s\\ndata 1\\nx\\n' $i; done | git fast-import --quiet && git reset -q --hard`,
  'uncommitted files': (count) => `seq -f u%g ${count} | xargs touch`,
  'ignored files': (count) => `mkdir i && echo /i/ >.gitignore && (cd i && seq ${count * 10} | xargs touch)`,
};
const kCopies = {
  'new files of the agent': (count) => `seq -f n%g ${count} | xargs touch`,
  'changed bytes': (count) => `head -c ${count * 16384} /dev/urandom >first`,
  'commits of the agent': (count) => `for i in $(seq ${Math.min(count, 300)}); do git -c ${kName} commit -q --allow-empty -m $i; done`,
  'branches of the agent': (count) => `id=$(git -c ${kName} commit-tree -p HEAD -m other HEAD^{tree})
seq -f "create refs/heads/b%g $id" ${Math.min(count, 300)} | git update-ref --stdin`,
  'tags of the agent': (count) => `id=$(git -c ${kName} commit-tree -p HEAD -m other HEAD^{tree})
seq -f "create refs/tags/t%g $id" ${Math.min(count, 300)} | git update-ref --stdin`,
};

/** Yields, for each series and size, the milliseconds of each command. `program` is ours; LIMA_HOME is set. */
export async function* copyGrowth(program) {
  const shell = (directory, script) => execFileSync('sh', ['-ec', script], { cwd: directory, stdio: ['ignore', 'ignore', 'inherit'] });
  const measure = async (makeProject, makeWork) => {
    const home = mkdtempSync(join(tmpdir(), 'lmcp-growth-'));
    const remove = () => rmSync(home, { recursive: true, force: true });
    atExit(remove);
    const [project, copy] = [join(home, 'project'), join(home, 'copy')];
    mkdirSync(project);
    shell(project, `git init -q -b main && echo first >first && git add . && git -c ${kName} commit -qm first`);
    shell(project, makeProject);
    const times = {};
    const run = async (...words) => {
      const begin = performance.now();
      const { code, stderr } = await execute(program, words, project, { ...process.env, HOME: home });
      if (code !== 0) throw new Error(`${words.join(' ')}: exit code ${code}\n${stderr}`);
      times[words[0]] = performance.now() - begin;
    };
    await run('copy', 'default', '--copy-dir', copy);
    shell(copy, makeWork);
    await run('diff', 'default', '--stat');
    await run('take', 'default');
    await run('drop', 'default');
    remove();
    return times;
  };
  for (const [name, make] of Object.entries(kProjects)) {
    for (const size of kTenfold) yield { name, size, times: await measure(make(size), 'echo more >>first') };
  }
  for (const [name, make] of Object.entries(kCopies)) {
    for (const size of kTenfold) yield { name, size, times: await measure(':', make(size)) };
  }
}
