# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# A loop of the user's bash after its profile: the program command_loop.sh. resident_script.cc sets
# _lm_shell and _lm_loop.

obey() {
  pass_requests
}

# 7 shows the loop whether the profile has redirected its output. 6 brings the marker past the profile;
# its modification time is the start of the shell.
start() {
  case $_lm_shell in
    bash | */bash)
      (
        exec "$_lm_shell" -l -c "$_lm_loop" 7>&1 2>&8 6<<END
$_lm_marker $watcher $$
END
      )
      status=$?
      ;;
    *) status=1 ;;
  esac
  stop_rest
}
