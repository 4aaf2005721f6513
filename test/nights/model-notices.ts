import type { NoticeEvent, Severity } from '../../src/rules/notice.js';
import { addDays } from './guests.js';
import type { Checked, Heard, Item, SeenRun } from './heard.js';

/** What is still wrong. Problems of a day last until it is good; a missing export until it comes. */
interface Problem {
  readonly event: NoticeEvent;
  readonly subject: string;
  readonly day: string | undefined;
  readonly run: string | undefined;
  severity: Severity;
  raisedAt: number;
  /** The first time, and at each reminder. */
  toldAt: number;
}

interface Expected {
  readonly event: NoticeEvent;
  readonly stage: Item['stage'];
  readonly subject: string;
}

/** When exports were requested, and when they came. */
export interface ExportTimes {
  readonly what: 'requested' | 'arrives';
  readonly at: number;
}

/** The times of the world that the clock makes due. */
export interface Calendar {
  /** The first business day, and the midnight at its end. */
  readonly firstDay: string;
  readonly firstMidnight: number;
}

const [hourMs, dayMs] = [3_600_000, 86_400_000];
/** On the day after the business day. */
const [deadlineAt, digestAt] = [6 * hourMs, 8 * hourMs];
const exportMs = 6 * hourMs;
/** A day is late for so many days, and people are reminded for as many. */
const mostDays = 31;
const slackMs = 2 * hourMs;

/** These are told exactly when they have to be, and as often; of others, only that none is told twice is known here. */
const foretold: readonly NoticeEvent[] = [
  ...(['run-failed', 'result-late', 'result-incomplete', 'affected-implausible', 'day-late'] as const),
  ...(['day-recovered', 'export-missing', 'morning-digest'] as const),
];

const keyOf = ({ event, subject }: Pick<Expected, 'event' | 'subject'>) => `${event} of ${subject}`;
const sayOf = (one: Expected) => `${keyOf(one)} (${one.stage})`;
const isWorse = (one: Severity, other: Severity) => one === 'critical' && other !== 'critical';

/** What the channel that always works must have been told, check by check; one line for each difference. */
export function judgeTold(
  heard: readonly Heard[],
  exports: readonly ExportTimes[],
  calendar: Calendar,
): readonly string[] {
  const faults: string[] = [];
  const runs = new Map<string, SeenRun>();
  const problems = new Map<string, Problem>();
  /** Recorded with what made them true, and not told yet. */
  let due: Expected[] = [];
  /** Perhaps recorded by a process that had trouble before it could tell. */
  let perhaps: Expected[] = [];
  let told: Item[] = [];
  let countedFrom: number | undefined;

  function raise(event: NoticeEvent, { day, run, at }: SeenRun, severity: Severity): void {
    const known = problems.get(keyOf({ event, subject: day }));
    if (known && !isWorse(severity, known.severity)) return;
    if (known) known.severity = severity;
    else
      problems.set(keyOf({ event, subject: day }), {
        event,
        subject: day,
        day,
        run,
        severity,
        raisedAt: at,
        toldAt: at,
      });
    due.push({ event, subject: day, stage: known ? 'reminder' : 'raised' });
  }

  function see(run: SeenRun): void {
    const before = runs.get(run.run);
    runs.set(run.run, run);
    const { state, code, trigger } = run;
    if (state === 'failed' && (before?.state !== 'failed' || before.code !== code)) {
      const isTriedAgain = code === 'missing' && (trigger === 'schedule' || trigger === 'hook');
      raise('run-failed', run, trigger === 'today' || isTriedAgain ? 'warning' : 'critical');
      if (code === 'result-incomplete') raise('result-incomplete', run, 'critical');
    }
    if (run.isOverdue === 'yes') raise('result-late', run, 'warning');
    if (run.isOverdue === 'perhaps')
      perhaps.push({ event: 'result-late', subject: run.day, stage: 'raised' });
    if (state === 'succeeded' && before?.state !== 'succeeded' && run.isToBeAccepted)
      raise('affected-implausible', run, 'warning');
  }

  const runsOf = (day: string) => [...runs.values()].filter((run) => run.day === day);

  /** It is about the whole day. */
  const isReviewed = ({ state, trigger, isEarly }: SeenRun) =>
    state === 'succeeded' && trigger !== 'today' && !isEarly;

  function isOver({ day = '', run: own, raisedAt, event }: Problem): boolean {
    return runsOf(day).some((run) => {
      const isOwn = run.run === own;
      if (run.state !== 'succeeded') return false;
      if (isOwn && run.trigger === 'today') return true;
      const isAfter = isOwn || event === 'day-late' || (run.finishedAt ?? 0) >= raisedAt;
      return isAfter && isReviewed(run) && !run.isToBeAccepted;
    });
  }

  function listLate(at: number): string[] {
    const late: string[] = [];
    for (let number = 0; ; number += 1) {
      const deadline = calendar.firstMidnight + number * dayMs + deadlineAt;
      if (deadline > at) return late;
      const day = addDays(calendar.firstDay, number);
      if (deadline > (countedFrom ?? at) && !runsOf(day).some(isReviewed)) late.push(day);
    }
  }

  /** Since when the newest one is awaited. */
  function exportAwaitedSince(at: number): number | undefined {
    const request = exports.findLast((one) => one.what === 'requested' && one.at <= at);
    const hasArrived = exports.some(
      (one) => one.what === 'arrives' && one.at >= (request?.at ?? 0) && one.at <= at,
    );
    return hasArrived ? undefined : request?.at;
  }

  function* findDigest(at: number): Generator<Expected> {
    const date = Math.floor((at - digestAt - calendar.firstMidnight) / dayMs);
    const dueAt = calendar.firstMidnight + date * dayMs + digestAt;
    if (dueAt <= (countedFrom ?? at)) return;
    const subject = addDays(calendar.firstDay, date + 1);
    if (!digests.has(subject)) yield { event: 'morning-digest', stage: 'raised', subject };
  }
  const digests = new Set<string>();

  /** What the clock, and all runs together, make true at a check. Changes nothing. */
  function look(at: number) {
    const late = listLate(at);
    const awaitedSince = exportAwaitedSince(at);
    const missing = awaitedSince !== undefined && at - awaitedSince >= exportMs ? ['export'] : [];
    const raised = [
      ...late.map((subject) => ({ event: 'day-late' as const, subject })),
      ...missing.map((subject) => ({ event: 'export-missing' as const, subject })),
    ].filter((one) => !problems.has(keyOf(one)));
    const ended: Problem[] = [];
    const dropped: Problem[] = [];
    for (const problem of problems.values()) {
      if (problem.event === 'export-missing') {
        if (awaitedSince === undefined) ended.push(problem);
      } else if (isOver(problem)) ended.push(problem);
      // The day is not late any more, and not good.
      else if (problem.event === 'day-late' && !late.includes(problem.subject)) dropped.push(problem);
    }
    const lasting = [...problems.values()].filter((one) => !ended.includes(one) && !dropped.includes(one));
    const reminded = lasting.filter((one) => isReminderDue(one, at));
    const recovered = ended.map(
      ({ event, subject, day }): Expected =>
        event === 'export-missing'
          ? { event, subject, stage: 'recovered' }
          : { event: 'day-recovered', subject: day ?? subject, stage: 'raised' },
    );
    const now: Expected[] = [
      ...raised.map((one) => ({ ...one, stage: 'raised' as const })),
      ...reminded.map((one) => ({ ...one, stage: 'reminder' as const })),
      ...recovered,
      ...findDigest(at),
    ];
    return { now, ended, recovered, dropped };
  }

  function check(checked: Checked): void {
    countedFrom ??= checked.at;
    for (const item of told.filter(
      (one) => one.stage === 'raised' && perhaps.some((other) => sayOf(one) === sayOf(other)),
    ))
      open(item);
    const { now, ended, recovered, dropped } = look(checked.at);
    const later = checked.isWhole ? [] : look(checked.endedAt).now;
    const must = new Set([...due, ...now].map(sayOf));
    const may = new Set([...perhaps, ...later].map(sayOf));
    const found = told.filter(({ event }) => foretold.includes(event));
    for (const item of found) {
      if (!must.has(sayOf(item)) && !may.has(sayOf(item))) faults.push(`told for no reason: ${sayOf(item)}`);
      if (found.some((other) => other !== item && sayOf(other) === sayOf(item) && other.at === item.at))
        faults.push(`told twice: ${sayOf(item)}`);
    }
    const saidNow = new Set(found.map(sayOf));
    const isTold = (one: Expected) => saidNow.has(sayOf(one));
    if (checked.isWhole) for (const one of must) if (!saidNow.has(one)) faults.push(`not told: ${one}`);
    const counts = (one: Expected) => checked.isWhole || isTold(one);
    for (const item of found) open(item);
    for (const [index, problem] of ended.entries())
      if (counts(recovered[index] as Expected)) problems.delete(keyOf(problem));
    for (const problem of dropped) problems.delete(keyOf(problem));
    // One that came due while a check went on that did not end is known by what was told.
    for (const one of [...now.filter(counts), ...found])
      if (one.event === 'morning-digest') digests.add(one.subject);
    due = checked.isWhole ? [] : due.filter((one) => !isTold(one));
    perhaps = checked.isWhole ? [] : [...perhaps, ...now].filter((one) => !isTold(one));
    told = [];
  }

  /** When it came true is known from what was told. */
  function open({ event, stage, subject, day, run, severity, at }: Item): void {
    if (event === 'day-recovered' || event === 'morning-digest' || stage === 'recovered') return;
    const known = problems.get(keyOf({ event, subject }));
    if (!known)
      problems.set(keyOf({ event, subject }), {
        event,
        subject,
        day,
        run,
        severity,
        raisedAt: at,
        toldAt: at,
      });
    else if (stage === 'raised') Object.assign(known, { raisedAt: at, toldAt: at });
    else known.toldAt = Math.max(known.toldAt, at);
  }

  for (const one of heard)
    switch (one.kind) {
      case 'run':
        see(one);
        break;
      case 'told':
        told.push(...one.items);
        break;
      case 'checked':
        check(one);
        break;
    }
  return faults;
}

/** Daily since it was found; a night that is a little faster than the one before counts as a day later. */
function isReminderDue({ raisedAt, toldAt }: Problem, at: number): boolean {
  const countDays = (instant: number) => Math.floor((instant - raisedAt + slackMs) / dayMs);
  return countDays(at) > countDays(toldAt) && countDays(at) <= mostDays;
}
