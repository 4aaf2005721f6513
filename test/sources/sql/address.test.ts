import { describe, expect, it } from 'vitest';
import { readConnectionSecurity } from '../../../src/base/connection-security.js';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import { readSqlAddress } from '../../../src/sources/sql/address.js';
import { createSqlSource } from '../../../src/sources/sql/sql-source.js';

describe('the address of a database', () => {
  it.each([
    ['postgres://ann:s3cret@db.example.com:5433/hotel?sslmode=require&password=s3cret', 'postgres'],
    ['mysql://ann:s3cret@db.example.com/hotel?sslmode=verify-full', 'mysql'],
    ['mariadb://ann:s3cret%2F%40@[::1]:3307/hotel', 'mysql'],
  ])('is read, and shown without user, password and parameters: %s', (address, kind) => {
    const { kind: read, location: shown } = readSqlAddress(address);
    expect(read).toBe(kind);
    const source = createSqlSource({ url: address, query: 'SELECT :day' });
    const location = source.locate(createBusinessDay('2026-11-20', 'UTC'));
    expect(location).toBe(`${shown} (source.query)`);
    expect(location).not.toMatch(/ann|s3cret|sslmode/);
  });

  it.each([
    ['postgres://ann:s3cret@db.example.com/hotel', 'postgres://db.example.com:5432/hotel'],
    ['mariadb://ann:s3cret@[::1]:3307/hotel', 'mariadb://[::1]:3307/hotel'],
    ['postgres://ann@%2Fvar%2Frun%2Fpostgresql/hotel', 'postgres://%2Fvar%2Frun%2Fpostgresql/hotel'],
    ['mysql://ann@localhost/hotel?socket=/run/my.sock', 'mysql://localhost/hotel'],
  ])('is shown with its port: %s', (address, location) => {
    expect(readSqlAddress(address).location).toBe(location);
  });

  it('of MySQL has a decoded user and password, and an optional port', () => {
    expect(readSqlAddress('mysql://a%40b:p%2Fw%3A@db.example.com/hotel%20s')).toMatchObject({
      login: {
        host: 'db.example.com',
        port: 3306,
        user: 'a@b',
        password: 'p/w:',
        database: 'hotel s',
        socketPath: '',
      },
    });
    expect(readSqlAddress('mariadb://[::1]:3307/?sslmode=no-verify&socket=/run/my.sock')).toMatchObject({
      login: {
        host: '::1',
        port: 3307,
        user: '',
        database: '',
        socketPath: '/run/my.sock',
        ssl: { rejectUnauthorized: false, verifyIdentity: false },
      },
    });
  });

  it.each([
    ...['prefer', 'require', 'verify-ca', 'verify-full'].map((mode) => `sslmode=${mode}`),
    ...['PREFERRED', 'REQUIRED', 'VERIFY_CA', 'VERIFY_IDENTITY'].map((mode) => `ssl-mode=${mode}`),
  ])('of MySQL that counts as verified has the certificate and its name checked: %s', (mode) => {
    const address = `mysql://ann@db.example.com/hotel?${mode}`;
    expect(readConnectionSecurity(address)).toBe('verified');
    expect(readSqlAddress(address)).toMatchObject({
      login: { ssl: { rejectUnauthorized: true, verifyIdentity: true } },
    });
  });

  it.each([
    'oracle://ann:s3cret@db/hotel',
    'postgres://ann:s3cret@db:99999/',
    'mysql://ann:s3%cret@db/hotel',
    'mysql://ann:s3cret@db/hotel?ssl=true',
    'mysql://ann:s3cret@db/hotel?sslmode=s3cret',
    // Unescaped characters in a password end the host, or the path, early.
    'postgres://ann:p@s3cret/w:rd #?@db/hotel',
    'mysql://ann:p@s3cret?w@db/hotel',
    'postgres://ann:p@s3cret#w@db/hotel',
    '',
  ])('is refused, and not quoted: %s', (address) => {
    let message = '';
    try {
      readSqlAddress(address);
    } catch (error) {
      expect(error).toBeInstanceOf(RangeError);
      message = String(error);
    }
    expect(message).not.toBe('');
    expect(message).not.toMatch(/ann|s3cret/);
  });
});
