import { parse } from 'yaml';
import { renderRunMetrics } from '../../../jobs/metrics-file.js';
import { createEventCounters, createMetrics } from '../../../src/desk/server/metrics.js';
import type { HotelReviewEvent } from '../../../src/notify/events.js';
import { noCases, someDay, someFacts } from '../../desk/server/some-facts.js';
import { now, timezone } from '../../desk/server/some-server.js';
import { step } from '../../notify/review-events.js';
import { someRun } from '../../review/some-run.js';
import { projectFile } from '../../support/compose-file.js';

/** The page that lists the alerts. */
export const page = projectFile('docs/every-night.md');
/** The page that lists the metrics. */
export const metricsPage = projectFile('docs/service.md');
/** The alerts. */
export const rulesText = projectFile('ops/prometheus/alerts.yml');

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly type: string;
  readonly description?: string;
  readonly datasource?: object;
  readonly targets?: readonly {
    readonly refId: string;
    readonly expr: string;
    readonly datasource: object;
  }[];
}

export const rules = (parse(rulesText) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);
export const dashboard = JSON.parse(projectFile('ops/grafana/hotel-review.json')) as {
  readonly templating: { readonly list: readonly { readonly name: string; readonly type: string }[] };
  readonly panels: readonly Panel[];
};
/** What the dashboard asks for. */
export const shown = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => ({ where: `panel ${title}`, expr })),
);

const ages = [{ place: 'archive' as const, ageDays: 3 }];
export const facts = someFacts({
  summary: { ...someFacts().summary, lastGoodDay: '2026-11-19' },
  latestDay: someDay,
  cases: { ...noCases, firstCheckIn: '2026-12-01' },
  messages: { pending: 1, givenUp: 0, perhapsReceived: 0, pendingSince: now },
  missedCanaries: 0,
  mappingsReach: now,
});

/** Metrics as served by a process in which everything has happened. */
async function serveEverything(): Promise<string> {
  const counters = createEventCounters(() => now);
  const metrics = createMetrics({
    counters,
    readFacts: async () => facts,
    queueDepth: async () => 1,
    oldestNames: async () => ages,
    clock: () => now,
    timezone,
  });
  const file = { verdicts: { affected: 2, unanswered: 3, unclear: 0, malformed: 0 } };
  const counts = { checkedMoves: 9, endangered: 3, unmapped: 1, bookings: 7, merged: 2, dismissed: 0 };
  const events: readonly HotelReviewEvent[] = [
    { type: 'step-claimed', run: someRun(), step, attempt: 1 },
    {
      type: 'step-ended',
      run: someRun(),
      step,
      attempt: 1,
      outcome: 'retry',
      evidence: { code: 'http-503' },
    },
    { type: 'source-late', run: someRun(), until: now },
    { type: 'settled', run: someRun({ file }) },
    { type: 'mappings-watched', ...counts },
    { type: 'mailbox-read' },
  ];
  for (const event of events) counters.notify(event);
  metrics.countHookRequest(202);
  return (await metrics.scrape()).text;
}

export const served = await serveEverything();
/** How a run ended. */
export const ended = { startedAt: now - 5_000, endedAt: now, exitCode: 0 };
/** What that run leaves in a file. */
export const written = await renderRunMetrics(ended, { facts, names: ages, timezone });
