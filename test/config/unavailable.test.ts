import { describe, expect, it } from 'vitest';
import { findUnavailable } from '../../src/config/unavailable.js';
import { parse, sftp } from './writing.js';

describe('parts that are not built yet', () => {
  it('are told, each with its setting', () => {
    const config = parse({
      delivery: 'file',
      file: { sftp },
      ledger: 'postgres://u:hush@db/review',
      queue: 'rediss://cache',
      archive: 's3://bucket',
    });
    expect(findUnavailable(config).map(({ path, message }) => `${path}: ${message}`)).toEqual([
      'delivery: file is not available in this version',
      'ledger: postgres:// is not available in this version',
      'queue: redis:// is not available in this version',
      'archive: s3:// is not available in this version',
    ]);
  });

  it('are none by default', () => {
    expect(findUnavailable(parse())).toEqual([]);
  });
});
