import { expect, it } from 'vitest';
import { canary, mailbox, unreadVerdicts } from '../../../src/checks/doctor/verdicts.js';
import type { ReadOnlyLedger } from '../../../src/ledger/ledger.js';
import type { Canary } from '../../../src/rules/canary.js';
import type { Run } from '../../../src/rules/run.js';
import { sftp } from '../../config/writing.js';
import { someRun } from '../../review/some-run.js';
import { lines, look, makeApp } from './checked.js';

const hour = 3_600_000;
const of = (ledger: object) => async () => ledger as unknown as ReadOnlyLedger;

it('doctor counts the e-mails of the mailbox, and warns where there is none by body', async () => {
  const probed = {
    location: './mail',
    readNew: () => expect.unreachable(),
    probe: async () => ({ mails: 3 }),
  };
  const openMailbox = async () => probed;
  expect(lines(await look(mailbox, makeApp({}, { openMailbox })))).toEqual([
    'ok verdicts: ./mail can be read: 3 e-mails',
  ]);
  expect(await look(unreadVerdicts, makeApp({ verdicts: { maildir: './mail' } }))).toEqual([]);
  expect(lines(await look(unreadVerdicts))).toEqual([
    expect.stringMatching(
      /^warning verdicts: by body, verdicts come by e-mail only, and no mailbox is set up/,
    ),
  ]);
});

it('doctor counts the bookings of the last two weeks of which no result says anything', async () => {
  const say = async (delivery: 'body' | 'file', runs: readonly Run[]) => {
    const listOfDays = async ({ from, to }: { from: string; to: string }) => {
      expect([from, to]).toEqual(['2026-11-07', '2026-11-20']);
      return runs;
    };
    const findLedger = of({ runs: { listOfDays }, days: { listOutcomes: async () => [] } });
    return lines(await look(unreadVerdicts, makeApp({ delivery, file: { sftp } }, { findLedger })));
  };
  const delivered = { accepted: 9, delivered: 9, affected: null };
  const bodyRun = someRun({ day: '2026-11-18', counts: delivered });
  const fileRun = someRun({ day: '2026-11-19', delivery: 'file', counts: { ...delivered, affected: 0 } });
  const posted = someRun({
    day: '2026-11-20',
    delivery: 'file',
    counts: { ...delivered, affected: 0, posted: 2 },
  });
  expect(await say('body', [bodyRun, fileRun])).toEqual([
    expect.stringContaining('of 9 bookings in the last 14 days'),
  ]);
  expect(await say('file', [fileRun, posted])).toEqual([
    expect.stringContaining('of 2 bookings in the last'),
  ]);
  expect(await say('file', [fileRun])).toEqual([]);
});

const pair = { serviceId: 7, providerName: 'X', providerHotelId: '1' };
const sent: Canary = {
  ...{ reference: 'C-1', line: '{}', runId: 'r', day: '2026-11-20' },
  ...{ withinMs: 12 * hour, sentAt: Date.parse('2026-11-21T00:00:00Z') },
};
const { sentAt: _, ...notSent } = sent;

it.each<[string, Canary, number | undefined, RegExp]>([
  ['waiting', sent, undefined, /^ok verdicts: the canary of 2026-11-20 may be named until 2026-11-21 12:00/],
  [
    'not taken',
    { ...notSent, givenUpFor: 'code-2009' },
    undefined,
    /^warning verdicts: the service did not take the canary of 2026-11-20 \(code-2009\)/,
  ],
  ['named', { ...sent, namedAt: 1 }, undefined, /^ok verdicts: .* was named by an e-mail/],
  [
    'missed',
    { ...sent, withinMs: hour },
    8,
    /^warning verdicts: nothing named the canary of 2026-11-20 within 1 h/,
  ],
  [
    'mapped correctly',
    { ...sent, namedAt: 1 },
    7,
    /^warning verdicts: the canary's hotel is mapped correctly/,
  ],
])('doctor says what became of the last canary: %s', async (_, last, copied, words) => {
  const findLedger = of({
    canaries: { list: async () => [{ ...notSent, day: '2026-11-21' }, last] },
    mappings: { find: async () => copied && { mapping: { serviceId: copied } } },
  });
  const [found] = lines(await look(canary, makeApp({ canary: pair }, { findLedger })));
  expect(found).toMatch(words);
});
