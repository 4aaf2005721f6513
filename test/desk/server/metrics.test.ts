import { describe, expect, it } from 'vitest';
import { createEventCounters, createMetrics, type MetricsOptions } from '../../../src/desk/server/metrics.js';
import type { HotelReviewEvent } from '../../../src/notify/events.js';
import type { ReviewEvent } from '../../../src/review/events.js';
import type { Ending, Step } from '../../../src/rules/step.js';
import { step } from '../../notify/review-events.js';
import { someRun } from '../../review/some-run.js';
import { outcomeOf } from '../../rules/some-outcome.js';
import { noRuns } from '../../schedule/ledger-days.js';
import { createGate } from '../../support/gate.js';
import { noCases, someDay, someFacts } from './some-facts.js';
import { now, timezone } from './some-server.js';

function createSomeMetrics(options: Partial<MetricsOptions> = {}) {
  const clock = options.clock ?? (() => now);
  const counters = createEventCounters(clock);
  const facts = { readFacts: async () => someFacts(), reuseMs: 0, ...options };
  const metrics = createMetrics({ counters, timezone, ...facts, clock });
  /** The lines of our own metrics, without comments, and without what all their names begin with. */
  const read = async () =>
    (await metrics.scrape()).text
      .split('\n')
      .filter((line) => line.startsWith('hotel_review_'))
      .map((line) => line.slice('hotel_review_'.length));
  return { scrape: metrics.scrape, notify: counters.notify, read };
}

/** What the ledger says. */
const ofLedger = [
  ...['ledger_up 1', 'last_good_day_age_days 2', 'queue_depth 7', 'canaries_missed_in_row 1'],
  `last_good_day_timestamp_seconds ${Date.parse('2026-11-18T23:00:00Z') / 1000}`,
  ...['runs{state="succeeded"} 40', 'runs{state="failed"} 1', 'runs{state="collecting"} 0'],
  ...['day_states{state="good"} 12', 'day_states{state="failed"} 1', 'day_states{state="missing"} 0'],
  `latest_day_timestamp_seconds ${Date.parse('2026-11-20T23:00:00Z') / 1000}`,
  ...['accepted"} 990', 'rejected"} 3', 'filtered"} 7'].map((one) => `latest_day_records{outcome="${one}`),
  ...['delivered"} 980', 'refused"} 1', 'pending"} 9'].map((one) => `latest_day_bookings{state="${one}`),
  ...['Hotelbeds"} 900', 'other"} 90'].map((one) => `latest_day_provider_bookings{provider="${one}`),
  ...['posted_bookings 4', 'affected_bookings 2', 'unanswered_bookings 5', 'suspect_bookings 6'].map(
    (one) => `latest_day_${one}`,
  ),
  ...['mapping_cases{state="open"} 3', 'mapping_cases{state="dismissed"} 0'],
  ...['in-house"} 3', 'known"} 4', 'unknown"} 2'].map((one) => `open_case_bookings{check_in="${one}`),
  `nearest_open_check_in_timestamp_seconds ${Date.parse('2026-11-30T23:00:00Z') / 1000}`,
  ...['open_problems{event="day-late"} 2', 'pending_notifications 2', 'given_up_notifications 3'],
  'oldest_pending_notification_timestamp_seconds 1700000000.5',
  'mappings_in_step_timestamp_seconds 1700000000.5',
];

const everything = () =>
  someFacts({
    summary: { runsByState: { ...noRuns, succeeded: 40, failed: 1 }, lastGoodDay: '2026-11-18' },
    recentDays: { ...someFacts().recentDays, good: 12, failed: 1 },
    latestDay: someDay,
    cases: {
      ...{ byState: { ...noCases.byState, open: 3, reported: 1 }, openBookings: 9, unknownCheckIns: 2 },
      ...{ inHouse: 3, firstCheckIn: '2026-12-01' },
    },
    problems: { 'day-late': 2 },
    messages: { pending: 2, givenUp: 1, perhapsReceived: 2, pendingSince: 1_700_000_000_500 },
    ...{ missedCanaries: 1, mappingsReach: 1_700_000_000_500 },
  });

describe('the metrics of the ledger', () => {
  it('say all that it knows', async () => {
    const lines = await createSomeMetrics({
      readFacts: async () => everything(),
      queueDepth: async () => 7,
    }).read();
    expect(lines).toEqual(expect.arrayContaining(ofLedger));
  });

  it('say nothing about what is unknown, not even 0', async () => {
    const unknown = { affected: null, unanswered: null, suspects: null, providers: new Map() };
    const facts = someFacts({ latestDay: { ...someDay, ...unknown } });
    const text = (await createSomeMetrics({ readFacts: async () => facts }).read()).join('\n');
    expect(text).toContain('latest_day_posted_bookings 4');
    expect(text).not.toMatch(/latest_day_(?:affected|unanswered|suspect|provider)|last_good|nearest_open/);
    expect(text).not.toMatch(/oldest_pending|mappings_in_step|canaries_missed_in_row/);
  });

  it('count calendar days in the zone, across a change of the clocks', async () => {
    const at = async (instant: string, lastGoodDay: string) => {
      const readFacts = async () => someFacts({ summary: { runsByState: noRuns, lastGoodDay } });
      const lines = await createSomeMetrics({ clock: () => Date.parse(instant), readFacts }).read();
      return lines.find((line) => line.startsWith('last_good_day_age_days'))?.at(-1);
    };
    expect(await at('2026-10-26T00:30:00Z', '2026-10-24')).toBe('1');
    expect(await at('2026-11-20T22:59:59Z', '2026-11-19')).toBe('0');
    expect(await at('2026-11-20T23:00:00Z', '2026-11-19')).toBe('1');
  });

  it('give the age of the oldest guest names of each place, looked for once an hour, and at once after a failure', async () => {
    let looks = 0;
    let clock = now;
    const { read } = createSomeMetrics({
      clock: () => clock,
      async oldestNames() {
        looks += 1;
        if (looks === 2) throw new Error('unreachable');
        return [{ place: 'ledger', ageDays: 28 + looks }];
      },
    });
    const ages = async () => (await read()).filter((line) => line.includes('oldest_guest_name'));
    const ageOf = (days: number) => [`oldest_guest_name_age_days{place="ledger"} ${days}`];
    expect(await ages()).toEqual(ageOf(29));
    clock += 3_599_999;
    expect(await ages()).toEqual(ageOf(29));
    clock += 1;
    expect(await ages()).toEqual([]);
    expect(await ages()).toEqual(ageOf(31));
    // The clock was wrong, and is put right.
    clock -= 86_400_000;
    expect(await ages()).toEqual(ageOf(32));
  });

  it.each([
    ['says so', () => Promise.reject(new Error('away'))],
    ['says nothing', () => new Promise<never>(() => {})],
  ])('are absent while it is unavailable and %s, and come back with it', async (_how, away) => {
    let isAway = false;
    const { read } = createSomeMetrics({
      readFacts: () => (isAway ? away() : Promise.resolve(everything())),
      queueDepth: () => (isAway ? away() : Promise.resolve(0)),
      answerMs: 20,
    });
    const countOfLedger = (lines: string[]) =>
      lines.filter((line) => /^(?:last_good|latest_day|runs\{|queue_depth)/.test(line)).length;
    const before = countOfLedger(await read());
    expect(before).toBeGreaterThan(9);
    isAway = true;
    const lines = await read();
    expect(lines).toContain('ledger_up 0');
    expect(countOfLedger(lines)).toBe(0);
    isAway = false;
    expect(countOfLedger(await read())).toBe(before);
  });

  it('are read once for simultaneous scrapes, which would clear the gauges of each other', async () => {
    const gate = createGate();
    let asked = 0;
    const { scrape } = createSomeMetrics({
      reuseMs: 1_000,
      readFacts: async () => {
        asked += 1;
        await gate.passed;
        return someFacts();
      },
    });
    const both = [scrape(), scrape()];
    gate.open();
    const [first, second] = await Promise.all(both);
    expect([asked, second?.text]).toEqual([1, first?.text]);
  });
});

const claimed = (of: Step, attempt = 1): ReviewEvent => ({
  ...{ type: 'step-claimed', run: someRun({ id: of.runId }), step: of, attempt },
});

const ended = (of: Step, outcome: Ending, code = 'ok', attempt = 1): ReviewEvent => ({
  ...{ type: 'step-ended', run: someRun(), step: of, attempt, outcome, evidence: { code } },
});

const upload: Step = { ...step, name: 'upload', kind: 'upload' };
const verdicts = { affected: 2, unanswered: 3, unclear: 0, malformed: 0 };
const judged = { file: { verdicts }, counts: { affected: 2, unanswered: 3 } };
const sync = {
  ...{ scope: '', syncId: 's1', since: 0, at: now },
  counts: {
    ...{ pages: 1, read: 2, added: 0, moved: 0, updated: 0, deleted: 0 },
    ...{ unchanged: 0, skipped: 2, newHotels: 4, restarts: 0 },
  },
};
const watched = { checkedMoves: 9, endangered: 3, unmapped: 1, bookings: 7, merged: 2, dismissed: 0 };
const mail = { mail: 1, receivedAt: now };

/** What happens, and what is counted then. */
const counted: readonly (readonly [string, readonly HotelReviewEvent[], readonly string[]])[] = [
  ['nothing', [], ['bookings_total{outcome="refused"} 0', 'watch_findings_total{move="unmapped"} 0']],
  [
    'bookings of done steps and refused ones',
    [ended(step, 'done'), ended({ ...step, bookings: 1 }, 'refused'), ended(step, 'halved')],
    ['bookings_total{outcome="delivered"} 500', 'bookings_total{outcome="refused"} 1'],
  ],
  [
    'records of two runs',
    [
      { type: 'collected', run: someRun() },
      { type: 'collected', run: someRun({ counts: { accepted: 1, filtered: 6 }, suspects: 4 }) },
    ],
    [
      ...['records_total{outcome="accepted"} 991', 'records_total{outcome="rejected"} 6'],
      ...['records_total{outcome="filtered"} 6', 'suspect_bookings_total 4'],
    ],
  ],
  [
    'runs that ended or wait: what is affected only once it has succeeded',
    [
      { type: 'settled', run: someRun(judged) },
      { type: 'settled', run: someRun({ ...judged, state: 'awaiting-result', day: '2026-11-18' }) },
      { type: 'settled', run: someRun({ ...judged, state: 'failed', day: '2026-11-19' }) },
    ],
    [
      ...['runs_settled_total{state="succeeded"} 1', 'runs_settled_total{state="awaiting-result"} 1'],
      ...['affected_bookings_total 2', 'unanswered_bookings_total 6'],
    ],
  ],
  [
    'a run that was not sent for its few bookings',
    [
      {
        type: 'settled',
        run: someRun({
          ...{ state: 'failed', failure: { class: 'data', code: 'volume-dropped', message: '' } },
        }),
      },
    ],
    ['volume_drops_total 1'],
  ],
  [
    'sources that are late, and those no longer waited for',
    [
      ...[1, 2].map((): HotelReviewEvent => ({ type: 'source-late', run: someRun(), until: now })),
      { type: 'source-given-up', run: someRun() },
    ],
    ['late_sources_total{outcome="waited-for"} 2', 'late_sources_total{outcome="given-up"} 1'],
  ],
  [
    'cases',
    [
      { type: 'case-opened', cases: 4, bookings: 9 },
      { type: 'case-corrected', cases: 3 },
      { type: 'case-escalated', cases: 2 },
    ],
    [
      ...['cases_total{event="opened"} 4', 'cases_total{event="corrected"} 3'],
      'cases_total{event="escalated"} 2',
    ],
  ],
  [
    'mappings',
    [
      { type: 'mappings-skipped', sync, count: 2, reason: 'odd' },
      { type: 'mappings-watched', ...watched },
    ],
    [
      ...['skipped_mappings_total 2', 'watch_findings_total{move="re-pointed"} 2'],
      ...['watch_findings_total{move="unmapped"} 1', 'watch_findings_total{move="merged"} 2'],
      ...['endangered_bookings_total 7', `last_watch_timestamp_seconds ${now / 1000}`],
    ],
  ],
  [
    'verdict e-mails',
    [
      { type: 'verdict-mail-named', ...mail, named: 4 },
      { type: 'verdict-mail-unknown', ...mail, unreadAttachments: 0 },
      { type: 'verdict-mail-set-aside', ...mail, reason: 'failed' },
      { type: 'verdict-mail-unknown-sender', ...mail, namesSent: false },
      { type: 'mailbox-read' },
    ],
    [
      ...['verdict_mails_total{outcome="named"} 1', 'verdict_mails_total{outcome="unknown"} 1'],
      ...['verdict_mails_total{outcome="unreadable"} 0', 'verdict_mail_names_total 4'],
      ...['set-aside', 'unknown-sender'].map((outcome) => `verdict_mails_total{outcome="${outcome}"} 1`),
      `last_mailbox_poll_timestamp_seconds ${now / 1000}`,
    ],
  ],
  [
    'a canary that no e-mail named',
    [
      {
        type: 'canary-missed',
        canary: { ...{ runId: 'r1', day: '2026-11-20', reference: 'C', line: '{}' }, withinMs: 1, sentAt: 1 },
      },
    ],
    ['canaries_missed_total 1'],
  ],
];

describe('the metrics of this process', () => {
  it.each(counted)('count %s', async (_, events, lines) => {
    const { notify, read } = createSomeMetrics();
    for (const event of events) notify(event);
    expect(await read()).toEqual(expect.arrayContaining([...lines]));
  });

  it('measure the duration of attempts, unless their start was not seen, and forget the oldest starts', async () => {
    let time = now;
    const { notify, read } = createSomeMetrics({ clock: () => time });
    notify(ended(step, 'done'));
    notify(claimed(step));
    time += 1_500;
    notify(ended(step, 'done'));
    notify(claimed(step));
    for (let attempt = 2; attempt <= 10_001; attempt += 1) notify(claimed(step, attempt));
    notify(ended(step, 'done'));
    notify(ended(step, 'retry', 'ok', 10_001));
    const name = 'step_duration_seconds';
    expect(await read()).toEqual(
      expect.arrayContaining([
        `${name}_bucket{le="1",kind="batch",outcome="done"} 0`,
        `${name}_bucket{le="2.5",kind="batch",outcome="done"} 1`,
        `${name}_sum{kind="batch",outcome="done"} 1.5`,
        `${name}_count{kind="batch",outcome="done"} 1`,
        `${name}_count{kind="batch",outcome="retry"} 1`,
      ]),
    );
  });

  it('count a booking once that several runs of its day find, and say nothing of verdicts before any result', async () => {
    const { notify, read } = createSomeMetrics();
    const ofVerdicts = async () => (await read()).filter((line) => /^(?:affected|unanswered)_/.test(line));
    notify({ type: 'settled', run: someRun({ counts: { affected: null, unanswered: null } }) });
    expect(await ofVerdicts()).toEqual([]);
    const outcome = { ...outcomeOf([someRun()]), unanswered: 1 };
    const run = someRun({ file: { verdicts } });
    notify({ type: 'settled', run, outcome: { ...outcome, affected: 2 } });
    notify({ type: 'settled', run: { ...run, id: 'late' }, outcome: { ...outcome, affected: 3 } });
    expect(await ofVerdicts()).toEqual(['affected_bookings_total 3', 'unanswered_bookings_total 1']);
    // One that found fewer forgets none of them.
    for (const [affected, unanswered] of [
      [1, 0],
      [3, 1],
    ] as const)
      notify({ type: 'settled', run, outcome: { ...outcome, affected, unanswered } });
    expect(await ofVerdicts()).toEqual(['affected_bookings_total 3', 'unanswered_bookings_total 1']);
  });

  it.each([
    ['http-5xx', ['http-503']],
    ['http-4xx', ['http-429']],
    ['service', ['http-202', 'code-2030', 'status-false', 'unreadable-answer']],
    ['connection', ['timeout', 'connection-reset']],
    ['sftp', ['sftp-connection-lost']],
    ['local', ['archive-unwritable', 'local-enospc']],
    ['result', ['result-absent']],
  ])('count retries by class of their code: %s', async (codeClass, codes) => {
    const { notify, read } = createSomeMetrics();
    for (const code of codes) notify(ended(upload, 'retry', code));
    const line = `step_retries_total{kind="upload",code_class="${codeClass}"} ${codes.length}`;
    expect(await read()).toContain(line);
  });

  it('have no label with a run, a day or the name of a step', async () => {
    const { notify, scrape } = createSomeMetrics();
    notify(claimed(step));
    notify(ended(step, 'retry', 'http-503'));
    notify({ type: 'settled', run: someRun() });
    const { text, contentType } = await scrape();
    for (const word of [step.runId, '2026-11-20', 'batch 3']) expect(text).not.toContain(word);
    expect(contentType).toContain('text/plain');
    expect(text).toContain('process_cpu_seconds_total');
  });
});
