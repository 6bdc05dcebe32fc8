// SPDX-License-Identifier: Apache-2.0
// The goals. A goal is a multiple of another time of the same run: ratios hold from machine to machine,
// times do not. Only the works with a goal are measured.

const ofPlugin = (factor) => ({ of: 'plugin', factor });
const ofReference = (factor) => ({ of: 'reference', factor });

/** For `./dev bench --vm`, by the `id` of the work. */
const kVmGoals = {
  mixed: ofPlugin(0.5),
  mixed_with_pauses: ofPlugin(0.5),
  ls_after_write: ofPlugin(0.4),
  true_after_pause: ofPlugin(0.15),
  write_4k: ofPlugin(1.5), // Ours is atomic and synced.
  write_4k_interleaved: ofPlugin(1.5),
  glob_one_directory: ofPlugin(0.8),
  list_few: ofPlugin(0.9),
  list_100: ofPlugin(1.0), // sftp-server's lstat of each name is the limit.
  read_4k: ofPlugin(0.6),
  glob_10000: ofReference(1.3),
  search_100: ofPlugin(1.0),
  read_16m: ofReference(1.2),
  write_16m: ofReference(1.4), // "Keep": what it was when the goals were set.
  output_16m: ofReference(1.1),
};

/**
 * Milliseconds that are aimed at on a machine where a command in a login shell takes 7.6 ms over a
 * shared ssh connection. On another machine they are scaled by that command's time.
 */
const scaled = (milliseconds) => ({ of: 'login shell', factor: milliseconds / 7.6 });

/** For `./dev bench`, by the `id` of the work. */
const kLocalGoals = {
  start: scaled(3),
  start_list: ofReference(1),
  true: scaled(2),
  read_4k: scaled(0.5),
  write_4k: scaled(2),
  list_100: scaled(0.6),
  glob_10000: ofReference(1.5),
  search_10000: ofReference(1.2),
  read_16m: scaled(60),
  write_16m: scaled(160),
  output_16m: ofReference(1.3),
};

/** The work whose reference is a command in a login shell. */
export const kLoginShell = 'true';

export const kGoals = { vm: kVmGoals, local: kLocalGoals };
