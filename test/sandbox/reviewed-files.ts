import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Refusal } from '../../src/sandbox/common/errors.js';
import { createFaultPlan, parseFault } from '../../src/sandbox/common/faults.js';
import { createSeededRandom } from '../../src/sandbox/common/random.js';
import { createFileReview, type FileReview } from '../../src/sandbox/file-review/file-review.js';
import { createOutbox, type Notice, type Outbox } from '../../src/sandbox/outbox/outbox.js';
import { createWorld, type Mapping, type World } from '../../src/sandbox/world/world.js';
import type { CsvReader } from '../support/csv-readers.js';
import { patienceMs } from '../support/patience.js';

/** The columns of the template in the tests' files. */
export const templateColumns = [
  'Service Mappings Id',
  'BookingReferenceId',
  'BookingClientName',
  'ProviderName',
  'ProviderHotelId',
  'CheckInDate',
  'CheckOutDate',
] as const;

export const filePath = 'VerifyMappings/112026/20112026.csv';
export const resultPath = 'VerifyMappings/112026/20112026_Result.csv';

/** A record of a test's file. */
export type Cells = Readonly<Record<(typeof templateColumns)[number], string>>;

export interface ReviewedFilesOptions {
  /** As on the command line: `result-late:30@1`. */
  readonly faults?: readonly string[];
  readonly resultDelayMs?: number;
  /** Replaces the outbox that writes to the test's folder. */
  readonly outbox?: Outbox;
}

/** An SFTP root on this disk and its file review, for one test. */
export interface ReviewedFiles {
  /** SFTP clients can't see anything next to the root. */
  readonly folder: string;
  readonly root: string;
  readonly world: World;
  readonly review: Pick<FileReview, 'close'> & {
    /** What the call is answered: rows that were accepted, or why the file was refused. */
    accept(path: string | undefined): Promise<object>;
  };
  readonly told: readonly string[];
  /** Notices passed to the outbox. */
  readonly notices: readonly Notice[];
  /** Their paths. */
  readonly emails: readonly string[];
  /** A mapping of the world, by index. */
  mapping(place?: number): Mapping;
  /** A record with a correct mapping, with these changes. */
  cells(changes?: Partial<Cells>, place?: number): Cells;
  put(content: string | Uint8Array, path?: string): Promise<void>;
  read(path?: string): Promise<string>;
  /** File names in the folder of the tests' month. */
  list(): Promise<string[]>;
  /** Resolves after `count` lines were told. */
  waitForLines(count?: number): Promise<void>;
}

export async function openReviewedFiles(options: ReviewedFilesOptions = {}): Promise<ReviewedFiles> {
  const { faults = [], resultDelayMs = 0 } = options;
  const folder = await mkdtemp(join(tmpdir(), 'review-files-'));
  const root = join(folder, 'sftp');
  await mkdir(root);
  const world = createWorld({ seed: 4, hotels: 60 });
  const { outbox, notices, emails } = watchOutbox(options.outbox ?? outboxIn(folder, world));
  const told: string[] = [];
  const review = createFileReview({
    root,
    drafts: join(folder, 'drafts'),
    world,
    resultDelayMs,
    faults: createFaultPlan(faults.map(parseFault), createSeededRandom(1)),
    outbox,
    tell: (line) => void told.push(line),
  });
  onTestFinished(async () => {
    await review.close();
    await rm(folder, { recursive: true });
  });

  const accept = (path: string | undefined): Promise<object> =>
    review.accept(path).then(
      (rows) => ({ kind: 'accepted', rows }),
      (error: unknown) => {
        if (!(error instanceof Refusal)) throw error;
        return { kind: 'refusal', statusCode: error.statusCode, message: error.message };
      },
    );

  const files: ReviewedFiles = {
    folder,
    root,
    world,
    review: { accept, close: review.close },
    told,
    notices,
    emails,
    mapping(place = 0) {
      const mapping = world.mappings[place];
      if (!mapping) throw new Error(`the world has no mapping ${place}`);
      return mapping;
    },
    cells(changes = {}, place = 0) {
      const { serviceId, providerName, providerHotelId } = files.mapping(place);
      return {
        'Service Mappings Id': String(serviceId),
        BookingReferenceId: `BR-${place}`,
        BookingClientName: 'Ana Núñez',
        ProviderName: providerName,
        ProviderHotelId: providerHotelId,
        CheckInDate: '20112026',
        CheckOutDate: '22112026',
        ...changes,
      };
    },
    async put(content, path = filePath) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), content);
    },
    read: (path = resultPath) => readFile(join(root, path), 'utf8'),
    list: () => readdir(dirname(join(root, filePath))),
    async waitForLines(count = 1) {
      await vi.waitUntil(() => told.length >= count, { timeout: patienceMs, interval: 10 });
    },
  };
  return files;
}

function outboxIn(folder: string, world: World): Outbox {
  return createOutbox({
    folder: join(folder, 'outbox'),
    from: 'service@example.com',
    to: 'account@example.com',
    world,
    clock: () => Date.UTC(2026, 10, 21, 2, 30),
  });
}

function watchOutbox(outbox: Outbox) {
  const notices: Notice[] = [];
  const emails: string[] = [];
  const watched: Outbox = {
    async notify(notice) {
      notices.push(notice);
      const email = await outbox.notify(notice);
      emails.push(email);
      return email;
    },
  };
  return { outbox: watched, notices, emails };
}

/** A file as a careful client writes it, with every cell quoted. */
export function writeFileOf(records: readonly Cells[], lineEnd = '\n'): string {
  const lines = records.map((record) => templateColumns.map((column) => quote(record[column])).join(','));
  return [templateColumns.join(','), ...lines, ''].join(lineEnd);
}

function quote(cell: string): string {
  return `"${cell.replaceAll('"', '""')}"`;
}

/** The contract of a result, for this reader of files. */
export function describeReadResult(reader: CsvReader): void {
  describe(`a result, read with ${reader.name}`, () => {
    beforeEach(({ skip }) => skip(reader.needs !== undefined, reader.needs));

    it.each(['\n', '\r\n'])(
      "is the file's records as they were, each with its verdict, from a file with %j as line ends",
      async (lineEnd) => {
        const files = await openReviewedFiles();
        const { providerName, providerHotelId } = files.mapping(20);
        const right = [
          {},
          { BookingClientName: 'García, Luis', BookingReferenceId: 'BR "7"' },
          { BookingClientName: 'Wang 伟 👩‍👩‍👧 שלום' },
          { BookingClientName: '  Ana\tNúñez ' },
          { BookingClientName: `Zoë${lineEnd}Brandt` },
          { BookingClientName: '=1+1', BookingReferenceId: '-5' },
          { BookingClientName: '"' },
        ].map((changes, place) => files.cells(changes, place));
        const wrong = [
          { ProviderName: providerName, ProviderHotelId: providerHotelId },
          { ProviderHotelId: 'no such hotel' },
          { ProviderName: 'No such provider' },
          { 'Service Mappings Id': '7' },
        ].map((changes) => files.cells(changes));
        await files.put(writeFileOf([...right, ...wrong], lineEnd));

        expect(await files.review.accept(filePath)).toEqual({ kind: 'accepted', rows: 11 });
        await files.waitForLines();

        const judged = (IsCorrectMapping: string) => (cells: Cells) => ({ ...cells, IsCorrectMapping });
        expect(reader.read(join(files.root, resultPath))).toEqual([
          ...right.map(judged('True')),
          ...wrong.map(judged('False')),
        ]);
      },
    );
  });
}
