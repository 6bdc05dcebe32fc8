// SPDX-License-Identifier: Apache-2.0
// Compares the table that glob's own test reads with the answers of npm's minimatch.
//
// Each row of the table is a pattern, the paths that it matches here, other paths, and, for every
// path whose answer differs from minimatch's, the reason. A difference without a reason fails, and
// so does a reason without a difference.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { minimatch } from 'minimatch';

const table = JSON.parse(readFileSync(process.env.GLOB_TABLE, 'utf8'));
// What the tool's patterns have not: "!" and "#" at the beginning, and "+(a|b)".
const options = { dot: true, nonegate: true, nocomment: true, noext: true };

test('the table agrees with minimatch, but where it says why not', () => {
  let pairs = 0;
  const faults = [];
  for (const { pattern, matches, others, differs = {} } of table) {
    const unused = new Set(Object.keys(differs));
    const compare = (path, expected) => {
      pairs += 1;
      unused.delete(path);
      const pair = `${JSON.stringify(pattern)} and ${JSON.stringify(path)}`;
      const same = minimatch(path, pattern, options) === expected;
      if (!same && !differs[path]) faults.push(`${pair}: the table says ${expected}, minimatch not`);
      if (same && differs[path]) faults.push(`${pair}: minimatch agrees, but the table has a reason`);
    };
    for (const path of matches) compare(path, true);
    for (const path of others) compare(path, false);
    for (const path of unused) faults.push(`${pattern}: a reason for ${path}, which is no path of it`);
  }
  assert.deepEqual(faults, []);
  assert.ok(pairs >= 150, `${pairs} pairs`);
});
