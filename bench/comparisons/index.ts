import type { Comparison } from '../comparison.js';
import { createBusyDeskComparison } from './busy-desk.js';
import { listedCases, shownCase } from './cases.js';
import { createCollectingComparison } from './collecting.js';
import { createFileRunComparison } from './file-run.js';
import { createGrowthComparison } from './growth.js';
import { ledgerSize } from './ledger-size.js';
import { createMappingsComparison } from './mappings.js';
import { memoryComparisons } from './memory.js';
import { queueMemory } from './queue-memory.js';
import { createSendingComparison } from './sending.js';
import { showBooking } from './show-booking.js';
import { stayIndex } from './stay-index.js';
import { createStaysComparison, createWatchComparison } from './stays.js';
import { twoWorkers } from './two-workers.js';
import { createUploadComparison } from './upload.js';

const millionByFile = {
  work: '1,000,000 bookings by file',
  bookings: { full: 1_000_000, quick: 50_000 },
};

/** In the order of the table of figures. */
export const comparisons: readonly Comparison[] = [
  createFileRunComparison({
    ...millionByFile,
    name: 'file-run-node-script',
    peer: 'node-script',
    reach: { ratio: { atMost: 0.3 } },
  }),
  createFileRunComparison({
    ...millionByFile,
    name: 'file-run-python-script',
    peer: 'python-script',
    reach: { ratio: { atMost: 0.65 } },
  }),
  createFileRunComparison({
    ...millionByFile,
    work: '1,000,000 bookings by file, encrypted',
    name: 'file-run-encrypted',
    peer: 'ours',
    reach: { ratio: { atMost: 1.1 } },
  }),
  createUploadComparison({
    name: 'upload-80-mb',
    work: 'upload of 80 MB',
    megabytes: { full: 80, quick: 20 },
  }),
  createUploadComparison({
    name: 'upload-1-gb',
    work: 'upload of 1 GB',
    megabytes: { full: 1_000, quick: 100 },
  }),
  createGrowthComparison({
    name: 'growth-memory',
    grows: 'memory',
    bookings: {
      full: { large: 10_000_000, small: 100_000 },
      quick: { large: 200_000, small: 20_000 },
    },
    reach: { ratio: { atMost: 1.25 }, ours: { atMost: 220, unit: 'MB' } },
  }),
  createGrowthComparison({
    name: 'growth-time',
    grows: 'time',
    bookings: {
      full: { large: 10_000_000, small: 1_000_000 },
      quick: { large: 200_000, small: 20_000 },
    },
    reach: { ratio: { atMost: 10.5 } },
  }),
  createSendingComparison({
    name: 'sending',
    work: 'sending 1,000,000 bookings by body',
    bookings: { full: 1_000_000, quick: 100_000 },
    latencyMs: 0,
    reach: { ratio: { atLeast: 0.85 } },
  }),
  createSendingComparison({
    name: 'sending-slow-service',
    work: 'sending 500,000 bookings, service takes 50 ms',
    bookings: { full: 500_000, quick: 100_000 },
    latencyMs: 50,
    reach: { ratio: { atLeast: 0.98 } },
  }),
  queueMemory,
  twoWorkers,
  createFileRunComparison({
    name: 'small-day',
    work: '1,000 bookings by file, start-up included',
    bookings: { full: 1_000, quick: 1_000 },
    peer: 'node-script',
    reach: { ratio: { atMost: 0.8 } },
  }),
  ledgerSize,
  showBooking,
  stayIndex,
  createStaysComparison('stays-at-hotel', 'sqlite'),
  createStaysComparison('stays-at-hotel-postgres', 'postgres'),
  createWatchComparison('watch', 'sqlite'),
  createWatchComparison('watch-postgres', 'postgres'),
  ...memoryComparisons,
  listedCases,
  shownCase,
  createBusyDeskComparison('busy-desk', 'sqlite'),
  createBusyDeskComparison('busy-desk-postgres', 'postgres'),
  createMappingsComparison({
    name: 'mappings-sync',
    work: 'first sync of 1,000,000 mappings',
    mappings: { full: 1_000_000, quick: 50_000 },
  }),
  createCollectingComparison({
    name: 'collect-postgres',
    database: 'postgres',
    bookings: { full: 1_000_000, quick: 50_000 },
  }),
  createCollectingComparison({
    name: 'collect-mariadb',
    database: 'mariadb',
    bookings: { full: 1_000_000, quick: 50_000 },
  }),
];
