# Shared by .ci/run and .ci/nightly: runs named parts and measures their time, installs the programs that the tests need, and
# provides other versions of Node.

# shellcheck shell=bash

times=()

# part NAME COMMAND...
part() {
  local name=$1 before=$SECONDS
  shift
  echo "=== $name"
  "$@"
  times+=("$(printf '%4d s  %s' $((SECONDS - before)) "$name")")
}

# meanwhile COMMAND...: runs it in the background; `finish` waits for it, and shows what it wrote.
meanwhile() {
  meanwhile_log=$(mktemp)
  setsid bash -c "source .ci/parts.sh; $*" >"$meanwhile_log" 2>&1 </dev/null &
  meanwhile_job=$!
}

finish() {
  local code=0
  wait "$meanwhile_job" || code=$?
  meanwhile_job=
  cat "$meanwhile_log"
  return "$code"
}

# Ends whatever is still running in the background when a part has failed.
stop_meanwhile() {
  [ -z "${meanwhile_job:-}" ] || kill -- "-$meanwhile_job" 2>/dev/null || true
}

report_times() {
  echo '=== times'
  printf '%s\n' "${times[@]}" "$(printf '%4d s  total' $SECONDS)"
}

# Real servers and clients for the tests: openssl, two SFTP servers, databases, Redis, an IMAP server, curl, Python, a browser
# with its fonts, shells, and the checks of systemd and Prometheus.
install_programs() {
  local package missing=()
  for package in openssl openssh-server openssh-client proftpd-core proftpd-mod-crypto curl python3 \
    redis-server postgresql mariadb-server dovecot-imapd faketime systemd prometheus prometheus-node-exporter \
    chromium fonts-dejavu-core zsh fish; do
    dpkg-query --show --showformat='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  if [ ${#missing[@]} -gt 0 ]; then
    apt-get update
    apt-get install -y --no-install-recommends "${missing[@]}"
  fi
  # PostgreSQL runs under its own account and must be able to open it; on some machines only root can.
  [ -w /dev/null ] && [ "$(stat -c %a /dev/null)" = 666 ] || chmod 666 /dev/null
}

# with_node VERSION COMMAND...: runs it with that major version of Node first on the PATH. npm looks for its global settings (a
# registry, a proxy, a certificate) beside Node, so it is told where this machine has them.
with_node() {
  local version=$1 folder package settings
  shift
  folder=$PWD/node_modules/.cache/node-$version
  package=node-linux-$(node -p process.arch)
  [ -x "$folder/node_modules/$package/bin/node" ] ||
    npm install --prefix "$folder" --no-audit --no-fund --loglevel=error "$package@$version"
  settings=$(npm config get globalconfig)
  PATH="$folder/node_modules/$package/bin:$PATH" npm_config_globalconfig=$settings "$@"
}
