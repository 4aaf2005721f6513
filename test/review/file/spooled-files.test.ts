import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readStoredBatches } from '../../../src/ledger/batches.js';
import {
  ChangedFileError,
  ensureSpooled,
  renderReviewFile,
  reviewName,
  spoolReviewFile,
} from '../../../src/review/file/file-attempt.js';
import { withReplaced } from '../../support/fake-ledger.js';
import { fileOf, linesOf } from './file-bookings.js';
import { blocksOf, fileBookings, prepareFileRun, readWhole } from './file-run.js';

const bookings = fileBookings(5);
const bytes = fileOf(bookings);
const sha256 = createHash('sha256').update(bytes).digest('hex');

describe('the review file', () => {
  it('consists of the header and the stored lines, in the order of the bookings', async () => {
    const { parts, run } = await prepareFileRun({ bookings });
    expect(await readWhole(renderReviewFile(parts.ledger, run))).toBe(bytes.toString());
  });

  it('is only a header if no booking is stored for it', async () => {
    const { parts, run } = await prepareFileRun({ bookings: [] });
    expect(await readWhole(renderReviewFile(parts.ledger, run))).toBe(fileOf([]).toString());
  });

  it('has its master id under the name that was configured when the run began, quoted where necessary', async () => {
    const { parts, run } = await prepareFileRun({ bookings: [], masterIdColumn: 'Id, ours' });
    const header = await readWhole(renderReviewFile(parts.ledger, run));
    expect(header.split('\n')[0]).toMatch(/^"Id, ours",BookingReferenceId,/);
  });

  it('is complete in the spool, under the run’s name', async () => {
    const { parts, run } = await prepareFileRun({ bookings });
    expect(await spoolReviewFile(parts, run)).toEqual({ bytes: bytes.length, sha256 });
    expect(await readWhole(parts.spool.read(reviewName(run)))).toBe(bytes.toString());
    expect(await parts.spool.list()).toEqual(['20261120-k3f9xq7d.csv']);
  });

  it('is read back by batch, numbered as stored', async () => {
    const { parts, run } = await prepareFileRun({ bookings });
    const batches = [];
    for await (const batch of readStoredBatches(parts.ledger, run, 'file')) batches.push(batch);
    expect(batches.map(({ batch, lines }) => [batch, lines.toString()])).toEqual(
      [0, 1, 2].map((batch) => [batch, linesOf(bookings.slice(2 * batch, 2 * batch + 2)).toString()]),
    );
  });
});

describe('a recorded review file', () => {
  it('is written again if it is not in the spool, or a different one is', async () => {
    const { parts, finish } = await prepareFileRun({ bookings });
    const run = await finish('write', { rows: 5, bytes: bytes.length, sha256 });
    await ensureSpooled(parts, run);
    expect(await parts.spool.measure(reviewName(run))).toEqual({ bytes: bytes.length, sha256 });
    await parts.spool.write(reviewName(run), blocksOf('half of it'));
    await ensureSpooled(parts, run);
    expect(await parts.spool.measure(reviewName(run))).toEqual({ bytes: bytes.length, sha256 });
  });

  it('is not written again if it is there', async () => {
    const { parts, finish } = await prepareFileRun({ bookings });
    const run = await finish('write', { sha256 });
    await spoolReviewFile(parts, run);
    const readBatches = () => Promise.reject(new TypeError('expected no reading'));
    await ensureSpooled({ ...parts, ledger: withReplaced(parts.ledger, { bookings: { readBatches } }) }, run);
  });

  it('is refused if the ledger produces other bytes than recorded, in a message without cells', async () => {
    const { parts, finish } = await prepareFileRun({ bookings });
    const run = await finish('write', { sha256: 'ab'.repeat(32) });
    const error = await ensureSpooled(parts, run).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ChangedFileError);
    expect(String(error)).toContain('20261120-k3f9xq7d');
    expect(String(error)).not.toContain('Ana');
  });
});
