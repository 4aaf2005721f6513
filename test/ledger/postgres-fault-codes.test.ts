import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { LedgerFullError, LedgerUnusableError } from '../../src/ledger/errors.js';
import { TemporaryFault, translateFault } from '../../src/ledger/postgres/session.js';

const place = 'postgres://hotel@db/day';

/** What the driver throws. */
const failure = (code: string, message = 'the guest Ana Gil') => Object.assign(new Error(message), { code });

describe('a failure of PostgreSQL', () => {
  it.each([
    ['a deadlock', '40P01'],
    ['a conflict with another transaction', '40001'],
    ['a lock that somebody holds for too long', '55P03'],
  ])('is temporary, and the connection is kept: %s', (_, code) => {
    const fault = translateFault(failure(code), place);
    expect(fault).toBeInstanceOf(TemporaryFault);
    expect(fault).toMatchObject({ code, endsConnection: false });
  });

  it.each([
    ['a server that shuts down', '57P01'],
    ['a transaction that was idle for too long', '25P03'],
    ['a server that takes no writes, as after a failover', '25006'],
    ['a broken pipe', 'EPIPE'],
    ['a protocol error of a busy pooler', '08P01', 'query_wait_timeout'],
  ])('is temporary, and the connection is given up: %s', (_, code, message?: string) => {
    expect(translateFault(failure(code, message), place)).toMatchObject({ code, endsConnection: true });
  });

  it('is temporary, too, if the driver gives no code or throws something else', () => {
    for (const error of [new Error('Connection terminated'), 'gone']) {
      expect(translateFault(error, place)).toMatchObject({ code: 'connection-lost', endsConnection: true });
    }
  });

  it.each([
    ['a certificate of an unknown authority', failure('SELF_SIGNED_CERT_IN_CHAIN'), 'sslrootcert=FILE'],
    ['a certificate of another server', failure('ERR_TLS_CERT_ALTNAME_INVALID'), 'sslrootcert=FILE'],
    ['a host that pg_hba.conf does not list', failure('28000'), 'pg_hba.conf'],
    ['a password that is wrong', failure('28P01'), 'refused the user or the password'],
    ['a database that does not exist', failure('3D000'), 'createdb'],
    ['a pooler that refuses our settings', failure('08P01'), 'needs session pooling'],
    ['a user without rights', failure('42501'), 'GRANT CREATE ON DATABASE'],
  ])('says what to fix, and nothing that the server said: %s', (_, error, words) => {
    const fault = translateFault(error, place);
    expect(fault).toBeInstanceOf(LedgerUnusableError);
    expect(fault.message).toContain(words);
    expect(inspect(fault, { depth: 9 })).not.toContain('Ana');
  });

  it('names a full disk', () => {
    expect(translateFault(failure('53100'), place)).toBeInstanceOf(LedgerFullError);
  });
});
