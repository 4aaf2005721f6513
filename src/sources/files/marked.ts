import type { BusinessDay } from '../../booking/business-day.js';
import { SourceError } from '../../review/source.js';
import type { DayFile, FileReading } from './day-file.js';

/** The day's file, which counts as missing until its marker is there: it may still be being written. */
export function createMarkedDayFile(file: DayFile, marker: DayFile): DayFile {
  return {
    ...file,
    async *read(day, reading) {
      if (!(await isThere(marker, day, reading))) {
        throw new SourceError(
          'missing',
          `${file.locate(day)} is not marked as complete: there is no ${marker.locate(day)} (source.doneMarker)`,
        );
      }
      yield* file.read(day, reading);
    },
  };
}

/** Whatever the marker contains. */
async function isThere(marker: DayFile, day: BusinessDay, reading: FileReading): Promise<boolean> {
  try {
    for await (const _ of marker.read(day, reading)) break;
    return true;
  } catch (error) {
    if (error instanceof SourceError && error.fault === 'missing') return false;
    throw error;
  }
}
