import type { BusinessDay } from '../../booking/business-day.js';
import type { Normalise } from '../../booking/normalise.js';
import type { BookingForms } from '../delivery.js';
import type { TakeRoom } from '../lines/line-buffer.js';
import type { BookingSource } from '../source.js';
import { createRendering, type RenderedChunk } from './rendering.js';

/** Reads a day as the lines that are to be kept: source, normaliser and the delivery's forms in one. */
export interface DayReader extends Pick<BookingSource, 'locate' | 'placeUnit'> {
  /** @throws SourceError; the signal's reason when stopped */
  read(
    day: BusinessDay,
    forms: BookingForms,
    options: { readonly signal: AbortSignal },
  ): AsyncIterable<RenderedChunk>;
}

/** Reads in this thread. */
export function createDayReader({
  source,
  normalise,
  takeRoom,
}: {
  readonly source: BookingSource;
  readonly normalise: Normalise;
  /** Where lines are rendered; in new memory if not given. */
  readonly takeRoom?: TakeRoom;
}): DayReader {
  return {
    locate: (day) => source.locate(day),
    placeUnit: source.placeUnit,
    async *read(day, forms, options) {
      const render = createRendering(normalise, forms, takeRoom);
      for await (const chunk of source.read(day, options)) yield render(chunk);
    },
  };
}
