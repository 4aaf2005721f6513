import { stat } from 'node:fs/promises';
import { openSsh } from '../../test/support/sftp-programs.js';
import type { Comparison } from '../comparison.js';
import { prepareFileStage } from '../file-stage.js';
import { findMissingProgram } from '../harness/environment.js';
import { findTimeObstacle } from '../harness/measured-process.js';

const bookings = { full: 1_000_000, quick: 50_000 };

/** The disk space of a finished day, compared with its CSV. */
export const ledgerSize: Comparison = {
  name: 'ledger-size',
  work: 'SQLite ledger after 1,000,000 bookings by file',
  against: "the day's CSV",
  unit: 'bytes a booking',
  reach: { ratio: { atMost: 3 } },
  // The same bytes every time.
  rounds: 1,
  findObstacle: () =>
    findTimeObstacle() ?? openSsh.needs ?? findMissingProgram('ssh-keyscan', 'openssh-client'),
  async prepare(scale) {
    const stage = await prepareFileStage(bookings[scale]);
    const bytesABooking = async (file: string) => ({
      value: (await stat(file)).size / stage.counts.bookings,
    });
    return {
      ours: {
        name: 'booked-hotel review',
        async run() {
          const { cpuSeconds, peakMb } = await stage.deliver('ours');
          return { ...(await bytesABooking(stage.ledgerFile)), cpuSeconds, peakMb };
        },
      },
      other: { name: "the source's CSV", run: () => bytesABooking(stage.csvFile) },
      notes: [
        'After the command ended, WAL merged.',
        'The ledger keeps lines of the review file, whichever way they are sent.',
      ],
      close: () => stage.close(),
    };
  },
};
