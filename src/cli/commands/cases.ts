import { type Command, InvalidArgumentError, Option } from 'commander';
import { type MappingState, mappingStates, type Resolution, resolutions } from '../../cases/case.js';
import type { CaseRequest } from '../../cases/case-requests.js';
import {
  addCsvOptions,
  type CsvOptions,
  type Finish,
  type GlobalOptions,
  readDay,
  readGlobals,
} from './options.js';

export interface CasesOptions extends CsvOptions {
  readonly state?: MappingState;
  /** Only cases with an open booking whose check-in is before this day. */
  readonly checkInBefore?: string;
  readonly provider?: string;
  /** Only cases with a booking that nobody resolved before the stay was over. */
  readonly left?: boolean;
}

/** What to do with a case. */
export type CaseAction = { readonly kind: 'show' } | CaseRequest;

/** The commands of the team that acts on findings; each returns the exit code. */
export interface CaseHandlers {
  cases(options: CasesOptions, globals: GlobalOptions): Promise<number>;
  case(id: number, action: CaseAction, globals: GlobalOptions): Promise<number>;
}

interface CaseOptions {
  readonly note?: string;
  readonly as?: Resolution;
}

export function addCaseCommands(program: Command, handlers: CaseHandlers, finish: Finish): void {
  addCsvOptions(
    program
      .command('cases')
      .description('list wrong or doubtful mappings with open bookings, guests in house first')
      .addOption(new Option('--state <state>', 'only mappings in this state').choices(mappingStates))
      .option(
        '--check-in-before <day>',
        'only cases with an open booking that checks in before this day',
        readDay,
      )
      .option('--provider <name>', 'only mappings of this provider')
      .option('--left', 'only cases with bookings that nobody resolved before the guests left'),
  )
    .addHelpText('after', casesExamples)
    .action(async (options: CasesOptions, command: Command) => {
      finish(await handlers.cases(options, readGlobals(command)));
    });

  program
    .command('case <id> [action...]')
    .description('show a case, report, dismiss or reopen it, assign it, resolve its bookings')
    .option('--note <text>', "a note about it; never write a guest's name here")
    .addOption(
      new Option('--as <outcome>', 'what was done for the guests, with resolve').choices(resolutions),
    )
    .addHelpText('after', caseExamples)
    .action(
      async (id: string, [action, ...words]: readonly string[], options: CaseOptions, command: Command) => {
        const request = readRequest(action, words, options);
        finish(await handlers.case(readId(id), request, readGlobals(command)));
      },
    );
}

function readId(text: string): number {
  const id = Number(text);
  if (!/^\d{1,15}$/.test(text) || id === 0)
    throw new InvalidArgumentError(`expected the number of a case as \`cases\` lists it, got: ${text}`);
  return id;
}

function readRequest(
  action: string | undefined,
  words: readonly string[],
  { note, as }: CaseOptions,
): CaseAction {
  if (note?.trim() === '') throw new InvalidArgumentError('--note is empty');
  if (as !== undefined && action !== 'resolve') throw new InvalidArgumentError('--as is for resolve only');
  const refuseWords = () => {
    if (words.length > 0)
      throw new InvalidArgumentError(`unexpected argument after ${action}: ${words.join(' ')}`);
  };
  switch (action) {
    case undefined:
      return note === undefined ? { kind: 'show' } : { kind: 'note', note };
    case 'dismiss':
      refuseWords();
      if (note === undefined)
        throw new InvalidArgumentError('dismiss needs --note: why the mapping is right after all');
      return { kind: action, note };
    case 'report':
    case 'reopen':
      refuseWords();
      return { kind: action, note };
    case 'assign': {
      const [assignee, ...others] = words;
      if (assignee === undefined || others.length > 0 || assignee.trim() === '')
        throw new InvalidArgumentError('assign takes one name; put quotes around one with spaces');
      return { kind: action, assignee: assignee.trim(), note };
    }
    case 'resolve':
      if (words.length === 0) throw new InvalidArgumentError('resolve takes the references of the bookings');
      if (as === undefined) throw new InvalidArgumentError(`resolve needs --as ${resolutions.join('|')}`);
      return { kind: action, bookings: words, as, note };
    default:
      throw new InvalidArgumentError(
        `unknown action ${action}: expected report, dismiss, reopen, assign or resolve`,
      );
  }
}

const casesExamples = `
Without --state it lists every case with an open booking, even if its mapping is
corrected: a correction does not change bookings made before.

Examples:
  hotel-review cases
  hotel-review cases --check-in-before 2026-12-01 --csv urgent.csv
  hotel-review cases --state escalated --provider hotelbeds`;

const caseExamples = `
Actions: report, dismiss, reopen, assign NAME, resolve REFERENCE... --as OUTCOME.
A booking without a reference is given by its number in the case: '#3'.

Examples:
  hotel-review case 17
  hotel-review case 17 report --note "ticket 4711"
  hotel-review case 17 assign Bea
  hotel-review case 17 resolve BR-1042 BR-1043 --as rebooked
  hotel-review case 17 dismiss --note "the hotel was renamed"`;
