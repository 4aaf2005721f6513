import { readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { Outbox } from '../../src/sandbox/outbox/outbox.js';
import { csvParse, pythonCsv } from '../support/csv-readers.js';
import {
  type Cells,
  filePath,
  openReviewDesk,
  resultPath,
  templateColumns,
  writeFileOf,
} from '../support/review-desk.js';

const otherFilePath = 'VerifyMappings/112026/21112026.csv';

describe.each([pythonCsv, csvParse])('a result, read with $name', (reader) => {
  const title = reader.needs === undefined ? '' : ` (${reader.needs})`;

  it.skipIf(reader.needs !== undefined).each(['\n', '\r\n'])(
    `is the file's records as they were, each with its verdict, from a file with %j as line ends${title}`,
    async (lineEnd) => {
      const desk = await openReviewDesk();
      const { providerName, providerHotelId } = desk.mapping(20);
      const right = [
        {},
        { BookingClientName: 'García, Luis', BookingReferenceId: 'BR "7"' },
        { BookingClientName: 'Wang 伟 👩‍👩‍👧 שלום' },
        { BookingClientName: '  Ana\tNúñez ' },
        { BookingClientName: `Zoë${lineEnd}Brandt` },
        { BookingClientName: '=1+1', BookingReferenceId: '-5' },
        { BookingClientName: '"' },
      ].map((changes, place) => desk.cells(changes, place));
      const wrong = [
        { ProviderName: providerName, ProviderHotelId: providerHotelId },
        { ProviderHotelId: 'no such hotel' },
        { ProviderName: 'No such provider' },
        { 'Service Mappings Id': '7' },
      ].map((changes) => desk.cells(changes));
      await desk.put(writeFileOf([...right, ...wrong], lineEnd));

      expect(await desk.review.accept(filePath)).toEqual({ kind: 'accepted', rows: 11 });
      await desk.waitFor('result-written');

      const judged = (IsCorrectMapping: string) => (cells: Cells) => ({ ...cells, IsCorrectMapping });
      expect(reader.read(join(desk.root, resultPath))).toEqual([
        ...right.map(judged('True')),
        ...wrong.map(judged('False')),
      ]);
    },
  );
});

describe('a result', () => {
  it('is written next to the file, with _Result added to its name', async () => {
    const desk = await openReviewDesk();
    await desk.put(writeFileOf([desk.cells()]));
    await desk.review.accept(filePath);
    await desk.waitFor('result-written');
    expect(await desk.list()).toEqual(['20112026.csv', '20112026_Result.csv']);
    expect(desk.events).toEqual([{ kind: 'result-written', path: resultPath, rows: 1, incorrect: 0 }]);
    expect(await desk.read()).toBe(
      `${templateColumns.join(',')},IsCorrectMapping\n${Object.values(desk.cells()).join(',')},True\n`,
    );
  });

  it('is followed by an e-mail when a mapping is incorrect', async () => {
    const desk = await openReviewDesk();
    const { providerName, providerHotelId } = desk.mapping(20);
    const wrong = desk.cells({ ProviderName: providerName, ProviderHotelId: providerHotelId });
    await desk.put(writeFileOf([desk.cells(), wrong, desk.cells()]));
    await desk.review.accept(`/${filePath}`);
    await desk.waitFor('result-written');
    expect(desk.notices).toEqual([
      {
        about: filePath,
        count: 1,
        incorrect: [
          {
            serviceId: desk.mapping().serviceId,
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
    const [email] = desk.emails;
    expect(desk.events).toEqual([
      { kind: 'result-written', path: resultPath, rows: 3, incorrect: 1, email: email?.path },
    ]);
  });

  it('is not followed by an e-mail when every mapping is correct', async () => {
    const desk = await openReviewDesk();
    await desk.put(writeFileOf([desk.cells()]));
    await desk.review.accept(filePath);
    await desk.waitFor('result-written');
    expect(desk.notices).toEqual([]);
  });

  it('stays when the e-mail cannot be written, which is reported', async () => {
    const outbox: Outbox = {
      notify: async () => {
        throw Object.assign(new Error('no space left for Ana Núñez'), { code: 'ENOSPC' });
      },
    };
    const desk = await openReviewDesk({ outbox });
    await desk.put(writeFileOf([desk.cells({ ProviderHotelId: 'other' })]));
    await desk.review.accept(filePath);
    await desk.waitFor('result-written');
    expect(desk.events).toEqual([
      { kind: 'email-failed', path: resultPath, reason: 'ENOSPC' },
      { kind: 'result-written', path: resultPath, rows: 1, incorrect: 1 },
    ]);
    expect(await desk.list()).toContain('20112026_Result.csv');
  });

  it('replaces an older one', async () => {
    const desk = await openReviewDesk();
    await desk.put('older', resultPath);
    await desk.put(writeFileOf([desk.cells()]));
    await desk.review.accept(filePath);
    await desk.waitFor('result-written');
    expect(await desk.read()).toMatch(/True\n$/);
  });

  it('is about the file at the time of the call, regardless of later changes', async () => {
    const desk = await openReviewDesk({ resultDelayMs: 50 });
    await desk.put(writeFileOf([desk.cells({ BookingReferenceId: 'first' })]));
    await desk.review.accept(filePath);
    await rm(join(desk.root, filePath));
    await desk.waitFor('result-written');
    expect(await desk.read()).toContain('first');
  });

  it('is reported as failed when its folder is gone', async () => {
    const desk = await openReviewDesk({ resultDelayMs: 50 });
    await desk.put(writeFileOf([desk.cells()]));
    await desk.review.accept(filePath);
    await rm(dirname(join(desk.root, filePath)), { recursive: true });
    await desk.waitFor('result-failed');
    expect(desk.events).toEqual([{ kind: 'result-failed', path: resultPath, reason: 'ENOENT' }]);
    expect(desk.notices).toEqual([]);
  });

  it('appears complete or not at all, without temporary files next to it', async () => {
    const desk = await openReviewDesk();
    const records = Array.from({ length: 20_000 }, (_, place) => desk.cells({}, place % 100));
    await desk.put(writeFileOf(records));
    const sizes = new Set<number | undefined>();
    const names = new Set<string>();
    const taken = desk.review.accept(filePath);
    while (desk.events.length === 0) {
      for (const name of await desk.list()) names.add(name);
      sizes.add((await stat(join(desk.root, resultPath)).catch(() => undefined))?.size);
    }
    await taken;
    const { size } = await stat(join(desk.root, resultPath));
    expect([...sizes].filter((seen) => seen !== undefined && seen !== size)).toEqual([]);
    expect(sizes).toContain(undefined);
    expect([...names].filter((name) => !/^20112026(_Result)?\.csv$/.test(name))).toEqual([]);
  });

  it('is readable by its owner only', async () => {
    const desk = await openReviewDesk();
    await desk.put(writeFileOf([desk.cells()]));
    await desk.review.accept(filePath);
    await desk.waitFor('result-written');
    expect((await stat(join(desk.root, resultPath))).mode & 0o777).toBe(0o600);
  });
});

describe('a file accepted twice', () => {
  it('has two results, in the order of the calls, and two e-mails', async () => {
    const desk = await openReviewDesk({ faults: ['result-late:0.3@1'] });
    await desk.put(writeFileOf([desk.cells({ ProviderHotelId: 'first' })]));
    await desk.review.accept(filePath);
    await desk.put(writeFileOf([desk.cells(), desk.cells({ ProviderHotelId: 'second' })]));
    await desk.review.accept(filePath);
    await desk.waitFor('result-written', 2);
    expect(desk.events).toMatchObject([{ rows: 1 }, { rows: 2 }]);
    expect(await desk.read()).toContain('second');
    expect(desk.notices).toHaveLength(2);
  });

  it('does not mix a growing result with the next one', async () => {
    const desk = await openReviewDesk({ faults: ['result-growing:0.3@1'] });
    await desk.put(writeFileOf([desk.cells({ BookingReferenceId: 'first' })]));
    await desk.review.accept(filePath);
    await desk.put(writeFileOf([desk.cells({ BookingReferenceId: 'second' })]));
    await desk.review.accept(filePath);
    await desk.waitFor('result-written', 2);
    expect(await desk.read()).toContain('second');
    expect(await desk.read()).not.toContain('first');
  });
});

describe('a result with a fault', () => {
  const threeRecords = (desk: Awaited<ReturnType<typeof openReviewDesk>>) =>
    writeFileOf([
      desk.cells(),
      desk.cells({ ProviderHotelId: 'wrong', BookingClientName: 'A\nB' }),
      desk.cells(),
    ]);

  it('arrives when it is late', async () => {
    const desk = await openReviewDesk({ faults: ['result-late:0.05@1'] });
    await desk.put(threeRecords(desk));
    await desk.review.accept(filePath);
    await desk.waitFor('result-written');
    expect(desk.events).toMatchObject([{ path: resultPath, rows: 3, incorrect: 1 }]);
  });

  it('is not there yet when it is late, while others arrive', async () => {
    const desk = await openReviewDesk({ faults: ['result-late:3600@1'] });
    await desk.put(threeRecords(desk));
    await desk.put(threeRecords(desk), otherFilePath);
    await desk.review.accept(filePath);
    await desk.review.accept(otherFilePath);
    await desk.waitFor('result-written');
    expect(desk.events).toMatchObject([{ path: 'VerifyMappings/112026/21112026_Result.csv' }]);
    expect(await desk.list()).toEqual(['20112026.csv', '21112026.csv', '21112026_Result.csv']);
  });

  it('grows under its final name, replacing an older one, before there is an e-mail', async () => {
    const desk = await openReviewDesk({ faults: ['result-growing:1@1'] });
    await desk.put('older', resultPath);
    await desk.put(threeRecords(desk));
    const seen: string[] = [];
    const look = async () => {
      const text = await desk.read().catch(() => '');
      if (text !== seen.at(-1) && text !== 'older') seen.push(text);
      if (desk.events.length === 0) expect(desk.emails).toEqual([]);
    };
    const start = performance.now();
    await desk.review.accept(filePath);
    await vi.waitUntil(() => look().then(() => desk.events.length > 0), { timeout: 30_000, interval: 5 });
    // A timer may be a millisecond early.
    expect(performance.now() - start).toBeGreaterThan(950);
    const whole = await desk.read();
    expect(whole.split('\n')).toHaveLength(6);
    // Each look saw a prefix of the result, several of them an incomplete one.
    expect(seen.every((text) => whole.startsWith(text))).toBe(true);
    expect(seen.filter((text) => text.length < whole.length).length).toBeGreaterThan(2);
    expect(desk.events).toMatchObject([{ kind: 'result-written', rows: 3, incorrect: 1 }]);
    expect(desk.emails).toHaveLength(1);
  });

  it('is complete in the end even without time to grow', async () => {
    const desk = await openReviewDesk({ faults: ['result-growing:0@1'] });
    await desk.put(threeRecords(desk));
    await desk.review.accept(filePath);
    await desk.waitFor('result-written');
    expect(await desk.read()).toMatch(/True\n$/);
  });

  it.each([
    [3, 1],
    [4, 2],
    [1, 0],
  ])(
    'of %d records has the first %d when it is partial, ending with a line end, and an e-mail about all',
    async (rows, written) => {
      const desk = await openReviewDesk({ faults: ['result-partial@1'] });
      const records = Array.from({ length: rows }, (_, place) =>
        desk.cells({
          BookingReferenceId: `BR-${place}`,
          ProviderHotelId: 'wrong',
          BookingClientName: 'A\nB',
        }),
      );
      await desk.put(writeFileOf(records));
      await desk.review.accept(filePath);
      await desk.waitFor('result-partial');
      const result = await desk.read();
      expect(result).toMatch(/\n$/);
      expect(csvParse.read(join(desk.root, resultPath))).toEqual(
        records.slice(0, written).map((cells) => ({ ...cells, IsCorrectMapping: 'False' })),
      );
      expect(desk.events).toEqual([
        {
          kind: 'result-partial',
          path: resultPath,
          rows,
          written,
          incorrect: rows,
          email: desk.emails[0]?.path,
        },
      ]);
      expect(desk.notices).toMatchObject([{ count: rows }]);
      expect(await desk.list()).toEqual(['20112026.csv', '20112026_Result.csv']);
    },
  );

  it('is missing together with its e-mail, and an older one stays', async () => {
    const desk = await openReviewDesk({ faults: ['result-missing@1'] });
    await desk.put('older', resultPath);
    await desk.put(threeRecords(desk));
    expect(await desk.review.accept(filePath)).toEqual({ kind: 'accepted', rows: 3 });
    await desk.waitFor('result-missing');
    expect(desk.events).toEqual([{ kind: 'result-missing', path: resultPath, rows: 3 }]);
    expect(await desk.read()).toBe('older');
    expect(desk.notices).toEqual([]);
  });
});

it.each([
  ['whole', 'result-late:0@1'],
  ['growing', 'result-growing:0@1'],
  ['partial', 'result-partial@1'],
  ['missing', 'result-missing@1'],
])('nothing is kept of a result that was %s', async (_, fault) => {
  const desk = await openReviewDesk({ faults: [fault] });
  await desk.put(writeFileOf([desk.cells()]));
  await desk.review.accept(filePath);
  await vi.waitUntil(async () => {
    const beside = (await readdir(desk.folder)).filter((name) => name !== 'sftp');
    const drafts = await Promise.all(beside.map((name) => readdir(join(desk.folder, name))));
    return desk.events.length === 1 && beside.length === 1 && drafts.flat().length === 0;
  });
});

describe('closing the review', () => {
  it('abandons pending results, reports it, and leaves nothing behind', async () => {
    const desk = await openReviewDesk({ resultDelayMs: 3_600_000 });
    await desk.put(writeFileOf([desk.cells()]));
    await desk.review.accept(filePath);
    await desk.review.accept(filePath);
    await desk.review.close();
    expect(desk.events).toEqual([
      { kind: 'result-given-up', path: resultPath },
      { kind: 'result-given-up', path: resultPath },
    ]);
    expect(await desk.list()).toEqual(['20112026.csv']);
    expect(await readdir(desk.folder)).toEqual(['sftp']);
  });

  it('leaves a growing result as it is', async () => {
    const desk = await openReviewDesk({ faults: ['result-growing:3600@1'] });
    await desk.put(writeFileOf(Array.from({ length: 500 }, () => desk.cells())));
    await desk.review.accept(filePath);
    await vi.waitUntil(async () => (await desk.read().catch(() => '')) !== '', { timeout: 30_000 });
    await desk.review.close();
    expect(desk.events).toEqual([{ kind: 'result-given-up', path: resultPath }]);
    expect(await desk.read()).not.toMatch(/True\n$/);
    expect(await readdir(desk.folder)).toEqual(['sftp']);
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
      notify: async ({ about }) => {
        await sent;
        return { path: 'the email', about };
      },
    };
    const desk = await openReviewDesk({ outbox, faults: ['result-late:3600@2'] });
    await desk.put(writeFileOf([desk.cells({ ProviderHotelId: 'wrong' })]));
    for (let call = 0; call < calls; call += 1) await desk.review.accept(filePath);
    await vi.waitUntil(() => desk.notices.length > 0);
    let isClosed = false;
    const closed = desk.review.close().then(() => {
      isClosed = true;
    });
    // Longer than it takes to close without waiting for it.
    for (let look = 0; look < 200; look += 1) await readdir(desk.folder);
    expect(isClosed).toBe(false);
    send();
    await closed;
    const written = desk.events.filter(({ kind }) => kind === 'result-written');
    expect(written).toMatchObject([{ email: 'the email' }]);
    expect(desk.events).toHaveLength(calls);
  });

  it('is idempotent', async () => {
    const desk = await openReviewDesk({ resultDelayMs: 3_600_000 });
    await desk.put(writeFileOf([desk.cells()]));
    await desk.review.accept(filePath);
    await Promise.all([desk.review.close(), desk.review.close()]);
    await desk.review.close();
    expect(desk.events).toHaveLength(1);
  });

  it('refuses files that are being read, and later ones', async () => {
    const desk = await openReviewDesk();
    await desk.put(writeFileOf(Array.from({ length: 60_000 }, () => desk.cells())));
    const reading = desk.review.accept(filePath);
    let isAnswered = false;
    const answered = reading.then(() => {
      isAnswered = true;
    });
    await vi.waitUntil(async () => (await readdir(desk.folder)).length > 1, { interval: 1 });
    await desk.review.close();
    expect(isAnswered).toBe(true);
    await answered;
    const stopped = { kind: 'refusal', statusCode: 2001, message: 'the service is being stopped' };
    expect(await reading).toEqual(stopped);
    expect(await desk.review.accept(filePath)).toEqual(stopped);
    expect(desk.events).toEqual([]);
    expect(await readdir(desk.folder)).toEqual(['sftp']);
  });

  it('creates no folder for a call that comes later', async () => {
    const desk = await openReviewDesk();
    await desk.put(writeFileOf([desk.cells()]));
    await desk.review.close();
    expect(await desk.review.accept(filePath)).toMatchObject({ kind: 'refusal', statusCode: 2001 });
    expect(await readdir(desk.folder)).toEqual(['sftp']);
  });
});

it('a file that cannot be read is refused without quoting anything', async () => {
  const desk = await openReviewDesk();
  await desk.put(writeFileOf([desk.cells()]));
  await rm(desk.root, { recursive: true });
  expect(await desk.review.accept(filePath)).toEqual({
    kind: 'refusal',
    statusCode: 2001,
    message: "the file can't be reviewed now (ENOENT)",
  });
});
