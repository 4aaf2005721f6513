import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createDirectoryArchive } from '../../src/storage/archive.js';
import { mountSmallDisk, smallDiskNeeds } from '../support/machine.js';

const day = '2026-11-20';
const run = '20261120-aaaa';
const guest = 'Ann Guest-Canary';

describe('the directory archive', () => {
  it('keeps nothing on a full disk, says so, continues once there is space, and fails without write permission', async ({
    skip,
  }) => {
    skip(smallDiskNeeds !== undefined, smallDiskNeeds);
    const root = await mkdtemp(join(tmpdir(), 'hotel-review-archive-'));
    onTestFinished(() => rm(root, { recursive: true }));
    const folder = join(root, day, run);
    mountSmallDisk(root, 256);
    const archive = createDirectoryArchive({ root, account: 'an-account' });
    await archive.store(day, run, 'small.csv', text('small'));
    const attempt = archive.store(day, run, 'large.csv', text(guest.repeat(100_000)));
    const error: unknown = await attempt.catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'unwritable' });
    expect(String(error)).toContain('ENOSPC');
    expect(String(error)).toContain(join(folder, 'large.csv'));
    expect(String(error)).not.toContain(guest);
    expect(await readdir(folder)).toEqual(['.account-an-account', 'small.csv']);
    await archive.store(day, run, 'other.csv', text('room again'));
    expect(await archive.list(day, run)).toEqual(['other.csv', 'small.csv']);

    execFileSync('mount', ['-o', 'remount,ro', root]);
    for (const refused of [
      archive.store(day, run, 'more.csv', text('x')),
      archive.remove(day, run, ['small.csv']),
    ])
      await expect(refused).rejects.toMatchObject({ code: 'unwritable' });
  });
});

async function* text(content: string): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < content.length; at += 10_000) yield Buffer.from(content.slice(at, at + 10_000));
}
