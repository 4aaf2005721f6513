import { chromiumNeeds } from './chromium.js';
import { dovecotNeeds } from './dovecot.js';
import { certificateNeeds, fakeTimeNeeds } from './machine.js';
import { mariadbNeeds } from './mariadb.js';
import { postgresNeeds } from './postgres.js';
import { redisNeeds } from './redis.js';
import { openSsh, proFtpd } from './sftp-programs.js';

/** What most of these tests need besides Node; the value is what is missing. */
const programs: Readonly<Record<string, string | undefined>> = {
  PostgreSQL: postgresNeeds,
  Redis: redisNeeds,
  MariaDB: mariadbNeeds,
  Dovecot: dovecotNeeds,
  OpenSSH: openSsh.needs,
  ProFTPD: proFtpd.needs,
  OpenSSL: certificateNeeds,
  faketime: fakeTimeNeeds,
  Chromium: chromiumNeeds,
};

/** Says before the tests what is missing here, and how to get it. */
export default function announceServers(): void {
  const missing = Object.values(programs).filter((needs) => needs !== undefined);
  const found = Object.keys(programs).filter((name) => programs[name] === undefined);
  console.log(`Servers and programs found: ${found.length > 0 ? found.join(', ') : 'none'}`);
  for (const needs of missing) console.log(`MISSING, so its tests are skipped: ${needs}`);
  if (missing.length > 0) console.log('On Debian and Ubuntu, .ci/run installs all of them, as root.');
}
