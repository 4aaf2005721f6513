#!/bin/sh
# Creates the missing secrets of docker-compose.yml in the folder `secrets`, which only its owner may enter. The files are
# readable by all, because the containers read them as different users.
set -eu
cd "$(dirname "$0")/../.."
mkdir -p -m 0700 secrets

# make NAME COMMAND...: keeps an existing secret.
make() {
  name=$1
  shift
  [ -s "secrets/$name" ] || "$@" > "secrets/$name"
  chmod 0444 "secrets/$name"
}

# Passwords become part of an address: digits and letters only.
make postgres-password openssl rand -hex 24
make redis-password openssl rand -hex 24
make hash-key openssl rand -hex 32
make hook-secret sh -euc 'echo "whsec_$(openssl rand -base64 32)"'
