import { bookingFields, type ServiceField } from '../../booking/booking.js';
import { isCalendarDay } from '../../booking/business-day.js';
import { reportGuess } from '../examination/encoding-check.js';
import type { Examination, Examined } from '../examination/examine-day.js';
import { type Finding, findingsOf } from '../examination/finding.js';
import { describeUnconfirmed, writeFilter } from '../examination/unconfirmed.js';
import { warnOfUnconfirmed } from '../examination/unconfirmed-check.js';
import { listSetups, type Secrets, type SourceAnswers, setupOf } from './answers.js';
import type { Asker } from './asker.js';
import { findImpliedKind, type InitOptions, suggestKind } from './options.js';
import { createQuestions, type QuestionsParts, type RepeatableQuestions } from './questions.js';
import type { AnsweredSource, SourceTrials } from './source-trials.js';

export interface SourceInterviewParts extends QuestionsParts {
  readonly trials: SourceTrials;
}

interface SourceInterview {
  readonly source: SourceAnswers;
  readonly secrets: Secrets;
  readonly examination: Examination;
  /** What examining the day's bookings found. */
  readonly findings: readonly Finding[];
}

const { warning, wrong } = findingsOf('source');
const list = new Intl.ListFormat('en');

/** Asks where the bookings are, and tries that at once, so that a typing mistake can be corrected. */
export async function interviewSource(
  options: InitOptions,
  timezone: string,
  parts: SourceInterviewParts,
): Promise<SourceInterview> {
  const { asker } = parts;
  const questions = createQuestions(parts);
  let source = await askSource(options, questions);
  let day = options.day;
  for (;;) {
    const answered = { timezone, source, secrets: questions.secrets(), day };
    const examination = await examine(answered, parts);
    const findings = await reportFindings(answered, examination, parts);
    const interviewed = { source, secrets: answered.secrets, examination, findings };
    if (!asker.isPerson || !isDoubtful(examination, source)) return interviewed;
    switch (await askHowToContinue(asker)) {
      case 'again':
        questions.askAgain();
        source = await askSource(options, questions);
        break;
      case 'day':
        day = await askDay(asker, 'day' in examination ? examination.day : day);
        break;
      case 'on':
        return interviewed;
    }
  }
}

/** Examines the day's bookings, and asks for what that doesn't show. */
async function examine(
  answered: AnsweredSource,
  { asker, trials }: SourceInterviewParts,
): Promise<Examination> {
  const first = await trials.examine(answered);
  if (first.kind !== 'examined') return first;
  asker.tell(describeFound(first));
  const chosen = await askColumns(asker, first.columns, first.unused);
  // The dates can be examined only once their columns are known.
  const columns = new Map([...first.columns, ...chosen]);
  const second = chosen.size === 0 ? first : await trials.examine(answered, columns);
  if (second.kind !== 'examined') return second;
  return {
    ...second,
    missing: asker.isPerson ? second.missing.filter((field) => field === 'ServiceId') : second.missing,
    dates: second.dates.kind === 'several' ? await askDateFormat(asker, second.dates) : second.dates,
    where: asker.isPerson ? await askFilter(asker, second.unconfirmed) : undefined,
  };
}

function describeFound({ location, columns, encoding = 'utf-8', encodingGuess }: Examined): string {
  const note = encoding === 'utf-8' || encodingGuess ? '' : ` The file is in ${encoding}.`;
  const found = [...columns].map(([field, name]) => `\n${field}: ${JSON.stringify(name)}`);
  return `${location}: ${columns.size} of the 7 fields found by the names of its columns.${note}${found.join('')}`;
}

async function reportFindings(
  answered: AnsweredSource,
  examination: Examination,
  parts: SourceInterviewParts,
): Promise<readonly Finding[]> {
  const findings = await listFindings(answered, examination, parts);
  for (const finding of findings) parts.asker.tell(describeFinding(finding));
  return findings;
}

async function listFindings(
  answered: AnsweredSource,
  examination: Examination,
  { asker, trials }: SourceInterviewParts,
): Promise<readonly Finding[]> {
  switch (examination.kind) {
    case 'no-file':
      return warnOfNothing(answered.source);
    case 'untried':
      return [
        warning(`the source was not tried: ${list.format(examination.unknown)} must be filled in first`),
      ];
    case 'failed':
      return [wrong(examination.reason)];
    case 'unusable':
      return [warning(`${examination.location} was found, but ${examination.reason}.`)];
    case 'examined':
      return [
        ...reportGuess(examination.encodingGuess, examination.location),
        // Without its master id no booking can be understood.
        ...(examination.missing.includes('ServiceId') ? [] : await trials.read(answered, examination)),
        // A person has just been asked.
        ...(asker.isPerson ? [] : warnOfUnconfirmed(examination.unconfirmed)),
      ];
  }
}

/** A mistyped path looks like one whose first file has yet to arrive. */
function warnOfNothing(source: SourceAnswers): Finding[] {
  const setup = setupOf(source);
  const path = setup.findDayFile?.(source);
  if (path !== undefined)
    return [warning(`no file matches ${path} yet: check the path, unless the first export is still to come`)];
  const program = setup.findProgram?.(source);
  return program === undefined ? [] : [warning(`${program} does not exist yet`)];
}

/** Whether the answers may be wrong: the source failed, or a file is not where they say. */
function isDoubtful(examination: Examination, source: SourceAnswers): boolean {
  switch (examination.kind) {
    case 'failed':
    case 'unusable':
      return true;
    case 'no-file':
      return setupOf(source).findDayFile?.(source) !== undefined;
    case 'untried':
    case 'examined':
      return false;
  }
}

function askHowToContinue(asker: Asker): Promise<'again' | 'day' | 'on'> {
  return asker.choose({
    message: 'What now?',
    choices: [
      { value: 'again', label: 'Answer these questions again' },
      { value: 'day', label: 'Try another day' },
      { value: 'on', label: 'Continue, and fix it later' },
    ],
    fallback: 'again',
  });
}

async function askDay(asker: Asker, fallback: string | undefined): Promise<string | undefined> {
  const check = (typed: string) =>
    isCalendarDay(typed) ? undefined : `expected a day as YYYY-MM-DD, got: ${typed}`;
  return (await asker.text({ message: 'Which day (YYYY-MM-DD)?', fallback, check })) ?? fallback;
}

/** Asks for each field without a column, as long as columns are left. Returns the chosen ones. */
export async function askColumns(
  asker: Asker,
  columns: ReadonlyMap<ServiceField, string>,
  unused: readonly string[],
): Promise<ReadonlyMap<ServiceField, string>> {
  const chosen = new Map<ServiceField, string>();
  let free = unused.filter((name) => name !== '' && unused.indexOf(name) === unused.lastIndexOf(name));
  for (const { name: field, meaning, isRequired } of bookingFields) {
    if (columns.has(field) || free.length === 0) continue;
    const column = await asker.choose({
      message: `Which column holds ${meaning} (${field})?`,
      choices: [
        ...free.map((name) => ({ value: name, label: name })),
        { value: '', label: isRequired ? '(later)' : '(none of these)' },
      ],
      fallback: '',
    });
    if (column === '') continue;
    chosen.set(field, column);
    free = free.filter((name) => name !== column);
  }
  return chosen;
}

type AmbiguousDates = Extract<Examined['dates'], { readonly kind: 'several' }>;

/** Asks for the format of ambiguous dates. */
async function askDateFormat(asker: Asker, dates: AmbiguousDates): Promise<Examined['dates']> {
  const format = await asker.choose({
    message: 'The dates are ambiguous. How are they written?',
    choices: [
      ...dates.readings.map(({ format }) => ({ value: format, label: format })),
      { value: '', label: '(decide later)' },
    ],
    fallback: '',
  });
  const chosen = dates.readings.find((reading) => reading.format === format);
  return chosen === undefined ? dates : { kind: 'one', ...chosen };
}

/** Asks about records that look cancelled. Returns the filter for those that are to be left out. */
async function askFilter(asker: Asker, unconfirmed: Examined['unconfirmed']): Promise<Examined['where']> {
  if (unconfirmed === undefined) return undefined;
  asker.tell(describeUnconfirmed(unconfirmed));
  const choice = await asker.choose({
    message: 'What about these cancelled or unconfirmed bookings?',
    choices: [
      { value: 'leave-out', label: `Leave them out: where: ${writeFilter(unconfirmed.where)}` },
      { value: 'review', label: 'Review them too' },
    ],
    fallback: 'leave-out',
  });
  return choice === 'leave-out' ? unconfirmed.where : undefined;
}

/** A finding between two questions, what belongs to it below. */
function describeFinding({ verdict, message, advice = '' }: Finding): string {
  const [first = '', ...others] = message.split('\n');
  const head = verdict === 'ok' ? first : `${verdict}: ${first}`;
  return [head, ...[...others, advice].filter((line) => line !== '').map((line) => `  ${line}`)].join('\n');
}

/** Asks where a day's bookings come from, as far as the options leave it open. */
async function askSource(options: InitOptions, questions: RepeatableQuestions): Promise<SourceAnswers> {
  const kind = await questions.choose('kind', findImpliedKind(options), {
    message: 'Where are the bookings?',
    choices: listSetups().map(({ name, label }) => ({ value: name, label })),
    fallback: suggestKind(options.path),
  });
  return setupOf({ kind }).ask(options, questions);
}
