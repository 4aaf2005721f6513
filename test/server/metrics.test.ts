import { describe, expect, it } from 'vitest';
import { createEventCounters, createMetrics, type MetricsOptions } from '../../src/desk/server/metrics.js';
import type { MessageCounts } from '../../src/ledger/notices.js';
import type { LedgerSummary } from '../../src/ledger/runs.js';
import type { ReviewEvent } from '../../src/review/events.js';
import type { Ending, Step } from '../../src/rules/step.js';
import { step } from '../events/review-events.js';
import { outcomeOf } from '../review/outcome/some-outcome.js';
import { someRun } from '../review/some-run.js';
import { noRuns } from '../schedule/ledger-days.js';
import { createGate } from '../support/gate.js';
import { noCases, someDay, someFacts } from './some-facts.js';
import { now, timezone } from './some-server.js';

const noSync = {
  ...{ scope: '', syncId: 's1', since: 0, at: now },
  counts: {
    ...{ pages: 1, read: 2, added: 0, moved: 0, updated: 0, deleted: 0 },
    ...{ unchanged: 0, skipped: 2, newHotels: 0, restarts: 0 },
  },
};

const noCounts = { accepted: 0, duplicates: 0, rejected: 0 };
function createSomeMetrics(options: Partial<MetricsOptions> = {}) {
  const clock = options.clock ?? (() => now);
  const counters = createEventCounters(clock);
  const metrics = createMetrics({
    counters,
    readFacts: async () => someFacts(),
    timezone,
    reuseMs: 0,
    ...options,
    clock,
  });
  /** The lines of our own metrics, without comments. */
  const read = async () =>
    (await metrics.scrape()).text.split('\n').filter((line) => line.startsWith('hotel_review_'));
  return { scrape: metrics.scrape, notify: counters.notify, read };
}

/** Options for a ledger that says this about its runs. */
function summarising(summary: Partial<LedgerSummary>) {
  return { readFacts: async () => someFacts({ summary: { runsByState: noRuns, ...summary } }) };
}

function claimed(of: Step, attempt = 1): ReviewEvent {
  return { type: 'step-claimed', run: someRun({ id: of.runId }), step: of, attempt };
}

function ended(of: Step, outcome: Ending, code = 'ok', attempt = 1): ReviewEvent {
  return { type: 'step-ended', run: someRun(), step: of, attempt, outcome, evidence: { code } };
}

describe('the metrics of the ledger', () => {
  it('give the end of the last good day, and its age in days', async () => {
    const { read } = createSomeMetrics(summarising({ lastGoodDay: '2026-11-18' }));
    const lines = await read();
    const endOfDay = Date.parse('2026-11-18T23:00:00Z') / 1000;
    expect(lines).toContain(`hotel_review_last_good_day_timestamp_seconds ${endOfDay}`);
    expect(lines).toContain('hotel_review_last_good_day_age_days 2');
    expect(lines).toContain('hotel_review_ledger_up 1');
  });

  it('count calendar days in the zone, across a change of the clocks', async () => {
    const at = async (instant: string, lastGoodDay: string) => {
      const clock = () => Date.parse(instant);
      const { read } = createSomeMetrics({ clock, ...summarising({ lastGoodDay }) });
      return (await read()).find((line) => line.startsWith('hotel_review_last_good_day_age_days'));
    };
    expect(await at('2026-10-26T00:30:00Z', '2026-10-24')).toMatch(/ 1$/);
    expect(await at('2026-11-20T22:59:59Z', '2026-11-19')).toMatch(/ 0$/);
    expect(await at('2026-11-20T23:00:00Z', '2026-11-19')).toMatch(/ 1$/);
    expect(await at('2026-11-20T12:00:00Z', '2026-11-20')).toMatch(/ 0$/);
  });

  it('give the age of the oldest guest names of each place, looked for once an hour', async () => {
    let looks = 0;
    let clock = now;
    const { read } = createSomeMetrics({
      clock: () => clock,
      async oldestNames() {
        looks += 1;
        if (looks === 2) throw new Error('unreachable');
        return looks === 1
          ? [
              { place: 'ledger', ageDays: 29 },
              { place: 'spool', ageDays: 1 },
            ]
          : [];
      },
    });
    const ages = async () => (await read()).filter((line) => line.includes('oldest_guest_name'));
    const first = [
      'hotel_review_oldest_guest_name_age_days{place="ledger"} 29',
      'hotel_review_oldest_guest_name_age_days{place="spool"} 1',
    ];
    expect(await ages()).toEqual(first);
    clock += 3_599_999;
    expect(await ages()).toEqual(first);
    clock += 1;
    expect(await ages()).toEqual([]);
    expect(await ages()).toEqual([]);
    expect(looks).toBe(3);
  });

  it('give the instant up to which the local copy of the mappings is complete, where there is one', async () => {
    const name = 'hotel_review_mappings_in_step_timestamp_seconds';
    const tell = async (mappingsReach?: number) =>
      (await createSomeMetrics({ readFacts: async () => someFacts({ mappingsReach }) }).read()).filter(
        (line) => line.startsWith(`${name} `),
      );
    expect(await tell(1_700_000_000_500)).toEqual([`${name} 1700000000.5`]);
    expect(await tell(0)).toEqual([`${name} 0`]);
    expect(await tell()).toEqual([]);
  });

  it('count the recent days by state, and the outcome of the latest one', async () => {
    const { read } = createSomeMetrics({
      readFacts: async () =>
        someFacts({ recentDays: { ...someFacts().recentDays, good: 12, failed: 1 }, latestDay: someDay }),
    });
    const lines = (await read()).filter((line) => /_(?:day_states|latest_day)/.test(line));
    expect(lines).toEqual([
      'hotel_review_day_states{state="good"} 12',
      'hotel_review_day_states{state="incomplete"} 0',
      'hotel_review_day_states{state="to-be-accepted"} 0',
      'hotel_review_day_states{state="missing"} 0',
      'hotel_review_day_states{state="collecting"} 0',
      'hotel_review_day_states{state="delivering"} 0',
      'hotel_review_day_states{state="awaiting-result"} 0',
      'hotel_review_day_states{state="failed"} 1',
      'hotel_review_day_states{state="cancelled"} 0',
      `hotel_review_latest_day_timestamp_seconds ${Date.parse('2026-11-20T23:00:00Z') / 1000}`,
      'hotel_review_latest_day_records{outcome="accepted"} 990',
      'hotel_review_latest_day_records{outcome="rejected"} 3',
      'hotel_review_latest_day_records{outcome="filtered"} 7',
      'hotel_review_latest_day_bookings{state="delivered"} 980',
      'hotel_review_latest_day_bookings{state="refused"} 1',
      'hotel_review_latest_day_bookings{state="pending"} 9',
      'hotel_review_latest_day_provider_bookings{provider="Hotelbeds"} 900',
      'hotel_review_latest_day_provider_bookings{provider="other"} 90',
      'hotel_review_latest_day_posted_bookings 4',
      'hotel_review_latest_day_affected_bookings 2',
      'hotel_review_latest_day_unanswered_bookings 5',
      'hotel_review_latest_day_suspect_bookings 6',
    ]);
  });

  it('say nothing about what is unknown about the latest day, not even 0', async () => {
    const unknown = { affected: null, unanswered: null, suspects: null, providers: new Map() };
    const { read } = createSomeMetrics({
      readFacts: async () => someFacts({ latestDay: { ...someDay, ...unknown } }),
    });
    const text = (await read()).join('\n');
    expect(text).toContain('latest_day_posted_bookings 4');
    expect(text).not.toMatch(/latest_day_(?:affected|unanswered|suspect|provider)/);
  });

  it('count notifications that are pending or given up, and give the time of the oldest pending one', async () => {
    const tell = async (messages: MessageCounts) =>
      (await createSomeMetrics({ readFacts: async () => someFacts({ messages }) }).read()).filter((line) =>
        line.includes('notification'),
      );
    expect(
      await tell({ pending: 2, givenUp: 1, perhapsReceived: 0, pendingSince: 1_700_000_000_500 }),
    ).toEqual([
      'hotel_review_pending_notifications 2',
      'hotel_review_oldest_pending_notification_timestamp_seconds 1700000000.5',
      'hotel_review_given_up_notifications 1',
    ]);
    expect(await tell({ pending: 0, givenUp: 0, perhapsReceived: 0 })).toEqual([
      'hotel_review_pending_notifications 0',
      'hotel_review_given_up_notifications 0',
    ]);
  });

  it('count cases by state, and give the beginning of the nearest check-in day', async () => {
    const cases = {
      ...{ byState: { ...noCases.byState, open: 3, reported: 1 }, openBookings: 9, unknownCheckIns: 2 },
      inHouse: 3,
      firstCheckIn: '2026-12-01',
    };
    const { read } = createSomeMetrics({ readFacts: async () => someFacts({ cases }) });
    const lines = await read();
    for (const line of [
      'mapping_cases{state="open"} 3',
      'mapping_cases{state="dismissed"} 0',
      'open_case_bookings{check_in="in-house"} 3',
      'open_case_bookings{check_in="known"} 4',
      'open_case_bookings{check_in="unknown"} 2',
      `nearest_open_check_in_timestamp_seconds ${Date.parse('2026-11-30T23:00:00Z') / 1000}`,
    ])
      expect(lines).toContain(`hotel_review_${line}`);
    expect((await createSomeMetrics().read()).join()).not.toContain('nearest_open_check_in');
  });

  it('count runs by state, and waiting steps', async () => {
    const { read } = createSomeMetrics({
      ...summarising({ runsByState: { ...noRuns, succeeded: 40, failed: 1 } }),
      queueDepth: async () => 7,
    });
    const lines = await read();
    expect(lines.filter((line) => line.startsWith('hotel_review_runs{'))).toEqual([
      'hotel_review_runs{state="collecting"} 0',
      'hotel_review_runs{state="delivering"} 0',
      'hotel_review_runs{state="awaiting-result"} 0',
      'hotel_review_runs{state="succeeded"} 40',
      'hotel_review_runs{state="failed"} 1',
      'hotel_review_runs{state="cancelled"} 0',
    ]);
    expect(lines).toContain('hotel_review_queue_depth 7');
  });

  it.each([
    ['says so', () => Promise.reject(new Error('away'))],
    ['says nothing', () => new Promise<never>(() => {})],
  ])('are absent while the ledger is unavailable and %s, and come back with it', async (_how, away) => {
    let isAway = false;
    const good = async () =>
      someFacts({ summary: { runsByState: noRuns, lastGoodDay: '2026-11-20' }, latestDay: someDay });
    const { read } = createSomeMetrics({
      readFacts: () => (isAway ? away() : good()),
      queueDepth: () => (isAway ? away() : Promise.resolve(0)),
      answerMs: 20,
    });
    const ofLedger = (lines: string[]) =>
      lines.filter((line) => /^hotel_review_(?:last_good|latest_day|runs\{|queue_depth)/.test(line)).length;
    const before = ofLedger(await read());
    expect(before).toBeGreaterThan(9);
    isAway = true;
    const lines = await read();
    expect(lines).toContain('hotel_review_ledger_up 0');
    expect(ofLedger(lines)).toBe(0);
    isAway = false;
    expect(ofLedger(await read())).toBe(before);
  });

  it('are read once for simultaneous scrapes and those of the next second', async () => {
    const gate = createGate();
    let asked = 0;
    let clock = now;
    const { scrape } = createSomeMetrics({
      clock: () => clock,
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
    expect([asked, first?.text]).toEqual([1, second?.text]);
    clock += 999;
    expect((await scrape()).text).toBe(first?.text);
    clock += 1;
    await scrape();
    expect(asked).toBe(2);
  });
});

describe('the metrics of this process', () => {
  it('measure the duration of attempts, by kind of step and outcome', async () => {
    let time = now;
    const { notify, read } = createSomeMetrics({ clock: () => time });
    notify(claimed(step));
    notify(claimed({ ...step, name: 'upload', kind: 'upload' }));
    time += 1_500;
    notify(ended(step, 'done'));
    notify(ended({ ...step, name: 'upload', kind: 'upload' }, 'retry', 'sftp-connection-lost'));
    const lines = await read();
    const name = 'hotel_review_step_duration_seconds';
    expect(lines).toContain(`${name}_sum{kind="batch",outcome="done"} 1.5`);
    expect(lines).toContain(`${name}_count{kind="upload",outcome="retry"} 1`);
    expect(lines).toContain(`${name}_bucket{le="1",kind="batch",outcome="done"} 0`);
    expect(lines).toContain(`${name}_bucket{le="2.5",kind="batch",outcome="done"} 1`);
  });

  it('skip the duration of an attempt whose start was not seen, and forget the oldest starts', async () => {
    const { notify, read } = createSomeMetrics();
    notify(ended(step, 'done'));
    notify(claimed(step));
    for (let attempt = 2; attempt <= 10_001; attempt += 1) notify(claimed(step, attempt));
    notify(ended(step, 'done'));
    const ofDuration = (lines: string[]) => lines.filter((line) => line.includes('duration_seconds_count'));
    expect(ofDuration(await read())).toEqual([]);
    notify(ended(step, 'done', 'ok', 10_001));
    expect(ofDuration(await read())).toHaveLength(1);
  });

  it('count bookings by outcome: those of done steps and refused ones', async () => {
    const { notify, read } = createSomeMetrics();
    expect(await read()).toContain('hotel_review_bookings_total{outcome="refused"} 0');
    notify(ended(step, 'done'));
    notify(ended({ ...step, bookings: 1 }, 'refused', 'code-2009'));
    notify(ended(step, 'halved', 'code-2009'));
    notify(ended(step, 'failed', 'timeout'));
    const lines = await read();
    expect(lines).toContain('hotel_review_bookings_total{outcome="delivered"} 500');
    expect(lines).toContain('hotel_review_bookings_total{outcome="refused"} 1');
  });

  it('count records when collected, and runs when settled', async () => {
    const { notify, read } = createSomeMetrics();
    notify({ type: 'collected', run: someRun() });
    notify({ type: 'collected', run: someRun({ counts: noCounts, suspects: 4 }) });
    const file = { verdicts: { affected: 2, unanswered: 3, unclear: 0, malformed: 0 } };
    const counts = { affected: 2, unanswered: 3 };
    notify({ type: 'settled', run: someRun({ file, counts }) });
    notify({ type: 'settled', run: someRun({ state: 'awaiting-result', file, counts }) });
    notify({ type: 'mappings-skipped', sync: noSync, count: 2, reason: 'odd' });
    const lines = await read();
    expect(lines).toContain('hotel_review_records_total{outcome="accepted"} 990');
    expect(lines).toContain('hotel_review_records_total{outcome="duplicate"} 7');
    expect(lines).toContain('hotel_review_records_total{outcome="rejected"} 3');
    expect(lines).toContain('hotel_review_runs_settled_total{state="succeeded"} 1');
    expect(lines).toContain('hotel_review_runs_settled_total{state="awaiting-result"} 1');
    expect(lines).toContain('hotel_review_affected_bookings_total 2');
    expect(lines).toContain('hotel_review_unanswered_bookings_total 3');
    expect(lines).toContain('hotel_review_suspect_bookings_total 4');
    expect(lines).toContain('hotel_review_skipped_mappings_total 2');
  });

  it('count what the watch and the verdict e-mails found, and say when both were last looked for', async () => {
    let time = now;
    const { notify, read } = createSomeMetrics({ clock: () => time });
    const lines = await read();
    expect(lines).toContain('hotel_review_watch_findings_total{move="unmapped"} 0');
    expect(lines).toContain('hotel_review_verdict_mails_total{outcome="unreadable"} 0');
    expect(lines.filter((line) => /last_(watch|mailbox)/.test(line))).toEqual([]);
    const counts = { checkedMoves: 9, endangered: 3, unmapped: 1, bookings: 7, merged: 2, dismissed: 0 };
    notify({ type: 'mappings-watched', ...counts });
    const mail = { mail: 1, receivedAt: now };
    notify({ type: 'verdict-mail-named', ...mail, named: 4 });
    notify({ type: 'verdict-mail-unknown', ...mail, unreadAttachments: 0 });
    notify({ type: 'mailbox-read' });
    time += 60_000;
    notify({
      type: 'mappings-watched',
      ...counts,
      checkedMoves: 0,
      endangered: 0,
      unmapped: 0,
      bookings: 0,
      merged: 0,
    });
    expect(await read()).toEqual(
      expect.arrayContaining([
        'hotel_review_watch_findings_total{move="re-pointed"} 2',
        'hotel_review_watch_findings_total{move="unmapped"} 1',
        'hotel_review_watch_findings_total{move="merged"} 2',
        'hotel_review_endangered_bookings_total 7',
        `hotel_review_last_watch_timestamp_seconds ${now / 1000 + 60}`,
        'hotel_review_verdict_mails_total{outcome="named"} 1',
        'hotel_review_verdict_mails_total{outcome="unknown"} 1',
        'hotel_review_verdict_mails_total{outcome="unreadable"} 0',
        'hotel_review_verdict_mail_names_total 4',
        `hotel_review_last_mailbox_poll_timestamp_seconds ${now / 1000}`,
      ]),
    );
  });

  it('count a booking once that several runs of its day find', async () => {
    const { notify, read } = createSomeMetrics();
    const file = { verdicts: { affected: 3, unanswered: 0, unclear: 0, malformed: 0 } };
    const outcome = { ...outcomeOf([someRun()]), unanswered: 1 };
    notify({ type: 'settled', run: someRun({ file }), outcome: { ...outcome, affected: 2 } });
    notify({ type: 'settled', run: someRun({ id: 'late', file }), outcome: { ...outcome, affected: 3 } });
    expect(await read()).toEqual(
      expect.arrayContaining([
        'hotel_review_affected_bookings_total 3',
        'hotel_review_unanswered_bookings_total 1',
      ]),
    );
  });

  it('say nothing about verdicts, not even 0, while no result is known', async () => {
    const { notify, read } = createSomeMetrics();
    const ofVerdicts = (lines: string[]) =>
      lines.filter((line) => /^hotel_review_(affected|unanswered)_/.test(line));
    notify({ type: 'settled', run: someRun({ counts: { affected: null, unanswered: null } }) });
    expect(ofVerdicts(await read())).toEqual([]);
    const file = { verdicts: { affected: 0, unanswered: 0, unclear: 0, malformed: 0 } };
    notify({ type: 'settled', run: someRun({ delivery: 'file', file }) });
    expect(ofVerdicts(await read())).toEqual([
      'hotel_review_affected_bookings_total 0',
      'hotel_review_unanswered_bookings_total 0',
    ]);
  });

  it.each([
    ['http-503', 'http-5xx'],
    ['http-429', 'http-4xx'],
    ['http-202', 'service'],
    ['code-2030', 'service'],
    ['status-false', 'service'],
    ['unreadable-answer', 'service'],
    ['timeout', 'connection'],
    ['connection-reset', 'connection'],
    ['sftp-connection-lost', 'sftp'],
    ['archive-unwritable', 'local'],
    ['local-enospc', 'local'],
    ['result-absent', 'result'],
  ])('count a retry for %s as one of the class %s', async (code, codeClass) => {
    const { notify, read } = createSomeMetrics();
    notify(ended(step, 'retry', code));
    const line = `hotel_review_step_retries_total{kind="batch",code_class="${codeClass}"} 1`;
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
