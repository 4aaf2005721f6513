import type { BuiltCommands } from '../support/built-commands.js';
import { listCommandNames } from '../support/command-help.js';
import type { Samples } from '../support/desk-month/samples.js';

/** What a command is asked for, by the name of the file that records it. */
export interface Asked {
  readonly name: string;
  readonly lines: readonly (readonly string[])[];
}

/** What the commands below are about. */
export interface MonthSamples extends Samples {
  /** The day of the run by file. */
  readonly fileDay: string;
  /** The path of an e-mail of the service. */
  readonly email: string;
}

/** The commands that only read, over the recorded month. Each is recorded as text and as JSON. */
export function listReading({ failedDay, nearestCase, fileDay, ...samples }: MonthSamples): readonly Asked[] {
  const { providerName, providerHotelId, reference, email } = samples;
  return withJson([
    {
      name: 'status',
      lines: [
        ['status'],
        ['status', '--from', '2026-11-10', '--to', '2026-11-12'],
        ['status', '--from', '2026-11-12', '--to', '2026-11-10'],
        ['status', fileDay],
        ['status', failedDay],
      ],
    },
    {
      name: 'show',
      lines: [
        ['show', reference],
        ['show', reference, '--answers'],
        ['show', 'BR-none'],
      ],
    },
    {
      name: 'affected',
      lines: [
        ['affected', fileDay],
        ['affected', fileDay, '--unanswered'],
        ['affected', fileDay, '--csv', 'affected.csv'],
        ['affected', '--from', '2026-11-01', '--to', '2026-11-22'],
      ],
    },
    {
      name: 'rejected',
      lines: [
        ['rejected', fileDay],
        ['rejected', '2020-01-01'],
      ],
    },
    { name: 'refused', lines: [['refused', fileDay]] },
    { name: 'posted', lines: [['posted', fileDay]] },
    { name: 'suspects', lines: [['suspects', fileDay]] },
    {
      name: 'verify',
      lines: [
        ['verify', fileDay],
        ['verify', failedDay],
      ],
    },
    {
      name: 'report',
      lines: [
        ['report', fileDay],
        ['report', failedDay, '--html', 'failed-day.html'],
      ],
    },
    {
      name: 'providers',
      lines: [['providers'], ['providers', '--from', '2026-11-10', '--to', '2026-11-12']],
    },
    { name: 'evidence', lines: [['evidence', reference, '--out', 'evidence.zip']] },
    { name: 'cases', lines: [['cases'], ['cases', '--state', 'resolved'], ['cases', '--left']] },
    {
      name: 'case',
      lines: [
        ['case', String(nearestCase)],
        ['case', '99999'],
      ],
    },
    { name: 'audit', lines: [['audit', '--from', '2026-11-20']] },
    { name: 'privacy', lines: [['privacy']] },
    {
      name: 'guest',
      lines: [
        ['guest', 'export', reference],
        ['guest', 'purge', '--dry-run'],
      ],
    },
    { name: 'user', lines: [['user', 'list']] },
    {
      name: 'mappings',
      lines: [
        ['mappings', 'show', providerName, providerHotelId],
        ['mappings', 'stats'],
      ],
    },
    { name: 'brands', lines: [['brands']] },
    {
      name: 'verdicts',
      lines: [
        ['verdicts', 'list'],
        ['verdicts', 'list', '--unknown'],
        ['verdicts', 'import', email],
      ],
    },
    { name: 'doctor', lines: [['doctor', '--day', fileDay]] },
    {
      name: 'sandbox',
      lines: [['sandbox', 'bookings', '--day', '2026-11-22', '--count', '20', '--out', 'made.csv']],
    },
    {
      name: 'init',
      lines: [
        [
          ...['init', `bookings-${fileDay}.csv`, '--timezone', 'Europe/Madrid', '--delivery', 'body'],
          ...['--config', 'new.yaml'],
        ],
        ['init', `bookings-${fileDay}.csv`],
        ['init', '--kind', 'postgres', '--config', 'postgres.yaml'],
      ],
    },
    { name: 'hotels', lines: [['hotels', 'load', 'no-such-file.csv']] },
    { name: 'completion', lines: [['completion', 'tcsh']] },
    {
      name: 'run',
      lines: [
        ['run', fileDay, '--dry-run'],
        ['run', fileDay, '--dry-run', '--delivery', 'file', '--out', 'out'],
        ['run', '2026-10-01', '--dry-run'],
        ['run', fileDay],
        ['run', 'yesterdy'],
      ],
    },
  ]);
}

/** The commands that change something, in this order. */
export function listChanging({ failedDay, nearestCase, reference }: Samples): readonly Asked[] {
  const id = String(nearestCase);
  return withJson([
    // Of yesterday, and of the wrong year.
    { name: 'run', lines: [['run'], ['run', '2027-11-22']] },
    {
      name: 'replay',
      lines: [
        ['replay', failedDay, '--reason', 'a recorded replay'],
        ['replay', failedDay, '--late'],
        ['replay', '2026-11-15', '--to', '2026-11-22', '--missing', '--dry-run'],
        ['replay', '2026-11-15', '--to', '2026-11-22', '--missing', '--reason', 'an outage'],
        ['replay', '2026-11-15', '--to', '2026-11-14', '--late', '--reason', 'backwards'],
      ],
    },
    {
      name: 'cancel',
      lines: [
        ['cancel', failedDay, '--reason', 'nothing to cancel'],
        ['cancel', '2020-01-01', '--reason', 'nothing to cancel'],
        // It waits for its result.
        ['cancel', '2026-11-21', '--reason', 'the result was lost'],
      ],
    },
    {
      name: 'case',
      lines: [
        ['case', id, 'assign', 'Ada'],
        ['case', id, 'report', '--note', 'ticket 1'],
        ['case', id, 'resolve', reference, '--as', 'rebooked', '--note', 'moved'],
        ['case', id, 'dismiss', '--note', 'one house'],
        ['case', id, 'reopen', '--note', 'two houses'],
      ],
    },
    { name: 'mappings', lines: [['mappings', 'sync']] },
    { name: 'notify', lines: [['notify', 'test']] },
    { name: 'export', lines: [['export', 'request', '--email', 'ops@agency.example']] },
    {
      name: 'user',
      lines: [
        ['user', 'remove', 'vera'],
        ['user', 'list'],
      ],
    },
    { name: 'guest', lines: [['guest', 'erase', reference, '--reason', 'the guest asked']] },
    { name: 'show', lines: [['show', reference]] },
    { name: 'audit', lines: [['audit', '--from', '2026-11-23']] },
    { name: 'backup', lines: [['backup', 'no-such-folder/copy.db']] },
  ]);
}

/**
 * The same archive with a ledger that knows nothing of it, and an export whose column tells cancelled bookings.
 *
 * @param config names that ledger, which does not exist yet, and that export
 */
export function listLost(fileDay: string, config: string): readonly Asked[] {
  const reference = `BR-${fileDay.slice(2).replaceAll('-', '')}-1`;
  const lines = [
    ['status'],
    ['status', fileDay],
    ['show', reference],
    ['verify', fileDay],
    ['privacy'],
    ['backup', 'copy.db'],
    ['doctor', '--day', fileDay],
    ['run', fileDay, '--delivery', 'file'],
    ['run', fileDay, '--dry-run'],
    ['run', fileDay, '--delivery', 'body', '--unknown-archive'],
    ['status', '--from', fileDay, '--to', fileDay],
    ['guest', 'erase', reference, '--reason', 'the guest asked'],
    ['guest', 'purge'],
    ['verify', fileDay],
  ];
  return withJson([{ name: 'lost-ledger', lines: lines.map((line) => [...line, '--config', config]) }]);
}

/** Each line as people and as programs ask for it. */
function withJson(asked: readonly Asked[]): readonly Asked[] {
  return asked.map(({ name, lines }) => ({
    name,
    lines: lines.flatMap((line) => [line, [...line, '--json']]),
  }));
}

/** The help of every command, found as a person would: from the help of the one above it. */
export async function listHelp({ call }: Pick<BuiltCommands, 'call'>): Promise<readonly Asked[]> {
  const lines: (readonly string[])[] = [];
  const visit = async (command: readonly string[]) => {
    lines.push([...command, '--help']);
    const { stdout } = await call([...command, '--help']);
    for (const name of listCommandNames(stdout)) await visit([...command, name]);
  };
  await visit([]);
  return [{ name: 'help', lines }];
}
