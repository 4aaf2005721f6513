import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { exitCode } from '../../../jobs/exit-code.js';
import { noticeEventNames, noticeEvents } from '../../../src/rules/notice.js';
import type { FailureClass } from '../../../src/rules/run.js';
import { projectFile } from '../../support/compose-file.js';
import { toAnchor } from './pages.js';

const night = projectFile('docs/every-night.md');
const runbook = projectFile('docs/runbook.md');
/** A line of the index for each symptom, which leads to what to do. */
const index = [...runbook.matchAll(/^- \[(.*)\]\(#([\w-]+)\)$/gm)];
const symptoms = index.map(([, words]) => words).join('\n');

describe('docs/every-night.md', () => {
  it('says what to do for every exit code', () => {
    const rows = night.matchAll(/^\| (\d) \| [^|]+ \| [^|]+ \|$/gm);
    expect([...rows].map(([, code]) => Number(code))).toEqual(Object.values(exitCode).sort());
  });

  it('lists every event, with its severity', () => {
    const listed = [...night.matchAll(/^\| `([a-z-]+)` \| (info|warning|critical|as the problem) \|/gm)];
    expect(listed.map(([, name]) => name).sort()).toEqual(noticeEventNames.toSorted());
    for (const [, name = '', severity] of listed)
      if (severity !== 'as the problem')
        expect(noticeEvents, name).toHaveProperty([name, 'severity'], severity);
  });
});

describe('docs/runbook.md', () => {
  it('has a symptom for every error class', () => {
    const classes: Record<FailureClass, true> = {
      retryable: true,
      fatal: true,
      refused: true,
      data: true,
      internal: true,
    };
    for (const name of Object.keys(classes)) expect(symptoms).toContain(`\`failed (${name})\``);
  });

  it('has a symptom for every event that reports a problem', () => {
    const quiet = ['day-recovered', 'mappings-synced', 'morning-digest'];
    for (const name of noticeEventNames) if (!quiet.includes(name)) expect(symptoms).toContain(`\`${name}\``);
  });

  it('has a symptom for every alert', () => {
    const { groups } = parse(projectFile('ops/prometheus/alerts.yml')) as {
      readonly groups: readonly { readonly rules: readonly { readonly alert: string }[] }[];
    };
    for (const { alert } of groups.flatMap(({ rules }) => rules)) expect(symptoms).toContain(`\`${alert}\``);
  });

  it('has an index that leads to each of its parts, in their order', () => {
    const anchors = runbook
      .split(/^(?=### )/m)
      .slice(1)
      .map((part) => part.split('\n')[0]?.slice(4) ?? '')
      .map(toAnchor);
    expect(index.map(([, , anchor]) => anchor)).toEqual(anchors);
  });
});
