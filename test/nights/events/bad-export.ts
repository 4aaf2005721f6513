import { crowd, type Guest } from '../guests.js';
import { listNames } from '../results.js';
import { toCsv } from '../source.js';
import type { EventKind, OfDay, Stage } from './event.js';
import { workFor } from './review.js';

/** The day is reviewed while its export is not there, is cut off, was not there and is cut off, or is that of the day before. */
export interface BadExport extends OfDay {
  readonly kind: 'bad-export';
  readonly form: (typeof forms)[number];
  readonly how: 'run' | 'replay';
  readonly source: readonly Guest[];
}

const forms = ['absent', 'cut', 'late and cut', 'repeated'] as const;

export const badExport: EventKind<BadExport> = {
  weights: { opening: 1, following: 1 },
  kinds: forms.map((form) => `export ${form}`),

  make: ({ day, hasBoth }, { pick, source }) => ({
    kind: 'bad-export',
    day,
    form: pick(forms),
    how: pick(['run', 'replay']),
    source: source(hasBoth),
  }),

  kindsOf: ({ form }) => [`export ${form}`],

  tell: ({ how, form, source }) => `${how}, while the export is ${form}, of ${listNames(source)}`,

  async live(event, stage) {
    const text = makeExport(event, stage);
    if (text === 'nothing to repeat') return undefined;
    if (event.form === 'late and cut') {
      stage.writeExport(undefined);
      await stage.liveProcess(workFor('schedule', stage.iso, 'file'));
    }
    stage.writeExport(text);
    stage.expectResults([], false);
    return stage.workOn(workFor(event.how, stage.iso, 'file'));
  },
};

/** Undefined if there is none. */
function makeExport({ form, source }: BadExport, { day, sources, wasSent }: Stage): string | undefined {
  switch (form) {
    case 'absent':
      return undefined;
    // It has half of its last record.
    case 'cut':
    case 'late and cut':
      return toCsv(source, day).slice(0, -20);
    case 'repeated': {
      const before = sources.get(day - 1) ?? [];
      // A few bookings may be equal by chance.
      const isRepeated = before.length >= crowd.length && before.every((guest) => wasSent(guest, day - 1));
      return isRepeated ? toCsv(before, day - 1) : 'nothing to repeat';
    }
  }
}
