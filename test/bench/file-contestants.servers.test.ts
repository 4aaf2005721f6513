import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FileContestant, type FileStage, prepareFileStage } from '../../bench/file-stage.js';
import { findMissingProgram } from '../../bench/harness/environment.js';
import { findTimeObstacle } from '../../bench/harness/measured-process.js';
import { openSsh } from '../support/sftp-programs.js';

const obstacle =
  findTimeObstacle() ??
  openSsh.needs ??
  findMissingProgram('sftp', 'openssh-client') ??
  findMissingProgram('python3', 'python3');
const contestants = ['ours', 'node-script', 'python-script'] as const;
/** Enough for every way in which a made-up record is malformed. */
const bookings = 1_000;

describe.skipIf(obstacle !== undefined)(`the contestants by file${obstacle ? `: ${obstacle}` : ''}`, () => {
  let stage: FileStage;
  const published = new Map<FileContestant, readonly string[]>();

  beforeAll(async () => {
    stage = await prepareFileStage(bookings);
    for (const contestant of contestants) {
      const { workSeconds, wallSeconds } = await stage.deliver(contestant);
      expect(workSeconds).toBeLessThan(wallSeconds);
      published.set(contestant, (await readFile(stage.publishedFile, 'utf8')).split(/(?<=\n)/));
    }
  });
  afterAll(() => stage?.close());

  it('have a day with all bookings, some duplicates and some malformed records', () => {
    expect(stage.counts.bookings).toBe(bookings);
    expect(stage.counts.duplicates).toBeGreaterThan(0);
    expect(stage.counts.malformed).toBeGreaterThan(0);
  });

  it('publish the same bytes where duplicates are dropped', () => {
    expect(published.get('ours')).toHaveLength(bookings + 1);
    expect(published.get('python-script')).toEqual(published.get('ours'));
  });

  it('publish the same lines apart from duplicates where these are kept', () => {
    const lines = published.get('node-script') ?? [];

    expect(lines).toHaveLength(bookings + 1 + stage.counts.duplicates);
    expect([...new Set(lines)]).toEqual(published.get('ours'));
  });
});
