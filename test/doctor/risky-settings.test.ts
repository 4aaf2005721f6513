import { describe, expect, it } from 'vitest';
import { warnAboutPlainConnection } from '../../src/checks/doctor/risky-settings.js';

const look = (url: string) => warnAboutPlainConnection({ part: 'source', setting: 'source.url', url });

describe('the connection to a database', () => {
  it.each([
    'postgres://reader:secret@db.example.com/hotel',
    'postgresql://reader:secret@10.0.0.7:5433/hotel?application_name=a',
    'mysql://reader:secret@db.example.com/hotel?sslmode=disable',
    'mariadb://reader:secret@[2001:db8::7]/hotel',
    'postgres:///hotel?host=db.example.com&user=reader&password=secret',
    'mysql://reader:secret@db.example.com/hotel?sslmode=no-verify',
  ])('is a warning if it is not encrypted or not verified: %s', (url) => {
    const [finding, ...others] = look(url);
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ part: 'source', verdict: 'warning' });
    expect(finding?.advice).toContain('source.url');
    expect(JSON.stringify(finding)).not.toMatch(/secret|reader/);
  });

  it.each([
    'postgres://reader:secret@db.example.com/hotel?sslmode=verify-full',
    'postgres://reader@localhost/hotel',
    'mysql://reader@127.0.0.1:3307/hotel',
    'postgres://reader@[::1]/hotel',
    'postgres://reader@%2Fvar%2Frun%2Fpostgresql/hotel',
    'postgres:///hotel?host=/var/run/postgresql',
    'mysql://reader@db/hotel?socket=/run/mysqld/mysqld.sock',
  ])('is no warning if it is encrypted or local: %s', (url) => {
    expect(look(url)).toEqual([]);
  });

  it('is no warning if an authority is configured, as that requires TLS', () => {
    expect(look('postgres://reader@db.example.com/hotel?sslrootcert=/etc/ca.pem')).toEqual([]);
  });
});
