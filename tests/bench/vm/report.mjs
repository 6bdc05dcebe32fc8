// The table and the JSON of `./dev bench --vm`.

import { kGoals } from './goals.mjs';

const median = (times) => {
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
 * One row for each of `works`: the times of each of `names` and of the reference, null where there are
 * none, and whether the goal is met, null where it cannot be said.
 */
export function rows(works, names, samples) {
  return works.map(({ id, name, referenceName = '' }) => {
    const times = Object.fromEntries(
      [...names, 'reference'].map((each) => [
        each, summary(samples.of(id, each), samples.failure(id, each)),
      ]));
    const goal = kGoals[id];
    const reached = ratio(times.ours, times[goal.of]);
    return {
      id, work: name, times, referenceName, goal,
      ratios: Object.fromEntries(
        Object.keys(times).map((each) => [each, ratio(times.ours, times[each])])),
      met: reached === null ? null : reached <= goal.factor,
    };
  });
}

const shownTime = (time) => {
  if (!time) return '–';
  if (time.failure) return 'failed';
  const { median_ms: middle } = time;
  return middle < 10 ? middle.toFixed(1) : Math.round(middle).toLocaleString('en');
};
const shownRatio = (value) => (value === null ? '–' : value.toFixed(2));
const shownMet = { true: 'yes', false: '**no**', null: '–' };

export function table(allRows, names) {
  const others = names.filter((name) => name !== 'ours');
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const heading = [
    'work', 'ours, ms', ...others.flatMap((name) => [`${name}, ms`, `ours/${name}`]),
    'reference, ms', 'ours/reference', 'goal', 'met?',
  ];
  return [
    line(heading),
    line(heading.map((_, i) => (i === 0 ? '---' : '--:'))),
    ...allRows.map(({ work, times, referenceName, ratios, goal, met }) => line([
      work, shownTime(times.ours),
      ...others.flatMap((name) => [shownTime(times[name]), shownRatio(ratios[name])]),
      times.reference ? `${shownTime(times.reference)} (${referenceName})` : '–',
      shownRatio(ratios.reference), `${goal.factor} × ${goal.of}`, shownMet[met],
    ])),
  ].join('\n');
}
