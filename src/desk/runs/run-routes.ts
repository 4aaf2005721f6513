import type { Archive } from '../../archive/archive.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { PendingLimits } from '../../review/day/pending.js';
import type { WriteCommand } from '../../text/shell.js';
import type { DeskRoute } from '../page.js';
import { createBookingListPage } from './booking-list-page.js';
import { createManifestDownload, createResultDownload } from './downloads.js';
import { createRefusedPage } from './refused-page.js';
import { createRejectedPage } from './rejected-page.js';
import { createRunEvents, createRunPage } from './run-page.js';
import { createRunWatches } from './run-watch.js';

export interface RunParts {
  readonly ledger: ReadOnlyLedger;
  readonly archive: Pick<Archive, 'read'>;
  readonly limits: PendingLimits;
  /** What a place counts in the source, such as "line". */
  readonly placeUnit: string;
  readonly command: WriteCommand;
  readonly clock: () => number;
}

/** A run, the live part of its page, the lists behind its counts, and its files in the archive. */
export function createRunRoutes(parts: RunParts): readonly DeskRoute[] {
  return [
    createRunPage(parts),
    createRunEvents({ ...parts, watches: createRunWatches(parts) }),
    createRejectedPage(parts),
    createRefusedPage(parts),
    createBookingListPage('unanswered', parts),
    createBookingListPage('posted', parts),
    createBookingListPage('suspects', parts),
    createBookingListPage('affected', parts),
    createResultDownload(parts),
    createManifestDownload(parts),
  ];
}
