import { expect, it } from 'vitest';
import { describeCode } from '../../../src/rules/peers.js';

const [service, sftp] = ['service.example.com:443', 'sftp.example.com:22'];

it.each([
  ['connection-refused', service],
  ['timeout', service],
  ['connect-timeout', service],
  ['tls-certificate', service],
  ['sftp-connection-lost', sftp],
  ['sftp-no-progress', sftp],
  ['http-503', undefined],
  ['sftp-disk-full', undefined],
  ['http-timeout', undefined],
  ['timeout-refused', undefined],
])('the code %s is shown with its server, if that was not reached: %s', (code, server) => {
  expect(describeCode(code, { service, sftp })).toBe(server === undefined ? code : `${code} (${server})`);
  expect(describeCode(code, undefined)).toBe(code);
  if (server === sftp) expect(describeCode(code, { service })).toBe(code);
});
