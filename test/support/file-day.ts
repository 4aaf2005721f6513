import { readdirSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import { createDayFolder, type DayFolder, type Settings } from './day-folder.js';
import { createFileService, type FileCall, type FileService } from './file-service.js';
import {
  type ArrivingRequest,
  quotingRequests,
  type StandIn,
  type StandInAnswer,
  startStandIn,
} from './http-stand-in.js';
import type { MadeBooking } from './made-bookings.js';
import type { RunningSftpServer } from './sftp-server.js';

/** The path of the review file of the tests' day, from the SFTP root. */
export const remoteFolder = 'VerifyMappings/112026';
export const remotePath = `${remoteFolder}/20112026.csv`;
export const resultPath = `${remoteFolder}/20112026_Result.csv`;

export interface FileDayOptions {
  readonly bookings?: string | Uint8Array;
  readonly settings?: Settings;
  /** The address under which the command finds the server, when something sits between them. */
  readonly port?: number;
  readonly onCall?: (call: FileCall) => StandInAnswer | Promise<StandInAnswer>;
  readonly onPost?: (request: ArrivingRequest, number: number) => StandInAnswer | Promise<StandInAnswer>;
}

export interface FileDay {
  readonly folder: DayFolder;
  readonly standIn: StandIn;
  readonly service: FileService;
  readonly server: RunningSftpServer;
  /** The names in the day's folder on the server, sorted. */
  listRemote(): string[];
}

/** A folder configured to deliver its day by file to that server, and a service that looks there. */
export async function prepareFileDay(
  server: RunningSftpServer,
  { bookings, settings = {}, port = server.port, onCall, onPost }: FileDayOptions,
): Promise<FileDay> {
  const service = createFileService(server.disk, onCall, onPost);
  const standIn = await startStandIn(quotingRequests(service.handler));
  onTestFinished(() => standIn.close());
  const { file = {}, ...others } = settings as { file?: Settings };
  const folder = await createDayFolder({
    baseUrl: standIn.baseUrl,
    ...(bookings !== undefined && { bookings }),
    settings: {
      delivery: 'file',
      file: { ...sftpSettings(server, port), resultPollSeconds: 0.05, resultQuietSeconds: 0.3, ...file },
      ...others,
    },
  });
  return {
    folder,
    standIn,
    service,
    server,
    listRemote: () => readdirSync(server.disk(remoteFolder)).sort(),
  };
}

export function sftpSettings({ login, root, fingerprints }: RunningSftpServer, port: number): Settings {
  return {
    sftp: {
      host: '127.0.0.1',
      port,
      username: login.username,
      ...(login.password !== undefined && { password: login.password }),
      ...(login.privateKeyFile !== undefined && { privateKeyFile: login.privateKeyFile }),
      hostKey: fingerprints,
      root,
    },
  };
}

/** The review file of these bookings, which must need no quotes. Written by spec 2.6, independently of the code. */
export function toReviewFile(bookings: readonly MadeBooking[]): string {
  const dayFirst = (date: string) => date.split('-').reverse().join('');
  const lines = bookings.map(({ CheckInDate, CheckOutDate, ...others }) =>
    [...Object.values(others), dayFirst(CheckInDate), dayFirst(CheckOutDate)].join(','),
  );
  const columns =
    'BookingReferenceId,BookingClientName,ProviderName,ProviderHotelId,CheckInDate,CheckOutDate';
  return `Service Mappings Id,${columns}\n${lines.join('\n')}\n`;
}
