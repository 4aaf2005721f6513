import type { Counts } from '../../rules/run.js';

export const heartbeatKinds = ['healthchecks', 'uptime-kuma', 'cronitor'] as const;
export type HeartbeatKind = (typeof heartbeatKinds)[number];

/** What a heartbeat service is told: numbers and codes, nothing of a booking. */
export interface Beat {
  readonly state: 'start' | 'success' | 'failure';
  /** YYYY-MM-DD */
  readonly day: string;
  /** Absent if the day failed without a run, or nothing has been counted yet. */
  readonly run?: {
    readonly id: string;
    readonly counts: Counts;
    readonly durationMs: number;
  };
  /** Why it failed. */
  readonly code?: string;
}

export interface BeatCall {
  readonly method: 'GET' | 'POST';
  /** From the root, including the query. */
  readonly path: string;
  readonly body?: string;
}

/** The call in the form of that service; undefined if it has none for this. Keeps the query of the configured address. */
export function renderBeat(kind: HeartbeatKind, url: URL, beat: Beat): BeatCall | undefined {
  switch (kind) {
    case 'healthchecks':
      return renderHealthchecks(url, beat);
    case 'uptime-kuma':
      return renderUptimeKuma(url, beat);
    case 'cronitor':
      return renderCronitor(url, beat);
  }
}

const healthchecksEnds = { start: '/start', success: '', failure: '/fail' };

/** The body is shown with the event. */
function renderHealthchecks({ pathname, search }: URL, beat: Beat): BeatCall {
  const { day, run, code } = beat;
  const facts = {
    day,
    ...(run && { run: run.id }),
    ...(code !== undefined && { failure: code }),
    ...(run && beat.state !== 'start' && run.counts),
  };
  const body = Object.entries(facts).map(([name, value]) => `${name}: ${value ?? 'unknown'}\n`);
  return {
    method: 'POST',
    path: `${pathname.replace(/\/$/, '')}${healthchecksEnds[beat.state]}${search}`,
    body: body.join(''),
  };
}

/** It has no start signal. The address that it shows already has all parameters. */
function renderUptimeKuma(url: URL, beat: Beat): BeatCall | undefined {
  const { state, run } = beat;
  if (state === 'start') return undefined;
  return get(url, [
    ['status', state === 'success' ? 'up' : 'down'],
    ['msg', describe(beat)],
    ['ping', run ? `${run.durationMs}` : ''],
  ]);
}

const cronitorStates = { start: 'run', success: 'complete', failure: 'fail' };

function renderCronitor(url: URL, beat: Beat): BeatCall {
  const { state, run } = beat;
  const { delivered, rejected, refused } = run?.counts ?? { delivered: 0, rejected: 0, refused: 0 };
  return get(url, [
    ['state', cronitorStates[state]],
    ...(run ? [['series', run.id] as const] : []),
    ['message', describe(beat)],
    ...(run && state !== 'start'
      ? ([
          ['metric', `count:${delivered}`],
          ['metric', `error_count:${rejected + refused}`],
          ['metric', `duration:${run.durationMs / 1000}`],
        ] as const)
      : []),
  ]);
}

/** Replaces parameters of these names in the address. */
function get({ pathname, searchParams }: URL, parameters: readonly (readonly [string, string])[]): BeatCall {
  const query = new URLSearchParams(searchParams);
  for (const [name] of parameters) query.delete(name);
  for (const [name, value] of parameters) query.append(name, value);
  return { method: 'GET', path: `${pathname}?${query}` };
}

/** On one line. */
function describe({ state, day, run, code }: Beat): string {
  if (state === 'start') return `${day}: started`;
  const counts = ['accepted', 'delivered', 'rejected', 'refused', 'pending'] as const;
  return [
    `${day}: ${state === 'success' ? 'succeeded' : `failed${code === undefined ? '' : ` (${code})`}`}`,
    ...(run ? counts.map((name) => `${run.counts[name]} ${name}`) : []),
  ].join(', ');
}
