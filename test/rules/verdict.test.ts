import { expect, it } from 'vitest';
import type { Run } from '../../src/rules/run.js';
import {
  type BookingVerdict,
  hasFinalVerdicts,
  type JudgedBooking,
  judgeBooking,
  type UnknownReason,
} from '../../src/rules/verdict.js';
import { someRun } from '../review/some-run.js';

const verdicts = { affected: 2, unanswered: 0, unclear: 0, malformed: 0 };
const byFile = (changes: Partial<Run['file']> = {}) =>
  someRun({ delivery: 'file', file: { rows: 990, verdicts, ...changes } });
const ofVerdicts = (changes: object) => ({ run: byFile({ verdicts: { ...verdicts, ...changes } }) });
const named = { namedByEmailAt: 0 };

it.each<[Exclude<BookingVerdict['verdict'], 'unknown'> | UnknownReason, string, Partial<JudgedBooking>]>([
  ['incorrect', 'named by an e-mail, without a plan', { ...named, step: undefined }],
  ['incorrect', 'named by an e-mail, sent by body', { ...named, stream: 'posted' }],
  ['incorrect', 'whose mapping an e-mail names, whatever the result says', { mappingNamedByEmailAt: 0 }],
  ['not-delivered', 'without a plan', { step: undefined, judged: 'incorrect' }],
  ['not-delivered', 'refused', { step: { state: 'refused' }, stream: 'posted' }],
  ['by-email', 'sent by body', { stream: 'posted', judged: 'incorrect' }],
  ['awaiting-result', 'without a result', { run: someRun({ delivery: 'file' }), judged: 'unclear' }],
  ['awaiting-result', 'of a file without a result', { run: someRun({ file: { rows: 990 } }) }],
  ['incorrect', 'which the result calls incorrect', { judged: 'incorrect' }],
  ['unclear', 'whose verdict nobody can read', { judged: 'unclear' }],
  ['not-in-result', 'which the result does not name', { judged: 'not-in-result' }],
  ['correct', 'of a result that names all bookings', {}],
  [
    'correct',
    'of a result whose other bookings are listed',
    ofVerdicts({ unclear: 1, listsUnanswered: true }),
  ],
  ['not-in-result', 'of a result that leaves out who knows which', ofVerdicts({ unanswered: 1 })],
  ['not-in-result', 'of a result in which who knows which is unclear', ofVerdicts({ unclear: 1 })],
  ['not-in-result', 'of a result with both', ofVerdicts({ unanswered: 1, unclear: 1 })],
])('the verdict is %s for a booking %s', (expected, _, changes) => {
  const isKnown = expected === 'correct' || expected === 'incorrect';
  const booking: JudgedBooking = { run: byFile(), stream: 'file', step: { state: 'done' }, ...changes };
  expect(judgeBooking(booking)).toEqual(
    isKnown ? { verdict: expected } : { verdict: 'unknown', reason: expected },
  );
});

it.each<[string, Parameters<typeof someRun>[0], boolean]>([
  ['by body', { delivery: 'body', state: 'failed' }, true],
  ['done', {}, true],
  ['waiting, with verdicts of a part', { state: 'awaiting-result', file: { verdicts } }, false],
  ['failed because its result is incomplete', { state: 'failed', file: { verdicts } }, false],
  ['failed before its file was written', { state: 'failed' }, false],
  ['failed once archived', { state: 'failed', file: { archivedTo: 'x' } }, true],
  ['cancelled', { state: 'cancelled' }, true],
  ['all of it by body', { state: 'failed', counts: { posted: 990 } }, true],
])('whether the verdicts of a file run are final: %s', (_, changes, isFinal) => {
  expect(hasFinalVerdicts(someRun({ delivery: 'file', ...changes }))).toBe(isFinal);
});
