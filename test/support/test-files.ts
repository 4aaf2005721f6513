/** Tests that need more than Node and npm, such as a database, an SFTP server or a browser. */
export const serverTests = 'test/**/*.servers.test.ts';

/** Tests that run for long or are random. */
export const nightlyTests = 'test/**/*.nightly.test.ts';

/** Tests that measure their process, or change it for all files in it. */
export const ownProcessTests = [
  'test/bench/measured-process.test.ts',
  // They hold the clock, and let commits fail: one that runs out of time would go on doing so.
  'test/crash/crash-points.test.ts',
  'test/crash/erased-guest.test.ts',
  'test/crash/rewritten-result.test.ts',
  'test/http/tunnel.servers.test.ts',
  'test/jobs/bookings-module.test.ts',
  'test/ledger/postgres-holds.servers.test.ts',
  'test/ledger/sqlite-processes.test.ts',
  'test/mapping-service/client.test.ts',
  'test/mapping-service/retrying.test.ts',
  'test/nights/histories.test.ts',
  'test/queue/bullmq-processes.servers.test.ts',
  'test/reading-thread/threaded-reader.test.ts',
  'test/s3/client.test.ts',
  'test/sources/common/sample.test.ts',
  'test/sources/csv/any-bytes.test.ts',
  'test/sources/files/s3.test.ts',
  'test/sources/files/sftp-contract.servers.test.ts',
  'test/sources/http/pages.test.ts',
  'test/sources/module/module-source.test.ts',
  'test/sources/ndjson/decoder.test.ts',
];
