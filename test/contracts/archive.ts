import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Archive, ArchiveError, type ArchiveErrorCode } from '../../src/storage/archive.js';
import { blocksOf } from '../support/blocks.js';

export interface ArchiveUnderTest {
  readonly archive: Archive;
  /** The same place for another account. */
  readonly ofOtherAccount: Archive;
}

const day = '2026-11-20';
const run = '20261120-aaaa';
const guest = 'Ann Guest-Canary';

/** The contract of every archive. Each test gets an empty one. */
export function describeArchiveContract(
  name: string,
  { create }: { create(): Promise<ArchiveUnderTest> },
): void {
  describe(`${name} fulfils the contract of an archive: it`, () => {
    let underTest: ArchiveUnderTest;
    let archive: Archive;
    beforeEach(async () => {
      underTest = await create();
      archive = underTest.archive;
    });

    const keep = (file: string, content: string | Buffer, runId = run) =>
      archive.store(day, runId, file, inTwo(Buffer.from(content)));
    const read = async (file: string, runId = run) => {
      const blocks: Uint8Array[] = [];
      for await (const block of archive.read(day, runId, file)) blocks.push(Buffer.from(block));
      return Buffer.concat(blocks);
    };

    describe('keeps a file', () => {
      it('byte for byte, and returns size and checksum', async () => {
        const anyBlocks = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 8 });
        let count = 0;
        await fc.assert(
          fc.asyncProperty(anyBlocks, async (blocks) => {
            const file = `file-${count++}.csv`;
            const whole = Buffer.concat(blocks);
            const kept = await archive.store(day, run, file, blocksOf(...blocks));
            expect(kept).toEqual({ name: file, bytes: whole.length, sha256: sha256Of(whole) });
            expect((await read(file)).equals(whole)).toBe(true);
          }),
          { numRuns: 15 },
        );
      });

      it('under unusual but harmless names', async () => {
        const names = ['20112026_Result.csv', 'a b (1).csv', 'żółć 山田.csv', '-rf', 'a..b', 'x'.repeat(200)];
        for (const file of names) await keep(file, file);
        for (const file of names) expect((await read(file)).toString()).toBe(file);
        expect(await archive.list(day, run)).toEqual(names.toSorted());
      });

      it('separately from those of other runs and days', async () => {
        await keep('file.csv', 'one');
        await keep('file.csv', 'two', 'other-run');
        await archive.store('2026-11-21', run, 'file.csv', inTwo(Buffer.from('three')));
        expect((await read('file.csv')).toString()).toBe('one');
        expect((await read('file.csv', 'other-run')).toString()).toBe('two');
        expect(new Set([archive.locate(day, run), archive.locate(day, 'other-run')]).size).toBe(2);
        for (const part of [day, run]) expect(archive.locate(day, run)).toContain(part);
      });
    });

    describe('with a name in use', () => {
      it('changes nothing for the same bytes', async () => {
        const first = await keep('file.csv', 'the same');
        expect(await keep('file.csv', 'the same')).toEqual(first);
        expect(await archive.list(day, run)).toEqual(['file.csv']);
      });

      it('refuses other bytes, and keeps the old ones', async () => {
        await keep('file.csv', 'the first');
        for (const other of ['', 'the First', 'the first ', 'the'])
          await expectError(keep('file.csv', other), 'different-content');
        expect((await read('file.csv')).toString()).toBe('the first');
        expect(await archive.list(day, run)).toEqual(['file.csv']);
      });

      it('keeps one complete file of two concurrent ones', async () => {
        const contents = ['a', 'b', 'c'].map((letter) => letter.repeat(300_000));
        const outcomes = await Promise.allSettled(contents.map((content) => keep('file.csv', content)));
        const kept = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
        expect(kept).toHaveLength(1);
        for (const outcome of outcomes)
          if (outcome.status === 'rejected')
            expect(outcome.reason).toMatchObject({ code: 'different-content' });
        expect(sha256Of(await read('file.csv'))).toBe(kept[0]?.sha256);
      });
    });

    describe('with a checksum', () => {
      // The second one is never encrypted.
      it.each(['file.csv', 'manifest.json'])(
        'keeps nothing of other bytes, and shows none of them: %s',
        async (file) => {
          const content = () => inTwo(Buffer.from(`${guest}, as sent`));
          for (const sha256 of [sha256Of(Buffer.from('as recorded')), '']) {
            const storing = archive.store(day, run, file, content(), sha256);
            const error: unknown = await storing.catch((reason: unknown) => reason);
            expect(error).toMatchObject({ name: 'ArchiveError', code: 'unexpected-content' });
            expect(String(error)).not.toContain(guest);
          }
          expect(await archive.list(day, run)).toEqual([]);
          await expectError(read(file), 'absent');
        },
      );
    });

    describe('when the content fails', () => {
      it('keeps nothing, rethrows the error, and accepts the file afterwards', async () => {
        const failure = new Error('the server is gone');
        async function* broken() {
          yield Buffer.from('half of ');
          throw failure;
        }
        await expect(archive.store(day, run, 'file.csv', broken())).rejects.toBe(failure);
        expect(await archive.list(day, run)).toEqual([]);
        await expectError(read('file.csv'), 'absent');
        await keep('file.csv', 'half of the whole');
        expect((await read('file.csv')).toString()).toBe('half of the whole');
      });

      it('shows no part of a file that is being written', async () => {
        let seen: readonly string[] = ['not looked yet'];
        async function* slow() {
          yield Buffer.from(`${guest}\n`.repeat(100_000));
          seen = await archive.list(day, run);
          await expectError(read('file.csv'), 'absent');
          yield Buffer.from('the end');
        }
        await archive.store(day, run, 'file.csv', slow());
        expect(seen).toEqual([]);
        expect(await archive.list(day, run)).toEqual(['file.csv']);
      });
    });

    describe('reads', () => {
      it('nothing where there is nothing, and reports it', async () => {
        await expectError(read('file.csv'), 'absent');
        await keep('file.csv', 'x');
        await expectError(read('other.csv'), 'absent');
        await expectError(read('file.csv', 'other-run'), 'absent');
        expect(await archive.list(day, 'other-run')).toEqual([]);
      });
    });

    describe('removes', () => {
      it('only the named files', async () => {
        for (const file of ['sent.csv', 'result.csv', 'manifest.json']) await keep(file, file);
        await archive.remove(day, run, ['sent.csv', 'result.csv']);
        expect(await archive.list(day, run)).toEqual(['manifest.json']);
        await expectError(read('sent.csv'), 'absent');
        expect((await read('manifest.json')).toString()).toBe('manifest.json');
      });
    });

    describe('knows one ledger for each account', () => {
      it('once it was told, in a file that is replaced as a whole', async () => {
        const { ofOtherAccount } = underTest;
        expect(await archive.readLedgerMark()).toBeUndefined();
        await archive.writeLedgerMark('{"ledger":"a longer first text"}\n');
        await archive.writeLedgerMark('{"ledger":"b"}\n');
        expect(await archive.readLedgerMark()).toBe('{"ledger":"b"}\n');
        expect(await ofOtherAccount.readLedgerMark()).toBeUndefined();
        await ofOtherAccount.writeLedgerMark('theirs');
        expect(await archive.readLedgerMark()).toBe('{"ledger":"b"}\n');
        expect(await archive.listFolders()).toEqual([]);
      });

      it('and names itself', () => {
        expect(archive.locate(day, run).startsWith(archive.path)).toBe(true);
        expect([archive.account, underTest.ofOtherAccount.account]).toEqual(['an-account', 'other-account']);
      });
    });

    describe('lists the folders of runs', () => {
      it('with their files and the account that filled them first, but no reports', async () => {
        const { ofOtherAccount } = underTest;
        expect(await archive.listFolders()).toEqual([]);
        await keep('b.csv', 'b');
        await keep('a.csv', 'a');
        await ofOtherAccount.store('2026-11-19', 'their-run', 'a.csv', inTwo(Buffer.from('a')));
        await archive.store('reports', day, 'page.html', inTwo(Buffer.from('x')));
        expect(await archive.listFolders()).toEqual([
          { day: '2026-11-19', runId: 'their-run', account: 'other-account', names: ['a.csv'] },
          { day, runId: run, account: 'an-account', names: ['a.csv', 'b.csv'] },
        ]);
      });

      it('that are marked before their first file', async () => {
        let seen: Awaited<ReturnType<Archive['listFolders']>> = [];
        async function* second() {
          seen = await archive.listFolders();
          yield Buffer.from('b');
        }
        await keep('a.csv', 'a');
        await archive.store(day, run, 'b.csv', second());
        expect(seen).toEqual([{ day, runId: run, account: 'an-account', names: ['a.csv'] }]);
      });
    });

    describe('refuses as a name', () => {
      it.each([
        ...[
          '',
          '..',
          '../file.csv',
          '/etc/passwd',
          'a\\b.csv',
          '.hidden',
          'a\0b.csv',
          'a\u2028b',
          'a\ud800b',
        ],
        ...['x'.repeat(201), 'ż'.repeat(101)],
      ])('%j, for a file, a run, or a day', async (unsafe) => {
        await keep('file.csv', 'x');
        const content = () => inTwo(Buffer.from('x'));
        await expectError(keep(unsafe, 'x'), 'unsafe-name');
        await expectError(keep('file.csv', 'x', unsafe), 'unsafe-name');
        await expectError(archive.store(unsafe, run, 'file.csv', content()), 'unsafe-name');
        await expectError(read(unsafe), 'unsafe-name');
        await expectError(archive.list(day, unsafe), 'unsafe-name');
        await expectError(archive.remove(day, run, ['file.csv', unsafe]), 'unsafe-name');
        expect(() => archive.locate(unsafe, run)).toThrow(ArchiveError);
        expect(await archive.list(day, run)).toEqual(['file.csv']);
      });
    });
  });
}

async function expectError(action: Promise<unknown>, code: ArchiveErrorCode): Promise<void> {
  const error: unknown = await action.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ArchiveError);
  expect(error).toMatchObject({ code });
}

function sha256Of(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function inTwo(bytes: Buffer): AsyncGenerator<Uint8Array> {
  return blocksOf(bytes.subarray(0, 5), bytes.subarray(5));
}
