import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { completePostgresUrl } from '../../src/base/connection-security.js';
import { LedgerUnusableError } from '../../src/ledger/errors.js';
import { certificateNeeds } from '../support/machine.js';
import { serveOverTls } from '../support/postgres.js';
import { usePostgres } from '../support/use-servers.js';
import { type OpenedPostgresLedger, openNewPostgresLedger } from './opened-postgres.js';

describe('the ledger on PostgreSQL over TLS', () => {
  const postgres = usePostgres();
  let opened: OpenedPostgresLedger;
  beforeEach(async ({ skip }) => {
    skip(certificateNeeds !== undefined, certificateNeeds);
    opened = await openNewPostgresLedger(postgres());
  });
  afterEach(() => opened.cleanUp());

  /** As the configuration gives it to the ledger. */
  const openWith = (ca: string) =>
    opened.open({ url: completePostgresUrl(`${postgres().overTcp(opened.url)}?sslrootcert=${ca}`, '/') });

  it('encrypts all its connections if the address names the server’s authority', async () => {
    const ledger = openWith(await serveOverTls(postgres(), opened.url, 'IP:127.0.0.1'));
    await ledger.runs.list({ limit: 1 });
    const sessions = await opened.query(
      `SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
       WHERE application_name = 'hotel-review' AND datname = current_database() AND client_addr IS NOT NULL`,
    );
    expect(sessions).toEqual([{ ssl: true }]);
  });

  it('refuses the certificate of another server, and shows nothing of the password', async () => {
    const ledger = openWith(await serveOverTls(postgres(), opened.url, 'DNS:elsewhere'));
    const failure = await ledger.runs.list({ limit: 1 }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(LedgerUnusableError);
    expect(String(failure)).toContain('ERR_TLS_CERT_ALTNAME_INVALID');
  });
});
