import { openSsh } from '../../test/support/sftp-programs.js';
import type { Comparison, Contestant, Reach } from '../comparison.js';
import { type FileContestant, type FileStage, prepareFileStage } from '../file-stage.js';
import { findMissingProgram } from '../harness/environment.js';
import { findTimeObstacle } from '../harness/measured-process.js';

export interface FileRunOptions {
  readonly name: string;
  readonly work: string;
  readonly bookings: Readonly<Record<'full' | 'quick', number>>;
  /** `ours` is compared with itself: encrypted against not. */
  readonly peer: Exclude<FileContestant, 'ours-encrypted'>;
  readonly reach: Reach;
}

interface Peer {
  readonly what: string;
  readonly does: string;
  findObstacle(): string | undefined;
}

const peers: Readonly<Record<FileRunOptions['peer'], Peer>> = {
  ours: {
    what: 'the same without encryption',
    does: 'With the setting keys, ledger, spool and archive are encrypted.',
    findObstacle: () => undefined,
  },
  'node-script': {
    what: 'a script in Node',
    findObstacle: () => undefined,
    does: 'The script (csv-parse, zod, csv-stringify, fastPut) keeps no records and sends duplicates.',
  },
  'python-script': {
    what: 'a script in Python',
    findObstacle: () =>
      findMissingProgram('python3', 'python3') ?? findMissingProgram('sftp', 'openssh-client'),
    does: 'The script (csv, OpenSSH sftp, same cipher) keeps no records and drops duplicates.',
  },
};

/** The whole command for a day by file, from the CSV to the archived result, against a script of one evening. */
export function createFileRunComparison(options: FileRunOptions): Comparison {
  const { name, work, bookings, peer, reach } = options;
  return {
    name,
    work,
    against: peers[peer].what,
    unit: 's',
    reach,
    findObstacle: () =>
      findTimeObstacle() ??
      openSsh.needs ??
      findMissingProgram('ssh-keyscan', 'openssh-client') ??
      peers[peer].findObstacle(),
    async prepare(scale) {
      const stage = await prepareFileStage(bookings[scale]);
      const { counts } = stage;
      const mixed = `${show(counts.bookings)} bookings, ${show(counts.duplicates)} duplicates and ${show(counts.malformed)} malformed records`;
      return {
        ours: contestantOn(stage, peer === 'ours' ? 'ours-encrypted' : 'ours', 'booked-hotel review'),
        other: contestantOn(stage, peer, peer.replace('-', ' ')),
        notes: [
          `${mixed}.`,
          'All bookings fit into the file.',
          peers[peer].does,
          "Without the service's time.",
        ],
        close: () => stage.close(),
      };
    },
  };
}

function contestantOn(stage: FileStage, contestant: FileContestant, name: string): Contestant {
  return {
    name,
    async run() {
      const { workSeconds, cpuSeconds, peakMb } = await stage.deliver(contestant);
      return { value: workSeconds, cpuSeconds, peakMb };
    },
  };
}

function show(count: number): string {
  return count.toLocaleString('en-GB');
}
