import type { HotelReviewEvent } from '../events/events.js';
import type { Spans } from './spans.js';

/** Describes syncs and watches on the span of the work that reports them. */
export function describeWork(spans: Spans, event: HotelReviewEvent): void {
  switch (event.type) {
    case 'sync-begun':
      spans.current()?.setAttributes({
        'hotel_review.sync.id': event.sync.syncId,
        'hotel_review.sync.resumed': event.isResumed,
      });
      return;
    case 'page-stored':
      spans.current()?.setAttributes(prefix('sync', event.sync.counts));
      return;
    case 'mappings-watched': {
      const { type: _, ...counts } = event;
      spans.current()?.setAttributes(prefix('watch', counts));
      return;
    }
    default:
      return;
  }
}

function prefix(work: 'sync' | 'watch', counts: object): Record<string, number> {
  return Object.fromEntries(
    Object.entries(counts).map(([name, count]) => [`hotel_review.${work}.${toSnakeCase(name)}`, count]),
  );
}

function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
