import type { DeliveryKind, Trigger } from '../../src/review/run.js';

/** How much a ledger for the desk holds. */
export interface YearsSize {
  readonly days: number;
  /** Of each usual run. */
  readonly bookings: number;
  readonly cases: number;
  /** Of the run with the most batches; each has a few bookings. */
  readonly batches: number;
  /** Of the run with the longest lists: of its records, thousands are rejected, posted, affected or without a verdict. */
  readonly listed: number;
}

/** What is special about a run; most are usual. */
export type RunShape = 'usual' | 'failing' | 'many-batches' | 'long-lists';

export interface PlannedRun {
  readonly id: string;
  /** YYYY-MM-DD */
  readonly day: string;
  readonly trigger: Trigger;
  readonly delivery: DeliveryKind;
  readonly shape: RunShape;
  readonly startedAt: number;
  readonly records: number;
  readonly batchSize: number;
}

const dayMs = 86_400_000;
const hourMs = 3_600_000;
/** When the runs of a day start, in hours after its midnight. */
const course: readonly (readonly [Trigger, number])[] = [
  ['today', 10],
  ['today', 14],
  ['today', 18],
  ['schedule', 26.5],
  ['replay', 32],
];
/** Of each of many batches. */
const bookingsOfSmallBatch = 5;
/** On every such day the nightly run fails, and nobody replays it. */
const failsEvery = 29;

/** The days whose pages show the most. */
export function specialDays(today: string) {
  return {
    manyBatches: goBack(today, 2),
    longLists: goBack(today, 3),
    /** What runs while pages are measured. */
    worked: goBack(today, 1),
  };
}

/** Five runs a day up to yesterday: by body on even days, by file on odd ones. */
export function planRuns(today: string, size: YearsSize): readonly (readonly PlannedRun[])[] {
  const special = specialDays(today);
  return Array.from({ length: size.days }, (_, index) => {
    const back = size.days - index;
    const day = goBack(today, back);
    const isFailing = back % failsEvery === 0;
    const runs = isFailing ? course.slice(0, -1) : course;
    return runs.map(([trigger, hours], place): PlannedRun => {
      const isLast = place === runs.length - 1;
      const shape = isLast ? shapeOf(day, isFailing, special) : 'usual';
      return {
        id: `${day.replaceAll('-', '')}-${place}`,
        ...{ day, trigger, shape },
        delivery: deliveryOf(shape, back),
        startedAt: Date.parse(day) + hours * hourMs,
        ...sizeOf(shape, size),
      };
    });
  });
}

function shapeOf(day: string, isFailing: boolean, special: ReturnType<typeof specialDays>): RunShape {
  if (day === special.manyBatches) return 'many-batches';
  if (day === special.longLists) return 'long-lists';
  return isFailing ? 'failing' : 'usual';
}

function deliveryOf(shape: RunShape, back: number): DeliveryKind {
  if (shape === 'many-batches') return 'body';
  return shape === 'long-lists' || back % 2 === 1 ? 'file' : 'body';
}

function sizeOf(shape: RunShape, { bookings, batches, listed }: YearsSize) {
  const batchSize = 500;
  switch (shape) {
    case 'many-batches':
      return { records: batches * bookingsOfSmallBatch, batchSize: bookingsOfSmallBatch };
    case 'long-lists':
      return { records: listed, batchSize };
    case 'usual':
    case 'failing':
      return { records: bookings, batchSize };
  }
}

export function goBack(day: string, days: number): string {
  return new Date(Date.parse(day) - days * dayMs).toISOString().slice(0, 10);
}
