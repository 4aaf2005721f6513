import { expect, it, onTestFinished } from 'vitest';
import { day, prepareDay } from '../support/day-folder.js';
import { csvOf } from '../support/made-bookings.js';
import { bucketName, startS3Server, writeVariables } from '../support/s3-server.js';

const sftp = {
  ...{ host: '127.0.0.1', port: 1, username: 'u', password: 'p4ss-w0rd' },
  hostKey: `SHA256:${'A'.repeat(43)}`,
};
const byFile = { delivery: 'file', file: { sftp } };

it('an archive that refuses lets no day go by file: exit 2 needs a person, 1 does not; by body, a warning is enough', async () => {
  const s3 = await startS3Server();
  onTestFinished(() => s3.stop());
  for (const [status, code, settings, exitCode] of [
    [403, 'InvalidAccessKeyId', byFile, 2],
    [404, 'NoSuchBucket', byFile, 2],
    [503, 'SlowDown', byFile, 1],
    [403, 'RequestTimeTooSkewed', byFile, 1],
    [403, 'InvalidAccessKeyId', {}, 0],
  ] as const) {
    s3.intercept((_, response) => {
      response.writeHead(status, { 'content-type': 'application/xml' });
      response.end(`<Error><Code>${code}</Code><Message>no</Message></Error>`);
      return true;
    });
    const { folder, standIn } = await prepareDay({
      bookings: csvOf(5),
      settings: { archive: `s3://${bucketName}/archive`, ...settings },
    });
    writeVariables(folder.path, s3.access());
    const ended = await folder.run(['run', day, '--json']);
    expect([ended.exitCode, ended.stderr]).toEqual([exitCode, expect.stringContaining(code)]);
    expect(standIn.requests.length > 0).toBe(exitCode === 0);
    if (exitCode === 0)
      expect(ended.stderr).toContain(`the report of ${day} could not be kept in the archive`);
  }
});
