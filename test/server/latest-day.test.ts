import { describe, expect, it } from 'vitest';
import { summariseLatestDay } from '../../src/desk/server/ledger-metrics.js';
import { outcomeOf } from '../review/outcome/some-outcome.js';
import { someRun } from '../review/some-run.js';

const day = '2026-11-20';

describe('summariseLatestDay', () => {
  it('adds up what the runs sent, and counts what could not be sent once', () => {
    const runs = [
      someRun({
        ...{ id: 'night', delivery: 'file', topsUp: true, suspects: 1 },
        counts: {
          read: 107,
          accepted: 40,
          duplicates: 60,
          rejected: 5,
          filtered: 2,
          delivered: 38,
          refused: 2,
        },
        file: { verdicts: { affected: 3, unanswered: 1, unclear: 0, malformed: 0 } },
      }),
      someRun({ id: 'noon', trigger: 'today', counts: { accepted: 60, delivered: 60, rejected: 4 } }),
    ].map((run) => ({
      ...run,
      counts: { ...run.counts, ...(run.delivery === 'body' && { affected: null, unanswered: null }) },
    }));
    expect(summariseLatestDay(outcomeOf(runs), { Hotelbeds: 100 })).toMatchObject({
      day,
      records: { accepted: 100, rejected: 5, filtered: 2 },
      bookings: { delivered: 98, refused: 2, pending: 0 },
      affected: 0,
      suspects: 1,
      providers: new Map([['Hotelbeds', 100]]),
    });
  });

  it('names the 20 largest providers, and sums up the others as other, along with one of that name', () => {
    const counts = Object.fromEntries(
      Array.from({ length: 30 }, (_, index) => [`P${String(index).padStart(2, '0')}`, 100 - index]),
    );
    const { providers } = summariseLatestDay(outcomeOf([someRun()]), { ...counts, other: 500 });
    expect(providers.size).toBe(20);
    expect([...providers.keys()].slice(0, 3)).toEqual(['other', 'P00', 'P01']);
    const others = Array.from({ length: 11 }, (_, index) => 100 - 19 - index);
    expect(providers.get('other')).toBe(500 + others.reduce((sum, count) => sum + count));
  });

  it('shows active characters of a name, and cuts a long one between characters', () => {
    const { providers } = summariseLatestDay(outcomeOf([someRun()]), {
      'a\u001b[2J\nb': 2,
      ['🏨'.repeat(300)]: 1,
    });
    expect([...providers.keys()]).toEqual(['a\\u001b[2J\\u000ab', '🏨'.repeat(100)]);
  });
});
