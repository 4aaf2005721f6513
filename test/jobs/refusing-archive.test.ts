import { expect, it, onTestFinished } from 'vitest';
import { day, prepareDay } from '../support/day-folder.js';
import { csvOf } from '../support/made-bookings.js';
import { bucketName, startS3Server, writeVariables } from '../support/s3-server.js';

/** A day with an archive in a bucket whose server answers so. */
async function prepare(status: number, code: string, settings: object) {
  const s3 = await startS3Server();
  onTestFinished(() => s3.stop());
  s3.intercept((_, response) => {
    response.writeHead(status, { 'content-type': 'application/xml' });
    response.end(`<Error><Code>${code}</Code><Message>no</Message></Error>`);
    return true;
  });
  const archive = `s3://${bucketName}/archive`;
  const { folder, standIn } = await prepareDay({
    bookings: csvOf(5),
    settings: { archive, ...settings },
    hasWorkers: false,
  });
  writeVariables(folder.path, s3.access());
  return { folder, standIn };
}

const sftp = {
  host: '127.0.0.1',
  port: 1,
  username: 'u',
  password: 'p4ss-w0rd',
  hostKey: `SHA256:${'A'.repeat(43)}`,
};
const byFile = { delivery: 'file', file: { sftp } };

it.each([
  ['a wrong key', 403, 'InvalidAccessKeyId', byFile, 2],
  ['a missing right', 403, 'AccessDenied', byFile, 2],
  ['no such bucket', 404, 'NoSuchBucket', byFile, 2],
  ['an overloaded server', 503, 'SlowDown', byFile, 1],
  ['clocks that differ', 403, 'RequestTimeTooSkewed', byFile, 1],
  ['a wrong key by body, which needs no archive', 403, 'InvalidAccessKeyId', {}, 0],
])('an archive with %s at the start: %i %s', async (_, status, code, settings, exitCode) => {
  const { folder, standIn } = await prepare(status, code, settings);
  const ended = await folder.run(['run', day, '--json']);
  expect([ended.exitCode, ended.stderr]).toEqual([exitCode, expect.stringContaining(code)]);
  expect(standIn.requests.length > 0).toBe(exitCode === 0);
});
