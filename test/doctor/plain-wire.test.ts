import { describe, expect, it } from 'vitest';
import { warnOfPlainWire } from '../../src/doctor/risky-settings.js';

const look = (url: string, ca?: string) =>
  warnOfPlainWire({ part: 'source', setting: 'source.url', url, ca });

describe('the way to a database', () => {
  it.each([
    'postgres://reader:secret@db.example.com/hotel',
    'postgresql://reader:secret@10.0.0.7:5433/hotel?application_name=a',
    'mysql://reader:secret@db.example.com/hotel?sslmode=disable',
    'mariadb://reader:secret@[2001:db8::7]/hotel',
    'postgres:///hotel?host=db.example.com&user=reader&password=secret',
  ])('is warned of where it is plain: %s', (url) => {
    const [finding, ...others] = look(url);
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ part: 'source', verdict: 'warning' });
    expect(finding?.advice).toContain('source.url');
    expect(JSON.stringify(finding)).not.toMatch(/secret|reader/);
  });

  it.each([
    'postgres://reader:secret@db.example.com/hotel?sslmode=verify-full',
    'mysql://reader:secret@db.example.com/hotel?sslmode=no-verify',
    'postgres://reader@localhost/hotel',
    'mysql://reader@127.0.0.1:3307/hotel',
    'postgres://reader@[::1]/hotel',
    'postgres://reader@%2Fvar%2Frun%2Fpostgresql/hotel',
    'postgres:///hotel?host=/var/run/postgresql',
    'mysql://reader@db/hotel?socket=/run/mysqld/mysqld.sock',
    'sqlite:/srv/bookings.db',
  ])('is not where it is encrypted, or leads nowhere: %s', (url) => {
    expect(look(url)).toEqual([]);
  });

  it('is not where the authority of its certificate is named, for that demands TLS', () => {
    expect(look('postgres://reader@db.example.com/hotel', '/etc/ca.pem')).toEqual([]);
  });
});
