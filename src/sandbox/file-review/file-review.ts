import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { stringify } from 'csv-stringify';
import { isCalendarDay } from '../../booking/business-day.js';
import { nameReason, Refusal } from '../common/errors.js';
import { type TextProperty, textFields } from '../common/fields.js';
import { CsvFault, publish, readCsvRecords } from '../common/publish.js';
import { countOf } from '../common/tell.js';
import { type BookedHotel, maxListedBookings } from '../outbox/outbox.js';
import { deliverLater } from '../parts/deliver-later.js';
import type { SandboxParts } from '../parts/parts.js';
import { isCorrectlyMapped, type World } from '../world/world.js';

/** As observed in a live deployment. */
const statusCodes = {
  internal: 2001,
  'bad-request': 2002,
  'bad-hotel-data': 2009,
  'path-missing': 2020,
  'hotels-missing': 2021,
} as const;

/**
 * Creates the by-file operation of the service (spec 4.3), which reads the SFTP server's files on this disk: reads and verifies the
 * file before it responds; the result follows after the delay, then the e-mail. Later changes to the file have no effect.
 *
 * Each accepted call gets its own result, which replaces the one before.
 */
export function createFileReview(parts: SandboxParts) {
  const { root, drafts, world, faults, outbox, signal } = parts;
  let draftCount = 0;

  async function reviewInto(path: ReviewPath, draft: string): Promise<number> {
    try {
      const findings = await reviewFile(path.input, draft, world, signal);
      if (findings.rows === 0)
        throw refuse('hotels-missing', `${path.inputName}: only a header, no booked hotels`);
      schedule(findings, path, draft);
      return findings.rows;
    } catch (error) {
      await rm(draft, { force: true });
      if (error instanceof BrokenFile) throw refuse('bad-hotel-data', `${path.inputName}, ${error.message}`);
      throw error;
    }
  }

  /** @param draft the complete result */
  function schedule(
    { rows, incorrectRows: count, incorrect }: Findings,
    path: ReviewPath,
    draft: string,
  ): void {
    const fault = faults.nextResult();
    const delivery = {
      ...{ name: path.resultName, drafts: [draft], fault },
      async write() {
        const published = await publish(draft, path.result, rows, fault);
        return fault?.kind === 'result-partial'
          ? `only ${published} of ${countOf(rows, 'row')} (fault)`
          : `${countOf(rows, 'row')}, ${count} wrongly mapped`;
      },
      notify: async () =>
        count === 0 ? undefined : outbox.notify({ about: path.inputName, incorrect, count }),
    };
    deliverLater(delivery, parts);
  }

  /**
   * @param ftpFilePath as the call names it
   * @returns the number of the file's rows
   * @throws Refusal, and nothing else
   */
  return async (ftpFilePath: string | undefined): Promise<number> => {
    try {
      signal.throwIfAborted();
      const path = await findReviewFile(root, ftpFilePath);
      await mkdir(drafts, { recursive: true, mode: 0o700 });
      draftCount += 1;
      return await reviewInto(path, join(drafts, `${draftCount}.csv`));
    } catch (error) {
      if (signal.aborted) throw refuse('internal', 'the service is being stopped');
      if (error instanceof Refusal) throw error;
      throw refuse('internal', `the file can't be reviewed now (${nameReason(error)})`);
    }
  };
}

function refuse(reason: keyof typeof statusCodes, message: string): Refusal {
  return new Refusal(statusCodes[reason], message);
}

/** A review file, and where its result belongs. */
interface ReviewPath {
  /** On this disk. */
  readonly input: string;
  readonly result: string;
  /** As SFTP clients name them, without a leading slash. */
  readonly inputName: string;
  readonly resultName: string;
}

const pathForm = 'VerifyMappings/MMYYYY/DDMMYYYY.csv';
const pathPattern = /^\/?(VerifyMappings\/(\d{2})(\d{4})\/(\d{2})(\d{2})(\d{4}))\.csv$/;
const maxQuotedPath = 200;

/**
 * Finds the file that a call names: a path relative to the SFTP root, with at most one leading slash. Never looks outside
 * the root.
 */
async function findReviewFile(root: string, ftpFilePath: string | undefined): Promise<ReviewPath> {
  if (ftpFilePath === undefined || ftpFilePath.trim() === '')
    throw refuse('path-missing', 'ftpFilePath is missing: expected the path of the uploaded file');
  const quoted = JSON.stringify(ftpFilePath.slice(0, maxQuotedPath));
  const [, name, folderMonth, folderYear, dayOfMonth, month, year] = pathPattern.exec(ftpFilePath) ?? [];
  if (name === undefined)
    throw refuse(
      'bad-request',
      `ftpFilePath: expected ${pathForm}, relative to the SFTP root, got: ${quoted}`,
    );
  if (!isCalendarDay(`${year}-${month}-${dayOfMonth}`) || folderMonth !== month || folderYear !== year)
    throw refuse(
      'bad-request',
      `ftpFilePath: expected a calendar day in the folder of its month, got: ${quoted}`,
    );
  const inputName = `${name}.csv`;
  const resultName = `${name}_Result.csv`;
  const input = join(root, inputName);
  const found = await stat(input).catch(() => undefined);
  if (!found?.isFile())
    throw refuse('bad-request', `ftpFilePath: there is no file ${quoted} on the SFTP server`);
  return { input, result: join(root, resultName), inputName, resultName };
}

/** The column that a result has after those of the file. */
const verdictColumn = 'IsCorrectMapping';

interface Findings {
  readonly rows: number;
  /** Rows with an incorrect mapping. */
  readonly incorrectRows: number;
  /** The first of those rows, as many as an e-mail lists. */
  readonly incorrect: readonly BookedHotel[];
}

/**
 * Reads a review file in one pass: checks it, verifies each booking and drafts the result, which has the file's columns
 * unchanged plus the verdict, and ends lines with LF.
 *
 * @param draft where to write the result; must not exist
 * @throws BrokenFile when the file breaks a rule; the draft is then incomplete
 */
async function reviewFile(
  input: string,
  draft: string,
  world: World,
  signal: AbortSignal,
): Promise<Findings> {
  const incorrect: BookedHotel[] = [];
  let rows = 0;
  let incorrectRows = 0;

  async function* judge(blocks: AsyncIterable<Buffer>): AsyncGenerator<readonly string[]> {
    for await (const { cells, booking } of readRecords(blocks)) {
      if (!booking) {
        yield [...cells, verdictColumn];
        continue;
      }
      const isCorrect = isCorrectlyMapped(booking, world);
      rows += 1;
      if (!isCorrect) incorrectRows += 1;
      if (!isCorrect && incorrect.length < maxListedBookings) incorrect.push(booking);
      yield [...cells, isCorrect ? 'True' : 'False'];
    }
  }

  await pipeline(
    createReadStream(input),
    judge,
    stringify(),
    createWriteStream(draft, { flags: 'wx', mode: 0o600 }),
    { signal },
  );
  return { rows, incorrectRows, incorrect };
}

/** A limit for records, so that one without an end doesn't fill the memory. */
const maxRecordBytes = 2 ** 20;

/** What a text that is no CSV breaks. */
const csvRules: Readonly<Record<CsvFault['kind'], string>> = {
  'open-quote': 'every quotation mark is closed',
  'stray-quote': 'a cell with a quotation mark is quoted, and the quotation marks inside it are doubled',
  'endless-record': `a record has at most ${maxRecordBytes} bytes, and every quotation mark is closed`,
  'not-utf-8': 'text is UTF-8',
};

/** The records of a review file with their cells unchanged; the first is the header, and no booking. */
async function* readRecords(
  blocks: AsyncIterable<Buffer>,
): AsyncGenerator<{ readonly cells: readonly string[]; readonly booking?: BookedHotel }> {
  let line = 1;
  let readBooking: ReturnType<typeof readHeader> | undefined;
  try {
    for await (const cells of readCsvRecords(blocks, maxRecordBytes)) {
      if (readBooking) {
        yield { cells, booking: readBooking(cells, line) };
      } else {
        readBooking = readHeader(cells);
        yield { cells };
      }
      line += 1 + cells.reduce((lineEnds, cell) => lineEnds + cell.split('\n').length - 1, 0);
    }
  } catch (error) {
    throw error instanceof CsvFault ? new BrokenFile(csvRules[error.kind], line) : error;
  }
  if (!readBooking) throw new BrokenFile('a file begins with the header', line);
}

/** A review file that breaks a file rule. (Spec 4.3.) The offending text is left out: it may be a guest's name. */
class BrokenFile extends Error {
  override readonly name = 'BrokenFile';

  /**
   * @param rule what is required
   * @param line counted from 1, including the header
   * @param column as named in the template; undefined for rules that aren't about a column
   */
  constructor(rule: string, line: number, column?: string) {
    super(`${column === undefined ? 'line' : `column ${column}, line`} ${line}: ${rule}`);
  }
}

const masterIdColumn = 'Service Mappings Id';
const template: readonly string[] = [masterIdColumn, ...textFields.map(({ name }) => name)];

const positiveInteger = /^[1-9]\d{0,15}$/;
const writtenDay = /^(\d{2})(\d{2})(\d{4})$/;

/**
 * Reads the header: exactly the template's columns, in any order. (Spec 2.6.)
 *
 * @returns reads the cells of a record, whose columns are in the order of the header
 * @throws BrokenFile, as the reading of a record does for its first invalid cell
 */
function readHeader(header: readonly string[]): (cells: readonly string[], line: number) => BookedHotel {
  if (header[0]?.startsWith('\ufeff'))
    throw new BrokenFile('a file begins with the header, not with a byte order mark', 1);
  for (const column of template) {
    const found = header.filter((name) => name === column).length;
    if (found === 0) throw new BrokenFile('all template columns are present, in exact case', 1, column);
    if (found > 1) throw new BrokenFile('each column is in the header once', 1, column);
  }
  const unknown = header.findIndex((name) => !template.includes(name));
  if (unknown >= 0)
    throw new BrokenFile(`no columns but the template's; cell ${unknown + 1} is not one of them`, 1);

  return (cells, line) => {
    if (cells.length !== header.length)
      throw new BrokenFile('every line has as many cells as the header', line);
    cells.forEach((cell, place) => {
      checkFilled(cell, line, header[place]);
    });
    const read = (column: string) => cells[header.indexOf(column)] ?? '';
    const serviceId = readServiceId(read(masterIdColumn), line);
    const texts = textFields.map(({ name, property, kind }) => [
      property,
      kind === 'date' ? readWrittenDay(read(name), line, name) : read(name),
    ]);
    return { serviceId, ...(Object.fromEntries(texts) as Record<TextProperty, string>) };
  };
}

/** Whether optional cells may be empty is not specified. (Assumed: they may not, like those that read NULL.) */
function checkFilled(cell: string, line: number, column: string | undefined): void {
  const text = cell.trim();
  if (text === '') throw new BrokenFile('no cell is empty or white space only', line, column);
  if (text.toLowerCase() === 'null') throw new BrokenFile('no cell reads NULL, in any case', line, column);
}

function readServiceId(cell: string, line: number): number {
  const serviceId = positiveInteger.test(cell) ? Number(cell) : Number.NaN;
  if (Number.isSafeInteger(serviceId)) return serviceId;
  const rule = `a service hotel id is an integer from 1 to ${Number.MAX_SAFE_INTEGER}, digits only`;
  throw new BrokenFile(rule, line, masterIdColumn);
}

function readWrittenDay(cell: string, line: number, column: string): string {
  const [, dayOfMonth, month, year] = writtenDay.exec(cell) ?? [];
  const day = `${year}-${month}-${dayOfMonth}`;
  if (isCalendarDay(day)) return day;
  throw new BrokenFile('a date is a calendar day as DDMMYYYY', line, column);
}
