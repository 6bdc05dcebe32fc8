// SPDX-License-Identifier: Apache-2.0
// Draws what `soak` has measured as an SVG: memory, descriptors, threads and guest processes over the calls,
// one below the other, with a mark for each fault.

const [kWidth, kLeft, kRight, kTop, kHeight, kGap] = [760, 60, 740, 40, 90, 54];
const kPanels = [
  ['mebibytes', 'resident memory of the largest server, MiB'],
  ['descriptors', 'its open descriptors'],
  ['threads', 'its threads'],
  ['guest_processes', 'processes in the guest'],
];

export function chart({ samples, faults_at: faults }) {
  const calls = samples.at(-1).calls;
  const across = (at) => Math.round(kLeft + at / calls * (kRight - kLeft));
  const panels = kPanels.map(([key, title], i) => {
    const bottom = kTop + (i + 1) * (kHeight + kGap) - kGap / 2;
    const most = Math.max(1, ...samples.map((sample) => sample[key]));
    const points = samples.map((sample) =>
      `${across(sample.calls)},${Math.round(bottom - sample[key] / most * kHeight)}`);
    return `<text x="${kLeft}" y="${bottom - kHeight - 12}">${title}</text>
<text x="${kLeft - 6}" y="${bottom - kHeight + 6}" text-anchor="end">${Math.round(most)}</text>
<text x="${kLeft - 6}" y="${bottom}" text-anchor="end">0</text>
<path d="M${kLeft} ${bottom} H${kRight}" stroke="#999999"/>
${faults.map((at) => `<path d="M${across(at)} ${bottom} v6" stroke="#b03030"/>`).join('\n')}
<polyline fill="none" stroke="#2a7f62" points="${points.join(' ')}"/>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${kWidth}" height="${kTop + kPanels.length * (kHeight + kGap)}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="white"/>
<text x="10" y="22" font-size="13" font-weight="bold">${calls} mixed calls, ${faults.length} faults (marks)</text>
${panels.join('\n')}
</svg>
`;
}
