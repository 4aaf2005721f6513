import { beforeEach, inject } from 'vitest';

/** Where the servers can't be started, each test of the project says how to install them. */
beforeEach(({ skip }) => {
  const servers = inject('servers');
  if ('needs' in servers) skip(servers.needs);
});
