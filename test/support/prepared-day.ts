import { onTestFinished } from 'vitest';
import { createDayFolder, type DayFolder, type DayFolderOptions } from './day-folder.js';
import { type StandIn, type StandInHandler, startStandIn } from './http-stand-in.js';

export interface PreparedDay {
  readonly standIn: StandIn;
  readonly folder: DayFolder;
}

/** A service that does what the handler says, and a folder that is configured for it. Both go with the test. */
export async function prepareDay(
  options: Omit<DayFolderOptions, 'baseUrl'>,
  handler?: StandInHandler,
): Promise<PreparedDay> {
  const standIn = await startStandIn(handler);
  onTestFinished(() => standIn.close());
  return { standIn, folder: await createDayFolder({ ...options, baseUrl: standIn.baseUrl }) };
}
