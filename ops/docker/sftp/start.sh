#!/bin/sh
# Creates the keys once, on their volumes, and starts the server.
set -eu

[ -s /host-keys/ssh_host_ed25519_key ] || ssh-keygen -q -t ed25519 -N '' -C sftp -f /host-keys/ssh_host_ed25519_key

# The workers' login key. Their user id is the same as this server's.
[ -s /login/id_ed25519 ] || ssh-keygen -q -t ed25519 -N '' -C review -f /login/id_ed25519

echo "HOTEL_REVIEW_SFTP_HOST_KEY=$(ssh-keygen -lf /host-keys/ssh_host_ed25519_key.pub | cut -d ' ' -f 2)"
exec /usr/sbin/sshd -D -e
