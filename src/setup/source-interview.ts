import { isCalendarDay } from '../booking/business-day.js';
import type { Examination, Examined } from '../examination/examine-day.js';
import { type Finding, findingsOf } from '../examination/finding.js';
import type { Secrets } from './answers/secrets.js';
import { isLocalFile, type SourceAnswers } from './answers/source-answers.js';
import { describeFinding } from './describe-finding.js';
import type { AnsweredSource, SourceTrials } from './examination/source-trials.js';
import type { InitOptions } from './init-options.js';
import { askColumns } from './questions/ask-columns.js';
import { askDateFormat } from './questions/ask-date-format.js';
import type { Asker } from './questions/asker.js';
import { createQuestions, type QuestionsParts } from './questions/questions.js';
import { askSource } from './questions/source.js';

export interface SourceInterviewParts extends QuestionsParts {
  readonly trials: SourceTrials;
}

export interface SourceInterview {
  readonly source: SourceAnswers;
  readonly secrets: Secrets;
  readonly examination: Examination;
  /** What a look at the day's bookings came to. */
  readonly findings: readonly Finding[];
}

const { warning, wrong } = findingsOf('source');
const list = new Intl.ListFormat('en');

/** Asks where the bookings are, and tries it at once: whoever mistyped something is asked again. */
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
    const examination = await settle(answered, parts);
    const findings = await tellFindings(answered, examination, parts);
    const interviewed = { source, secrets: answered.secrets, examination, findings };
    if (!asker.isPerson || !isDisappointing(examination, source)) return interviewed;
    const wish = await askHowOn(asker);
    switch (wish) {
      case 'again':
        questions.again();
        source = await askSource(options, questions);
        break;
      case 'day':
        day = await askDay(asker, examination.day);
        break;
      case 'on':
        return interviewed;
    }
  }
}

/** Looks at the day's bookings, and asks what a look could not settle. */
async function settle(
  answered: AnsweredSource,
  { asker, trials }: SourceInterviewParts,
): Promise<Examination> {
  const first = await trials.examine(answered);
  if (first.kind !== 'examined') return first;
  asker.tell(describeFound(first));
  const chosen = await askColumns(asker, first.columns, first.unused);
  // Only with their columns known can the dates be looked at.
  const columns = new Map([...first.columns, ...chosen]);
  const second = chosen.size === 0 ? first : await trials.examine(answered, columns);
  if (second.kind !== 'examined') return second;
  return {
    ...second,
    missing: asker.isPerson ? second.missing.filter((field) => field === 'ServiceId') : second.missing,
    dates: second.dates.kind === 'several' ? await askDateFormat(asker, second.dates) : second.dates,
  };
}

function describeFound({ place, columns }: Examined): string {
  const found = [...columns].map(([field, name]) => `\n${field}: ${JSON.stringify(name)}`);
  return `${place}: ${columns.size} of the 7 fields found by the names of its columns.${found.join('')}`;
}

async function tellFindings(
  answered: AnsweredSource,
  examination: Examination,
  { asker, trials }: SourceInterviewParts,
): Promise<readonly Finding[]> {
  const findings = await findOut(answered, examination, trials);
  for (const finding of findings) asker.tell(describeFinding(finding));
  return findings;
}

async function findOut(
  answered: AnsweredSource,
  examination: Examination,
  trials: SourceTrials,
): Promise<readonly Finding[]> {
  switch (examination.kind) {
    case 'no-file':
      return [];
    case 'untried':
      return [
        warning(`the source is not tried yet: ${list.format(examination.unknown)} still to be filled in`),
      ];
    case 'failed':
      return [wrong(examination.reason)];
    case 'unusable':
      return [warning(`${examination.place} is there, but ${examination.reason}.`)];
    case 'examined':
      // Without its master id no booking is understood.
      return examination.missing.includes('ServiceId') ? [] : trials.read(answered, examination);
  }
}

type Disappointment = Extract<Examination, { readonly kind: 'failed' | 'unusable' }>;

function isDisappointing(examination: Examination, source: SourceAnswers): examination is Disappointment {
  return examination.kind === 'failed' || (examination.kind === 'unusable' && !isLocalFile(source));
}

function askHowOn(asker: Asker): Promise<'again' | 'day' | 'on'> {
  return asker.choose({
    message: 'What now?',
    choices: [
      { value: 'again', label: 'Answer these questions again' },
      { value: 'day', label: 'Try another day' },
      { value: 'on', label: 'Go on: it is mended later' },
    ],
    fallback: 'again',
  });
}

async function askDay(asker: Asker, fallback: string): Promise<string> {
  const check = (typed: string) =>
    isCalendarDay(typed) ? undefined : `expected a day as YYYY-MM-DD, got: ${typed}`;
  return (await asker.text({ message: 'Which day (YYYY-MM-DD)?', fallback, check })) ?? fallback;
}
