import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { Outbox } from '../../src/sandbox/outbox/outbox.js';
import { csvParse } from '../support/csv-readers.js';
import { patienceMs } from '../support/patience.js';
import {
  describeReadResult,
  filePath,
  openReviewedFiles,
  resultPath,
  templateColumns,
  writeFileOf,
} from './reviewed-files.js';

const otherFilePath = 'VerifyMappings/112026/21112026.csv';

describeReadResult(csvParse);

describe('a result', () => {
  it('is written next to the file, with _Result added to its name', async () => {
    const files = await openReviewedFiles();
    await files.put(writeFileOf([files.cells()]));
    await files.review.accept(filePath);
    await files.waitForLines();
    expect(await files.list()).toEqual(['20112026.csv', '20112026_Result.csv']);
    expect(files.told).toEqual([`${resultPath}: 1 row, 0 wrongly mapped`]);
    expect(await files.read()).toBe(
      `${templateColumns.join(',')},IsCorrectMapping\n${Object.values(files.cells()).join(',')},True\n`,
    );
  });

  it('is followed by an e-mail when a mapping is incorrect', async () => {
    const files = await openReviewedFiles();
    const { providerName, providerHotelId } = files.mapping(20);
    const wrong = files.cells({ ProviderName: providerName, ProviderHotelId: providerHotelId });
    await files.put(writeFileOf([files.cells(), wrong, files.cells()]));
    await files.review.accept(`/${filePath}`);
    await files.waitForLines();
    expect(files.notices).toEqual([
      {
        about: filePath,
        count: 1,
        incorrect: [
          {
            serviceId: files.mapping().serviceId,
            bookingReferenceId: 'BR-0',
            bookingClientName: 'Ana Núñez',
            providerName,
            providerHotelId,
            checkInDate: '2026-11-20',
            checkOutDate: '2026-11-22',
          },
        ],
      },
    ]);
    const [email] = files.emails;
    expect(files.told).toEqual([`${resultPath}: 3 rows, 1 wrongly mapped; e-mail: ${email}`]);
  });

  it('is not followed by an e-mail when every mapping is correct', async () => {
    const files = await openReviewedFiles();
    await files.put(writeFileOf([files.cells()]));
    await files.review.accept(filePath);
    await files.waitForLines();
    expect(files.notices).toEqual([]);
  });

  it('stays when the e-mail cannot be written, which is reported', async () => {
    const outbox: Outbox = {
      notify: async () => {
        throw Object.assign(new Error('no space left for Ana Núñez'), { code: 'ENOSPC' });
      },
    };
    const files = await openReviewedFiles({ outbox });
    await files.put(writeFileOf([files.cells({ ProviderHotelId: 'other' })]));
    await files.review.accept(filePath);
    await files.waitForLines(2);
    expect(files.told).toEqual([
      `${resultPath}: no e-mail (ENOSPC)`,
      `${resultPath}: 1 row, 1 wrongly mapped`,
    ]);
    expect(await files.list()).toContain('20112026_Result.csv');
  });

  it('replaces an older one', async () => {
    const files = await openReviewedFiles();
    await files.put('older', resultPath);
    await files.put(writeFileOf([files.cells()]));
    await files.review.accept(filePath);
    await files.waitForLines();
    expect(await files.read()).toMatch(/True\n$/);
  });

  it('is about the file at the time of the call, regardless of later changes', async () => {
    const files = await openReviewedFiles({ resultDelayMs: 50 });
    await files.put(writeFileOf([files.cells({ BookingReferenceId: 'first' })]));
    await files.review.accept(filePath);
    await rm(join(files.root, filePath));
    await files.waitForLines();
    expect(await files.read()).toContain('first');
  });

  it('is reported as failed when a folder has its name', async () => {
    const files = await openReviewedFiles();
    await files.put(writeFileOf([files.cells()]));
    await mkdir(join(files.root, resultPath));
    await files.review.accept(filePath);
    await files.waitForLines();
    expect(files.told).toEqual([`${resultPath}: failed (EISDIR)`]);
    expect(files.notices).toEqual([]);
  });

  it('appears complete or not at all, without temporary files next to it', async () => {
    const files = await openReviewedFiles();
    const records = Array.from({ length: 20_000 }, (_, place) => files.cells({}, place % 100));
    await files.put(writeFileOf(records));
    const sizes = new Set<number | undefined>();
    const names = new Set<string>();
    const taken = files.review.accept(filePath);
    while (files.told.length === 0) {
      for (const name of await files.list()) names.add(name);
      sizes.add((await stat(join(files.root, resultPath)).catch(() => undefined))?.size);
    }
    await taken;
    const { size } = await stat(join(files.root, resultPath));
    expect([...sizes].filter((seen) => seen !== undefined && seen !== size)).toEqual([]);
    expect(sizes).toContain(undefined);
    expect([...names].filter((name) => !/^20112026(_Result)?\.csv$/.test(name))).toEqual([]);
  });

  it('is readable by its owner only', async () => {
    const files = await openReviewedFiles();
    await files.put(writeFileOf([files.cells()]));
    await files.review.accept(filePath);
    await files.waitForLines();
    expect((await stat(join(files.root, resultPath))).mode & 0o777).toBe(0o600);
  });
});

describe('a file accepted twice', () => {
  it('has two results, and two e-mails', async () => {
    const files = await openReviewedFiles();
    await files.put(writeFileOf([files.cells({ ProviderHotelId: 'first' })]));
    await files.review.accept(filePath);
    await files.waitForLines();
    await files.put(writeFileOf([files.cells(), files.cells({ ProviderHotelId: 'second' })]));
    await files.review.accept(filePath);
    await files.waitForLines(2);
    expect(files.told[1]).toContain(': 2 rows,');
    expect(await files.read()).toContain('second');
    expect(files.notices).toHaveLength(2);
  });
});

describe('a result with a fault', () => {
  const threeRecords = (files: Awaited<ReturnType<typeof openReviewedFiles>>) =>
    writeFileOf([
      files.cells(),
      files.cells({ ProviderHotelId: 'wrong', BookingClientName: 'A\nB' }),
      files.cells(),
    ]);

  it('arrives when it is late', async () => {
    const files = await openReviewedFiles({ faults: ['result-late:0.05@1'] });
    await files.put(threeRecords(files));
    await files.review.accept(filePath);
    await files.waitForLines();
    expect(files.told).toEqual([expect.stringContaining(`${resultPath}: 3 rows, 1 wrongly mapped`)]);
  });

  it('is not there yet when it is late, while others arrive', async () => {
    const files = await openReviewedFiles({ faults: ['result-late:3600@1'] });
    await files.put(threeRecords(files));
    await files.put(threeRecords(files), otherFilePath);
    await files.review.accept(filePath);
    await files.review.accept(otherFilePath);
    await files.waitForLines();
    expect(files.told).toEqual([expect.stringContaining('VerifyMappings/112026/21112026_Result.csv: ')]);
    expect(await files.list()).toEqual(['20112026.csv', '21112026.csv', '21112026_Result.csv']);
  });

  it.each([
    [3, 1],
    [4, 2],
    [1, 0],
  ])(
    'of %d records has the first %d when it is partial, ending with a line end, and an e-mail about all',
    async (rows, written) => {
      const files = await openReviewedFiles({ faults: ['result-partial@1'] });
      const records = Array.from({ length: rows }, (_, place) =>
        files.cells({
          BookingReferenceId: `BR-${place}`,
          ProviderHotelId: 'wrong',
          BookingClientName: 'A\nB',
        }),
      );
      await files.put(writeFileOf(records));
      await files.review.accept(filePath);
      await files.waitForLines();
      const result = await files.read();
      expect(result).toMatch(/\n$/);
      expect(csvParse.read(join(files.root, resultPath))).toEqual(
        records.slice(0, written).map((cells) => ({ ...cells, IsCorrectMapping: 'False' })),
      );
      const rowsOf = rows === 1 ? '1 row' : `${rows} rows`;
      const [email] = files.emails;
      expect(files.told).toEqual([`${resultPath}: only ${written} of ${rowsOf} (fault); e-mail: ${email}`]);
      expect(files.notices).toMatchObject([{ count: rows }]);
      expect(await files.list()).toEqual(['20112026.csv', '20112026_Result.csv']);
    },
  );

  it('is missing together with its e-mail, and an older one stays', async () => {
    const files = await openReviewedFiles({ faults: ['result-missing@1'] });
    await files.put('older', resultPath);
    await files.put(threeRecords(files));
    expect(await files.review.accept(filePath)).toEqual({ kind: 'accepted', rows: 3 });
    await files.waitForLines();
    expect(files.told).toEqual([`${resultPath}: never written (fault)`]);
    expect(await files.read()).toBe('older');
    expect(files.notices).toEqual([]);
  });
});

it.each([
  ['whole', 'result-late:0@1'],
  ['partial', 'result-partial@1'],
  ['missing', 'result-missing@1'],
])('nothing is kept of a result that was %s', async (_, fault) => {
  const files = await openReviewedFiles({ faults: [fault] });
  await files.put(writeFileOf([files.cells()]));
  await files.review.accept(filePath);
  await vi.waitUntil(
    async () => {
      const beside = (await readdir(files.folder)).filter((name) => name !== 'sftp');
      const drafts = await Promise.all(beside.map((name) => readdir(join(files.folder, name))));
      return files.told.length === 1 && beside.length === 1 && drafts.flat().length === 0;
    },
    { timeout: patienceMs },
  );
});

describe('closing the review', () => {
  it('abandons pending results, reports it, and leaves nothing behind', async () => {
    const files = await openReviewedFiles({ resultDelayMs: 3_600_000 });
    await files.put(writeFileOf([files.cells()]));
    await files.review.accept(filePath);
    await files.review.accept(filePath);
    await files.review.close();
    expect(files.told).toEqual([`${resultPath}: abandoned`, `${resultPath}: abandoned`]);
    expect(await files.list()).toEqual(['20112026.csv']);
    expect(await readdir(files.folder)).toEqual(['sftp']);
  });

  it.each([
    ['the only one', 1],
    ['one with another result of its file pending', 2],
  ])('waits for the e-mail about a written result: %s', async (_, calls) => {
    let send = () => {};
    const sent = new Promise<void>((resolve) => {
      send = resolve;
    });
    const outbox: Outbox = {
      notify: async () => {
        await sent;
        return 'the email';
      },
    };
    const files = await openReviewedFiles({ outbox, faults: ['result-late:3600@2'] });
    await files.put(writeFileOf([files.cells({ ProviderHotelId: 'wrong' })]));
    for (let call = 0; call < calls; call += 1) await files.review.accept(filePath);
    await vi.waitUntil(() => files.notices.length > 0, { timeout: patienceMs });
    let isClosed = false;
    const closed = files.review.close().then(() => {
      isClosed = true;
    });
    // Longer than it takes to close without waiting for it.
    for (let look = 0; look < 200; look += 1) await readdir(files.folder);
    expect(isClosed).toBe(false);
    send();
    await closed;
    expect(files.told.filter((line) => line.endsWith('e-mail: the email'))).toHaveLength(1);
    expect(files.told).toHaveLength(calls);
  });

  it('is idempotent', async () => {
    const files = await openReviewedFiles({ resultDelayMs: 3_600_000 });
    await files.put(writeFileOf([files.cells()]));
    await files.review.accept(filePath);
    await Promise.all([files.review.close(), files.review.close()]);
    await files.review.close();
    expect(files.told).toHaveLength(1);
  });

  it('refuses files that are being read, and later ones', async () => {
    const files = await openReviewedFiles();
    await files.put(writeFileOf(Array.from({ length: 60_000 }, () => files.cells())));
    const reading = files.review.accept(filePath);
    let isAnswered = false;
    const answered = reading.then(() => {
      isAnswered = true;
    });
    await vi.waitUntil(async () => (await readdir(files.folder)).length > 1, {
      timeout: patienceMs,
      interval: 1,
    });
    await files.review.close();
    expect(isAnswered).toBe(true);
    await answered;
    const stopped = { kind: 'refusal', statusCode: 2001, message: 'the service is being stopped' };
    expect(await reading).toEqual(stopped);
    expect(await files.review.accept(filePath)).toEqual(stopped);
    expect(files.told).toEqual([]);
    expect(await readdir(files.folder)).toEqual(['sftp']);
  });

  it('creates no folder for a call that comes later', async () => {
    const files = await openReviewedFiles();
    await files.put(writeFileOf([files.cells()]));
    await files.review.close();
    expect(await files.review.accept(filePath)).toMatchObject({ kind: 'refusal', statusCode: 2001 });
    expect(await readdir(files.folder)).toEqual(['sftp']);
  });
});

it('a file that cannot be read is refused without quoting anything', async () => {
  const files = await openReviewedFiles();
  await files.put(writeFileOf([files.cells()]));
  await writeFile(join(files.folder, 'drafts'), '');
  expect(await files.review.accept(filePath)).toEqual({
    kind: 'refusal',
    statusCode: 2001,
    message: "the file can't be reviewed now (EEXIST)",
  });
});
