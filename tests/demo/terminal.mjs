// SPDX-License-Identifier: Apache-2.0
// Draws what a program printed to a terminal.

const [kFontSize, kCellWidth, kLineHeight, kMargin, kBarHeight] = [14, 8.43, 19, 18, 34];
const kTabWidth = 8;

const kStyles = new Map([
  ['1', 'bold'], ['2', 'dim'], ['31', 'red'], ['32', 'green'], ['34', 'blue'], ['36', 'cyan'],
]);

/** Lines of at most `columns` cells; a cell is a character and its classes. */
function cellsOf(text, columns) {
  const lines = [[]];
  let classes = '';
  for (const [, escape, character] of text.matchAll(/\x1b(?:\[([\d;]*)m)?|([^])/gu)) {
    if (character === undefined) {
      const styles = escape.split(';').filter((code) => Number(code) !== 0).map((code) => {
        if (!kStyles.has(code)) throw new Error(`unknown escape sequence ${escape}`);
        return kStyles.get(code);
      });
      classes = styles.join(' ');
    } else if (character === '\n') {
      lines.push([]);
    } else {
      const line = lines.at(-1);
      const width = character === '\t' ? kTabWidth - line.length % kTabWidth : 1;
      for (let i = 0; i < width; ++i) {
        if (lines.at(-1).length === columns) lines.push([]);
        lines.at(-1).push({ character: character === '\t' ? ' ' : character, classes });
      }
    }
  }
  return lines;
}

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const rounded = (number) => Math.round(number * 10) / 10;

/** One <text>, whose length holds whatever font is used. */
function lineOf(cells, y) {
  const text = cells.map(({ character }) => character).join('');
  const begin = text.search(/\S/);
  if (begin < 0) return '';
  const shown = cells.slice(begin, text.trimEnd().length);
  const runs = [];
  for (const { character, classes } of shown) {
    if (runs.at(-1)?.classes !== classes) runs.push({ classes, text: '' });
    runs.at(-1).text += character;
  }
  const spans = runs.map((run) =>
    (run.classes ? `<tspan class="${run.classes}">${escaped(run.text)}</tspan>` : escaped(run.text)));
  const [x, length] = [kMargin + begin * kCellWidth, shown.length * kCellWidth].map(rounded);
  return `<text x="${x}" y="${y}" textLength="${length}">${spans.join('')}</text>\n`;
}

/** An SVG of a terminal with `columns` columns. */
export function drawTerminal(text, columns, title) {
  const lines = cellsOf(text.trimEnd(), columns);
  const width = Math.ceil(columns * kCellWidth + 2 * kMargin);
  const height = kBarHeight + lines.length * kLineHeight + 2 * kMargin;
  const first = kBarHeight + kMargin + kFontSize;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title" xml:space="preserve">
<title id="title">${escaped(title)}</title>
<style>
text { font: ${kFontSize}px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #e6edf3; white-space: pre; }
.bold { font-weight: bold; }
.dim { fill: #9198a1; }
.red { fill: #ff7b72; }
.green { fill: #56d364; }
.blue { fill: #79c0ff; }
.cyan { fill: #56d4dd; }
</style>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="10" fill="#0d1117" stroke="#3d444d"/>
<path d="M1 ${kBarHeight}V10.5a9.5 9.5 0 0 1 9.5-9.5H${width - 10.5}a9.5 9.5 0 0 1 9.5 9.5V${kBarHeight}z" fill="#21262d"/>
<circle cx="22" cy="17" r="6" fill="#ff5f57"/><circle cx="42" cy="17" r="6" fill="#febc2e"/><circle cx="62" cy="17" r="6" fill="#28c840"/>
${lines.map((cells, i) => lineOf(cells, first + i * kLineHeight)).join('')}</svg>
`;
}
