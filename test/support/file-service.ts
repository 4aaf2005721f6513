import { readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { type ArrivingRequest, type StandInAnswer, type StandInHandler, success } from './http-stand-in.js';

/** A record of the review file, keyed by column name. */
export type SentRecord = Readonly<Record<string, string>>;

export interface ResultOptions {
  /** References whose mapping is marked as incorrect. */
  readonly affected?: readonly string[];
  /** Replaces the records that were sent. */
  readonly records?: readonly SentRecord[];
  /** Part of the name, between the day and `_Result.csv`. */
  readonly infix?: string;
}

/** A by-file call as the service sees it. */
export interface FileCall {
  /** Counted from 1. */
  readonly number: number;
  /** As received: `VerifyMappings/112026/20112026.csv`. */
  readonly path: string;
  /** The bytes of the file when the call arrived; undefined when there was no such file. */
  readonly file: Buffer | undefined;
  /** The content of a result for the file. */
  renderResult(options?: ResultOptions): string;
  /** Writes a result beside the file, atomically. */
  writeResult(options?: ResultOptions): Promise<void>;
}

export interface FileService {
  readonly handler: StandInHandler;
  readonly calls: readonly FileCall[];
}

/**
 * The by-file half of the service: like the real one, it reads the disk of the SFTP server.
 *
 * @param disk a path of the SFTP root on this machine's disk
 * @param onCall answers a call; by default with success and an immediate result
 * @param onPost answers the other requests
 */
export function createFileService(
  disk: (path: string) => string,
  onCall: (call: FileCall) => StandInAnswer | Promise<StandInAnswer> = async (call) => {
    await call.writeResult();
    return success;
  },
  onPost: (request: ArrivingRequest, number: number) => StandInAnswer | Promise<StandInAnswer> = () =>
    success,
): FileService {
  const calls: FileCall[] = [];
  return {
    calls,
    async handler(request, number) {
      const { pathname, searchParams } = new URL(request.url, 'http://service');
      if (!pathname.endsWith('/hotels/ReviewMappingsOfBookedHotelsByFile')) return onPost(request, number);
      const path = searchParams.get('ftpFilePath') ?? '';
      const file = await readFile(disk(path)).catch(() => undefined);
      const call = describeCall(calls.length + 1, path, file, disk);
      calls.push(call);
      return onCall(call);
    },
  };
}

function describeCall(
  number: number,
  path: string,
  file: Buffer | undefined,
  disk: (path: string) => string,
): FileCall {
  const renderResult = ({ affected = [], records = parseRecords(file) }: ResultOptions = {}) =>
    stringify(
      records.map((record) => ({
        ...record,
        IsCorrectMapping: affected.includes(record.BookingReferenceId ?? '') ? 'False' : 'True',
      })),
      { header: true },
    );
  return {
    number,
    path,
    file,
    renderResult,
    async writeResult(options = {}) {
      const day = path.split('/').at(-1)?.replace('.csv', '');
      const target = join(dirname(disk(path)), `${day}${options.infix ?? ''}_Result.csv`);
      await writeFile(`${target}.tmp`, renderResult(options));
      await rename(`${target}.tmp`, target);
    },
  };
}

export function parseRecords(file: Buffer | undefined): SentRecord[] {
  return file === undefined ? [] : parse(file, { columns: true });
}
