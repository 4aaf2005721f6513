import { expect, it } from 'vitest';
import {
  completePostgresUrl,
  explainUnprotected,
  findRemoteHost,
  readConnectionSecurity,
} from '../../src/base/connection-security.js';

it.each([
  'sqlite:/srv/ledger.db',
  'in-process',
  'postgres://u:p@localhost/db',
  'postgres://u:p@127.0.0.1:5433/db?sslmode=disable',
  'postgres://u:p@[::1]/db',
  'postgres://u:p@%2Frun%2Fpostgresql/db',
  'postgres:///db',
  'postgres://u@db.example.com/db?host=::1',
  'mysql://u:p@db.example.com/db?socket=/run/mysqld/mysqld.sock',
  'mariadb://u:p@[::1]/db?sslmode=no-verify',
  'redis://127.0.0.1:6379',
  'redis://cache.example.com?path=/run/redis.sock',
])('a connection that stays on this machine needs no TLS: %s', (url) => {
  expect(readConnectionSecurity(url)).toBe('local');
  expect(explainUnprotected(url)).toBeUndefined();
});

it.each([
  'postgres://u:p@db.example.com/db?sslmode=verify-full',
  'postgres://u:p@db.example.com/db?ssl=true',
  'postgres://u:p@db.example.com/db?uselibpqcompat=true&sslmode=verify-full',
  'rediss://:p@cache.example.com:6380/1',
])('TLS with a verified certificate is enough: %s', (url) => {
  expect(readConnectionSecurity(url)).toBe('verified');
});

it.each([
  'postgres://u:p@db.example.com/db',
  'postgres://u:p@db.example.com/db?ssl=false',
  'postgres://u:p@localhost/db?host=localhost&host=db.example.com',
  'postgres://u:p@127.0.0.1.example.com/db',
  'postgres://u:p@127.999.0.1/db',
  'REDISS://cache.example.com:6379',
  'mssql://u:p@db.example.com/db',
  'mysql2://u:p@localhost/db',
  'rediss://cache.example.com:6379?tls=',
])('a plain connection to another machine is refused: %s', (url) => {
  expect(readConnectionSecurity(url)).toBe('plain');
  expect(explainUnprotected(url)).toMatch(
    /^must use TLS.*(?:plaintext: allowed \}|sslmode=disable into the address)$/,
  );
});

it.each([
  'postgres://u:p@db.example.com/db?ssl=no-verify',
  'postgres://u:p@db.example.com/db?uselibpqcompat=true&sslmode=require',
])('an unverified certificate is refused: %s', (url) => {
  expect(readConnectionSecurity(url)).toBe('unverified');
  expect(explainUnprotected(url)).toMatch(/^must verify the certificate/);
});

it.each([
  ['postgres://u:p@db.example.com/db?sslmode=disable', 'plain'],
  ['postgres://u:p@db.example.com/db?sslmode=verify-full&sslmode=disable', 'plain'],
  ['mysql://u:p@db.example.com/db?ssl-mode=DISABLED', 'plain'],
  ['postgres://u:p@db.example.com/db?sslmode=no-verify', 'unverified'],
])('an address that says so itself is permitted: %s', (url, security) => {
  expect(readConnectionSecurity(url)).toBe(security);
  expect(explainUnprotected(url)).toBeUndefined();
});

it.each([
  'postgres://db.example.com/db?sslrootcert=/ca.pem',
  'mysql://db.example.com/db?ssl-mode=VERIFY_IDENTITY',
])('TLS is verified by %s', (url) => {
  expect(readConnectionSecurity(url)).toBe('verified');
});

it('names the host that the driver would connect to', () => {
  expect(findRemoteHost('postgres://localhost/db?host=db.example.com')).toBe('db.example.com');
  expect(findRemoteHost('mysql://u:p@db.example.com/db')).toBe('db.example.com');
  expect(findRemoteHost('postgres://localhost/db')).toBeUndefined();
});

it('takes no host from the environment, and makes the path of the authority absolute', () => {
  expect(completePostgresUrl('postgres:///db', '/etc')).toBe('postgres:///db?host=localhost');
  expect(completePostgresUrl('postgres://h/db', '/etc')).toBe('postgres://h/db');
  expect(completePostgresUrl('mysql://h/db', '/etc')).toBe('mysql://h/db');
  expect(completePostgresUrl('postgres://h/db?sslrootcert=my%20ca.pem', '/etc')).toBe(
    'postgres://h/db?sslrootcert=%2Fetc%2Fmy+ca.pem&sslmode=verify-full',
  );
  expect(completePostgresUrl('postgres://h/db?sslrootcert=/ca.pem&sslmode=require', '/etc')).toBe(
    'postgres://h/db?sslrootcert=%2Fca.pem&sslmode=require',
  );
});
