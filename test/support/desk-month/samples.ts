import type { DeskMonth } from './month.js';

/** What the month has of each kind that pages are about. */
export interface Samples {
  readonly failedDay: string;
  readonly failedRun: string;
  /** By file, with a result. */
  readonly fileRun: string;
  /** The one of the guest who checks in next. */
  readonly nearestCase: number;
  readonly providerName: string;
  readonly providerHotelId: string;
  /** Of a booking of that case. */
  readonly reference: string;
}

interface ListedRun {
  readonly runId: string;
  readonly day: string;
  readonly delivery: string;
  readonly state: string;
}

interface ListedCase {
  readonly id: number;
  readonly providerName: string;
  readonly providerHotelId: string;
}

interface CaseWithBookings {
  readonly bookingList: readonly { readonly reference: string | null }[];
}

export async function findSamples({ commands, dayOf }: DeskMonth): Promise<Samples> {
  const { runs } = await commands.ask<{ runs: readonly ListedRun[] }>(['status']);
  const { cases } = await commands.ask<{ cases: readonly ListedCase[] }>(['cases']);
  const nearest = required(cases[0]);
  const { bookingList } = await commands.ask<CaseWithBookings>(['case', String(nearest.id)]);
  const failed = runs.find(({ day, state }) => day === dayOf('failed') && state === 'failed');
  const byFile = runs.find(({ delivery, state }) => delivery === 'file' && state === 'succeeded');
  return {
    failedDay: dayOf('failed'),
    failedRun: required(failed).runId,
    fileRun: required(byFile).runId,
    nearestCase: nearest.id,
    providerName: nearest.providerName,
    providerHotelId: nearest.providerHotelId,
    reference: required(bookingList[0]?.reference),
  };
}

function required<Value>(value: Value | null | undefined): Value {
  if (value === undefined || value === null) throw new Error('the month lacks what pages are to show');
  return value;
}
