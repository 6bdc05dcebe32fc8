// SPDX-License-Identifier: Apache-2.0
// The table, the JSON and the chart of what was measured.

import { kLoginShell } from './goals.mjs';

const begin = performance.now();
export const secondsSoFar = () => Math.round((performance.now() - begin) / 1000);
/** Says on standard error what happens. */
export const progress = (text) => process.stderr.write(`[${String(secondsSoFar()).padStart(4)}s] ${text}\n`);

export const median = (times) => {
  const sorted = [...times].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};

function summary(samples, failure) {
  if (failure) return { failure };
  if (!samples.length) return null;
  const [lowest, highest] = [Math.min(...samples), Math.max(...samples)];
  return { median_ms: median(samples), lowest_ms: lowest, highest_ms: highest, samples };
}

const ratio = (time, other) =>
  (time?.median_ms && other?.median_ms ? time.median_ms / other.median_ms : null);

/**
 * One row for each of `works`: the times of each of `names` and of the reference, null if there are
 * none, and whether the goal is met, null if that cannot be decided.
 */
export function rows(works, goals, names, samples) {
  const times = (id, name) => summary(samples.of(id, name), samples.failure(id, name));
  const loginShell = times(kLoginShell, 'reference');
  return works.map(({ id, name, referenceName = '' }) => {
    const all = Object.fromEntries([...names, 'reference'].map((each) => [each, times(id, each)]));
    const goal = goals[id];
    const reached = ratio(all.ours, goal.of === 'login shell' ? loginShell : all[goal.of]);
    return {
      id, work: name, times: all, referenceName, goal,
      ratios: Object.fromEntries(
        Object.keys(all).map((each) => [each, ratio(all.ours, all[each])])),
      met: reached === null ? null : reached <= goal.factor,
    };
  });
}

const shownNumber = (value) =>
  (value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString('en'));
const shownTime = (time) => {
  if (!time) return '–';
  return time.failure ? 'failed' : shownNumber(time.median_ms);
};
const shownRatio = (value) => (value === null ? '–' : value.toFixed(2));
const shownMet = { true: 'yes', false: '**no**', null: '–' };

/** A table of which all columns but the first are numbers. */
export const numberTable = (heading, allRows) =>
  [heading, heading.map((_, i) => (i ? '--:' : '---')), ...allRows]
    .map((cells) => `| ${cells.join(' | ')} |`).join('\n');

export function table(allRows, names) {
  const others = names.filter((name) => name !== 'ours');
  const heading = [
    'work', 'ours, ms', ...others.flatMap((name) => [`${name}, ms`, `ours/${name}`]),
    'reference, ms', 'ours/reference', 'goal', 'met?',
  ];
  return numberTable(heading, allRows.map(({ work, times, referenceName, ratios, goal, met }) => [
    work, shownTime(times.ours),
    ...others.flatMap((name) => [shownTime(times[name]), shownRatio(ratios[name])]),
    times.reference ? `${shownTime(times.reference)} (${referenceName})` : '–',
    shownRatio(ratios.reference), `${Number(goal.factor.toFixed(2))} × ${goal.of}`, shownMet[met],
  ]));
}

/** `limits` are rows of { what, value, unit, goal }. */
export const limitTable = (limits) => numberTable(['', 'ours', 'goal', 'met?'],
  limits.map(({ what, value, unit, goal }) =>
    [what, `${shownNumber(value)} ${unit}`, `${shownNumber(goal)} ${unit}`, shownMet[value <= goal]]));

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('`', '');

/** An SVG bar chart of the rows that have a reference. */
export function chart(allRows) {
  const [labels, bars, rowHeight, longest] = [330, 360, 46, 2];
  const compared = allRows.filter(({ ratios }) => ratios.reference !== null);
  const width = (share) => Math.max(Math.round(Math.min(share, longest) / longest * bars), 2);
  const bar = (y, share, colour, text) =>
    `<rect x="${labels}" y="${y}" width="${width(share)}" height="14" fill="${colour}"/>
<text x="${labels + width(share) + 6}" y="${y + 11}">${escaped(text)}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${labels + bars + 110}" height="${40 + rowHeight * compared.length}" font-family="sans-serif" font-size="13">
<rect width="100%" height="100%" fill="white"/>
<text x="10" y="22" font-weight="bold">limactl-mcp beside the usual tools (shorter is better)</text>
${compared.map(({ work, times, ratios, referenceName }, i) => {
    const y = 40 + rowHeight * i;
    return `<text x="${labels - 10}" y="${y + 14}" text-anchor="end">${escaped(work)}</text>
${bar(y + 3, ratios.reference, '#2a7f62', `${shownTime(times.ours)} ms`)}
${bar(y + 20, 1, '#bbbbbb', `${shownTime(times.reference)} ms ${referenceName}`)}`;
  }).join('\n')}
</svg>
`;
}
