import type { ReviewService } from '../../src/service/client.js';
import type { SftpDouble } from '../crash/sftp-double.js';
import { ok } from '../review/scripted-service.js';
import type { Booked } from './guests.js';
import { bookingOf, identify, onMapping, type Result } from './journal.js';
import type { ResultFile } from './results.js';

/** A result that will lie on the server. */
export interface Written extends Result {
  readonly at: number;
  readonly path: string;
  /** The run that sent the file which it is about. */
  readonly run: string;
}

interface NightService extends ReviewService {
  /** Writes results about the file that was sent last. */
  write(results: readonly ResultFile[]): void;
}

interface Listeners {
  readonly onSent: (by: 'body' | 'file', bookings: readonly Booked[]) => Promise<void>;
  readonly onWritten: (written: Written) => void;
  /** What the next file leads to. */
  readonly nextResults: () => readonly ResultFile[];
  /** The number of the business day that is worked on, and its run. */
  readonly day: () => number;
  readonly run: () => string;
}

interface SentFile {
  readonly run: string;
  readonly path: string;
  readonly header: string;
  readonly lines: readonly string[];
}

/** The service of a night: it takes everything, and writes the results that the history has. */
export function createNightService(
  sftp: SftpDouble,
  clock: () => number,
  { onSent, onWritten, nextResults, day, run }: Listeners,
): NightService {
  /** The file of each day that was sent last. */
  const files = new Map<number, SentFile>();

  function write({ afterMs, part = '', names, wrong, isForeign = false, oddity }: ResultFile): void {
    const sent = files.get(day());
    if (!sent) throw new Error('there is no file that a result could be about');
    const at = clock() + afterMs;
    const path = sent.path.replace(/\.csv$/, `${part}_Result.csv`);
    // It judges mappings: stays of one booking on the same mapping have the same verdict.
    const isAmong = (line: string, some: ResultFile['wrong']) =>
      some.some((guest) => onMapping(bookingOf(guest, day())) === onMapping(identify(readLine(line))));
    const lines = names ? sent.lines.filter((line) => isAmong(line, names)) : sent.lines;
    const isUnclear = (line: string) => oddity?.kind === 'words' && isAmong(line, oddity.unclear);
    const judged = lines.map((line) => ({ line, isCorrect: !isAmong(line, wrong) }));
    const rows = judged.map(
      ({ line, isCorrect }) => `${line},${isUnclear(line) ? 'perhaps' : toWord(isCorrect)}`,
    );
    const foreign = [1, 2].map((number) => `${foreignLine(number)},False`);
    const header = `${sent.header},IsCorrectMapping`;
    const table = isForeign ? [header, ...foreign] : makeOdd([header, ...rows], oddity);
    sftp.replace(path, `${table.join('\n')}\n`, at);
    const isUnreadable = !isForeign && oddity?.kind === 'column twice';
    const said = judged.filter(({ line }) => !isUnclear(line) && !isUnreadable);
    onWritten({
      ...{ run: sent.run, at, path, name: part, second: Math.floor(at / 1_000), isForeign, isUnreadable },
      rows: isForeign
        ? []
        : said.map(({ line, isCorrect }) => ({ booking: identify(readLine(line)), isCorrect })),
    });
  }

  return {
    write: (results) => results.forEach(write),

    async reviewBookedHotels(body) {
      const { Hotels } = JSON.parse(Buffer.from(body).toString()) as { readonly Hotels: readonly Booked[] };
      await onSent('body', Hotels);
      return ok;
    },

    async reviewBookedHotelsByFile(path) {
      const text = `${sftp.read(path)}`;
      const [header = '', ...lines] = text.trimEnd().split('\n');
      files.set(day(), { run: run(), path, header, lines });
      await onSent('file', lines.map(readLine));
      nextResults().forEach(write);
      return ok;
    },
  };
}

/** A row of the review file; no cell of the pool needs quotes. */
function readLine(text: string): Booked {
  const [ServiceId = '', BookingReferenceId = '', BookingClientName = '', ProviderName = '', ...cells] =
    text.split(',');
  const [ProviderHotelId = '', checkIn = '', checkOut = ''] = cells;
  return {
    ...{ ServiceId, BookingReferenceId, BookingClientName, ProviderName, ProviderHotelId },
    ...{ CheckInDate: toIso(checkIn), CheckOutDate: toIso(checkOut) },
  };
}

/** A row about somebody else's booking. */
function foreignLine(number: number): string {
  return `77,X-${number},Nobody,Elsewhere,9,01122026,08122026`;
}

function toWord(isCorrect: boolean): string {
  return isCorrect ? 'True' : 'False';
}

function makeOdd([header = '', ...rows]: readonly string[], oddity?: ResultFile['oddity']): string[] {
  switch (oddity?.kind) {
    // Half of the rows at most may be about others: it would be taken for somebody else's.
    case 'rows':
      return [
        header,
        '',
        ...rows,
        ...rows.slice(0, 1).map(() => `${foreignLine(1)},False`),
        `Total: ${rows.length}`,
      ];
    case 'column twice':
      return [header, ...rows].map((line) => `${line},${line.split(',').at(-1)}`);
    case 'words':
    case undefined:
      return [header, ...rows];
  }
}

function toIso(date: string): string {
  return `${date.slice(4)}-${date.slice(2, 4)}-${date.slice(0, 2)}`;
}
