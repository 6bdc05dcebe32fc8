// The goals of `./dev bench --vm`. A goal is a multiple of the time that Lima's plugin takes in the
// same run, or of the reference's time: ratios hold from machine to machine, times do not.

const ofPlugin = (factor) => ({ of: 'plugin', factor });
const ofReference = (factor) => ({ of: 'reference', factor });

/** By the `id` of the work. */
export const kGoals = {
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
