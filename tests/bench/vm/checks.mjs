// Checks of answers: a server that answers wrongly is not worth measuring.

/** Throws unless `right`. `what` was expected, `answer` came. */
export function expect(right, what, answer) {
  if (!right) throw new Error(`wrong answer, ${what}: ${JSON.stringify(answer).slice(0, 500)}`);
}

/** The lines that are not empty. */
export const lines = (output) => output.split('\n').filter(Boolean);
