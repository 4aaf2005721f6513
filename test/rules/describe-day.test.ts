import { describe, expect, it } from 'vitest';
import { describeCanary } from '../../src/review/canary.js';
import type { CanaryState } from '../../src/rules/canary.js';
import {
  describeDay,
  describeNoRun,
  describeRun,
  describeRunOfDay,
  explainNothingSent,
  explainUnknown,
  type Judgement,
} from '../../src/rules/describe-day.js';
import { type Advice, tellFinding } from '../../src/rules/finding.js';
import type { Counts, Run, RunState } from '../../src/rules/run.js';
import { drop, fewBookings, manyAffected, someRun } from '../review/some-run.js';
import { failureOf, runOf } from '../schedule/ledger-days.js';
import { outcomeOf } from './some-outcome.js';

const day = '2026-11-20';
const afterTheDay = new Date('2026-11-21T02:30:00Z');
const nothing = { duplicates: 0, rejected: 0, filtered: 0, carried: 0, refused: 0, pending: 0, repeated: 0 };
const ten: Counts = {
  ...nothing,
  read: 10,
  accepted: 10,
  delivered: 10,
  posted: 0,
  affected: null,
  unanswered: null,
};
const judged = { affected: 0, unanswered: 0, unclear: 0, malformed: 0 };
const timezone = 'Europe/Madrid';

const runIn = (state: RunState, { counts, ...changes }: Changes = {}) =>
  runOf(day, state, afterTheDay, { counts: { ...ten, ...counts }, ...changes });
type Changes = Partial<Omit<Run, 'counts'>> & { readonly counts?: Partial<Counts> };

const whole: Changes = {
  delivery: 'file',
  file: { rows: 10, verdicts: judged },
  counts: { affected: 0, unanswered: 0 },
};

describe('the judgement on a day', () => {
  it.each<[Judgement, string, RunState, Changes]>([
    ['good', 'All 10 bookings have the verdict correct.', 'succeeded', whole],
    [
      'unfinished',
      'The day is not complete: it was collected before it was over.',
      'succeeded',
      { ...whole, startedAt: 0, collectStartedAt: 0 },
    ],
    [
      'sent',
      'Sent for review. Some verdicts come by e-mail only, so not all are known to be correct.',
      'succeeded',
      { ...whole, counts: { ...whole.counts, posted: 1 } },
    ],
    [
      'sent',
      'Sent for review. Verdicts come by e-mail only, so none is known to be correct.',
      'succeeded',
      {},
    ],
    [
      'sent',
      'The source had no bookings: nothing was sent.',
      'succeeded',
      { counts: { accepted: 0, delivered: 0 } },
    ],
    [
      'unfinished',
      'The day is not complete: the end-of-day hook expected 12 records, and the source held 10.',
      'succeeded',
      { expected: 12, collectedAt: 1 },
    ],
    ['attention', 'The run was cancelled: the day is not reviewed.', 'cancelled', {}],
    ['attention', 'The run failed. What happened.', 'failed', { failure: failureOf('fatal') }],
    ['attention', 'The run failed.', 'failed', { counts: { refused: 1 } }],
    [
      'unfinished',
      'Delivered; the result has not arrived yet.',
      'awaiting-result',
      { delivery: 'file', file: { rows: 10 } },
    ],
    ['unfinished', 'The run is delivering.', 'delivering', {}],
    ['unfinished', 'The run is collecting.', 'collecting', {}],
    [
      'attention',
      '1 booking refused by the service; far fewer bookings than usual (9 bookings): once the export is complete, `replay 2026-11-20 --late`; if it is right, `run 2026-11-20 --accept-volume`.',
      'succeeded',
      {
        counts: { refused: 1 },
        volume: { accepted: 9, usual: 9, drops: [{ provider: null, accepted: 9, usual: null }] },
      },
    ],
  ])('is %s, and says: %s', (judgement, words, state, changes) => {
    const described = describeDay(outcomeOf([runIn(state, changes)]), { timezone });
    expect(described.judgement).toBe(judgement);
    expect(described.headline).toBe(words);
  });

  it('needs attention where nothing was reviewed', () => {
    const { state, ...described } = describeDay(outcomeOf([]), { timezone });
    const headline = 'No run: nothing of this day was reviewed.';
    expect(described).toEqual({ judgement: 'attention', headline, findings: [] });
    expect(state).toEqual({ code: 'state', level: 'note', words: headline, advice: [] });
  });

  it('needs attention if nothing named the canary in time, however well it looks otherwise', () => {
    const about = { reference: 'C-1', runId: 'r1', day, sentAt: null, namedBy: null };
    const dates = { dueAt: '2026-11-21T14:30:00Z', namedAt: '2026-11-21T03:30:00Z' };
    const judgeWith = (state: CanaryState) => {
      const canary = describeCanary({ ...about, ...dates, state }, timezone);
      return describeDay(outcomeOf([runIn('succeeded', whole)]), { timezone, canary }).judgement;
    };
    expect((['missed', 'waiting', 'named'] as const).map(judgeWith)).toEqual(['attention', 'good', 'good']);
  });

  it('of a newer run that failed takes precedence over the result of an older one', () => {
    const newer = runIn('failed', { id: 'r2', failure: failureOf('retryable') });
    const outcome = outcomeOf([newer, runIn('succeeded', whole)]);
    expect(describeDay(outcome, { timezone }).judgement).toBe('attention');
  });
});

const tellState = (state?: { readonly words: string; readonly advice?: Advice }) =>
  state && [state.words, ...(state.advice ?? []).map(([when]) => `(${when})`)].join(' ');

describe('the description of a run', () => {
  type Facts = Partial<Parameters<typeof describeRun>[1]>;
  const describeFindings = (changes: Parameters<typeof someRun>[0], facts: Facts = {}) =>
    describeRun(someRun(changes), { timezone, ...facts }).findings.map(
      (finding) => `${finding.level} ${finding.code}: ${tellFinding(finding)}`,
    );
  const codes = (changes: Parameters<typeof someRun>[0], facts?: Facts) =>
    describeFindings(changes, facts).map((line) => line.slice(0, line.indexOf(':')));

  const fileOf = (name: string, rows: number) => ({ name, size: 9, sha256: '00', rows });
  const odd = {
    rows: 990,
    verdicts: { affected: 1, unanswered: 1, unclear: 0, malformed: 1, ignored: 2 },
    result: { ...fileOf('b.csv', 900), isWhole: false, others: [fileOf('a.csv', 80)] },
    setAside: [{ name: 'c.csv', archivedAs: 'foreign-1.csv', foreign: 3, ours: 1 }],
    laterResults: ['later.csv'],
  };
  const counts = { refused: 1, posted: 2, affected: 1, unanswered: 1 };

  it('has the findings of its day, and what only concerns the run', () => {
    const words = { topsUp: true, reason: 'again', cancelReason: 'a mistake' } as const;
    const warnings = [{ kind: 'none-left-out', column: 'Status', leftOut: 0, usual: 9 }] as const;
    const filters = { columns: [], warnings };
    const changes = { delivery: 'file', ...words, suspects: 3, filters, file: odd, counts } as const;
    expect(describeFindings(changes, { mailbox: 'a mailbox' })).toEqual([
      'note late: late bookings: only what earlier runs had not delivered',
      'note reason: reason: again',
      'note reason: cancelled because: a mistake',
      `attention affected: 1 booking on an incorrect mapping: to list them, \`affected ${day}\``,
      `attention unanswered: 1 booking without a verdict: to list them, \`affected ${day} --unanswered\``,
      `attention refused: 1 booking refused by the service: to list them, \`refused ${day}\``,
      `note posted: 2 bookings went by body, where verdicts come by e-mail only: to list them, \`posted ${day}\``,
      `note suspects: suspects: 3 bookings whose mapping differs in the local copy, or changed recently; to list them, \`suspects ${day}\``,
      `attention filter: source.where leaves out none of ${day} by Status, usually 9: check how the export writes its values`,
      'warning result: the result was accepted although incomplete: 980 records for 990 sent',
      'warning result: the result c.csv was set aside: 3 rows about other bookings, 1 about ours; it is archived as foreign-1.csv, and its verdicts do not count',
      'warning result: 1 result row could not be read',
      'warning result: after its result was judged, the server held another one, which is archived but not judged: later.csv',
      'note result: ignored 2 result rows about none of our bookings',
      'note mailbox: `serve` reads these e-mails from a mailbox',
    ]);
    const whole = { ...odd.result, isWhole: true };
    expect(codes({ file: { result: whole } })).toEqual([]);
    expect(codes({ delivery: 'file', counts: { affected: null, unanswered: 5 } })).toEqual([]);
    expect(describeFindings({ file: { result: odd.result } })[0]).toMatch(/: 980 records for 0 sent$/);
  });

  it('says where e-mails about its verdicts are read, if any come', () => {
    const nobody =
      'note mailbox: nobody reads these e-mails here: name their mailbox in the setting verdicts';
    for (const counts of [{ affected: null }, { posted: 1 }])
      expect(describeFindings({ counts }, { mailbox: null })).toEqual([nobody]);
    expect([codes({}, { mailbox: null }), codes({ counts: { affected: null } })]).toEqual([[], []]);
  });

  it('says that bookings go by body, would have gone, or went', () => {
    const posted = (changes: Parameters<typeof someRun>[0]) => {
      const findings = describeFindings({ delivery: 'file', ...changes }).join();
      return /bookings? (.*) by body/.exec(findings)?.[1];
    };
    const unsent = { delivered: 0, posted: 2, affected: null };
    expect(
      [
        posted({ state: 'failed', counts: unsent }),
        posted({ state: 'delivering', counts: unsent }),
        posted({ state: 'delivering', counts: { ...unsent, posted: 1 } }),
        posted({ state: 'delivering', counts: { ...unsent, delivered: 1 } }),
      ].join(),
    ).toBe('would go,go,goes,went');
  });

  const volume = { ...fewBookings, drops: [drop, { ...drop, provider: 'x' }] };
  const implausible = manyAffected;
  const acceptances = { volume: { at: 0, by: 'ada' }, affected: { at: 0, by: 'ada', affected: 30 } };
  const accepted = 'accepted by ada, 1970-01-01 01:00';
  const few = 'far fewer bookings than usual';
  const many = 'implausibly many affected bookings: 30 of 200 with a verdict (15%)';
  const incomplete = 'note incomplete: the day is not complete:';
  const early = 'it was collected before it was over';

  it.each<[Parameters<typeof someRun>[0], readonly string[]]>([
    [
      { expected: 12 },
      [
        `${incomplete} the end-of-day hook expected 12 records, and the source held 1,000; once its export is complete, \`run ${day}\``,
      ],
    ],
    [{ state: 'failed', expected: 12 }, []],
    [{ trigger: 'today' }, [`${incomplete} ${early}`]],
    [{ collectStartedAt: 0 }, [`${incomplete} ${early}; to send what is missing, \`run ${day}\``]],
    [
      { collectStartedAt: 0, clockLead: 120_000 },
      [
        `${incomplete} ${early} (the clock of its machine was 2 min ahead); to send what is missing, \`run ${day}\``,
      ],
    ],
    [
      { volume: { accepted: 9, usual: null, drops: [] } },
      ['note uncompared: its number of bookings is not compared: no earlier day is known'],
    ],
    [{ volume: { accepted: 9, usual: 9, drops: [] } }, []],
    [
      { volume },
      [
        `attention volume: ${few} (9 bookings, usually 99): once the export is complete, \`replay ${day} --late\`; if it is right, \`run ${day} --accept-volume\``,
        `warning volume: ${few} (x: 9, usually 99)`,
      ],
    ],
    [
      { volume, acceptances },
      [
        `note volume: ${few} (9 bookings, usually 99), ${accepted}`,
        `note volume: ${few} (x: 9, usually 99), ${accepted}`,
      ],
    ],
    [
      { volume: { accepted: 9, usual: null, isLow: true, drops: [] } },
      ['warning volume: fewer bookings than usual (9 bookings)'],
    ],
    [
      { volume: { accepted: 99, usual: 99, drops: [{ provider: 'x', accepted: 9, usual: 99 }] } },
      [`warning volume: ${few} (x: 9, usually 99)`],
    ],
    [
      { implausible },
      [
        `attention implausible: ${many}; to look at them, \`affected ${day}\`; once what is wrong is corrected, \`replay ${day}\`; if they are right, \`run ${day} --accept-affected\``,
      ],
    ],
    [{ implausible, acceptances }, [`note implausible: ${many}, ${accepted}`]],
  ])('says what is odd about what it collected: %j', (changes, findings) => {
    expect(describeFindings(changes)).toEqual(findings);
  });

  it('has a state beside its findings only where that is true of them', () => {
    const states: [Parameters<typeof someRun>[0], Judgement, string | undefined][] = [
      [
        { state: 'awaiting-result' },
        'unfinished',
        'Delivered; the result has not arrived yet. (to check for it again)',
      ],
      [{}, 'good', 'All 990 bookings have the verdict correct.'],
      [{ counts: { refused: 1 } }, 'attention', undefined],
      [{ expected: 1 }, 'unfinished', undefined],
      [
        { state: 'delivering', counts: { refused: 1 } },
        'attention',
        'The run is delivering. (to resume it, unless a process is working on it)',
      ],
      [
        { topsUp: true, counts: { accepted: 0, delivered: 0 } },
        'sent',
        'Nothing new since the run before: nothing was sent.',
      ],
    ];
    for (const [changes, judgement, words] of states) {
      const { state, ...described } = describeRun(someRun(changes), { timezone });
      expect([described.judgement, tellState(state)]).toEqual([judgement, words]);
    }
  });

  it('leaves nothing to do about a run whose day is good now', () => {
    const now = { isGoodNow: true };
    const settled = ['incomplete', 'volume', 'volume', 'implausible', 'repaired'];
    expect(codes({ volume, implausible, expected: 1 }, now)).toEqual(settled.map((code) => `note ${code}`));
    expect(describeFindings({ expected: 1 }, now)[0]).not.toContain(`run ${day}`);
    const open = ['affected', 'unanswered', 'refused'];
    expect(codes({ file: odd, counts }, now).slice(0, 3)).toEqual(open.map((code) => `attention ${code}`));
    expect(describeFindings({ state: 'failed' }, now)).toEqual(['note repaired: the day is good now']);
    expect([codes({}, now), codes({ state: 'failed' })]).toEqual([[], []]);
    const states = [now, {}].map(
      (facts) => describeRun(someRun({ state: 'failed' }), { timezone, ...facts }).state,
    );
    expect(states.map(tellState)).toEqual(['The run failed.', 'The run failed. (once the cause is fixed)']);
  });
});

it.each([
  [true, true, true, 'missing', 'No run: nothing of this day was reviewed.'],
  [false, false, true, 'not-due', 'Its run is still to come.'],
  [false, true, false, 'not-due', 'No run: the reviews began later.'],
  [false, true, true, 'not-due', 'No run, as on this weekday in the weeks before.'],
])(
  'a day without a run: missing %s, over %s, reached %s',
  (isMissing, isOver, isReached, judgement, headline) => {
    expect(describeNoRun({ isMissing, isOver, isReached })).toEqual({ judgement, headline });
  },
);

const unsent = { delivered: 0, accepted: 0 };

it.each<[string | undefined, boolean, Run[]]>([
  [`There is no run of ${day}.`, false, []],
  [undefined, false, [runIn('succeeded', whole)]],
  ['Verdicts come by e-mail only, so none is known to be correct.', false, [runIn('succeeded')]],
  [
    'the result has not arrived yet.',
    false,
    [runIn('awaiting-result', { delivery: 'file', file: { rows: 10 } })],
  ],
  [
    'the service refused 2 bookings: there is no verdict.',
    true,
    [runIn('failed', { counts: { refused: 2, delivered: 0 } })],
  ],
  ['nothing was sent: there is no verdict.', true, [runIn('failed', { counts: { delivered: 0 } })]],
  ['The source had no bookings: nothing was sent.', true, [runIn('succeeded', { counts: unsent })]],
])('a list of bookings says of a day: %s', (words, isNothingSent, runs) => {
  const of = outcomeOf(runs);
  const [run] = runs;
  const told = run && words !== undefined ? `${day} (run ${run.id}, ${run.state}): ${words}` : words;
  expect([explainUnknown(of), explainNothingSent(of)]).toEqual([told, isNothingSent ? told : undefined]);
});

it('wrong mappings that a run found are no fault of the run', () => {
  const of = outcomeOf([runIn('succeeded', { ...whole, counts: { affected: 1, unanswered: 0 } })]);
  expect([describeDay(of, { timezone }).judgement, describeRunOfDay(of, { timezone }).judgement]).toEqual([
    ...['attention', 'good'],
  ]);
});
