import type { World } from '../world.js';
import type { MappingLog } from './mapping-log.js';

/** The mappings that every world begins with were last changed at instants that are spread over the year before this one. */
export const worldBeginning = Date.UTC(2026, 0, 1);
const yearMs = 365 * 86_400_000;
/** The mappings in between are older: they were updated since they came to be. */
const olderByMs = 100 * 86_400_000;

/** Enters the mappings that a world begins with, in another order than that of its hotels. */
export function enterFirstVersions(log: MappingLog, { mappings }: World): void {
  const count = mappings.length;
  const step = strideThrough(count);
  for (let place = 0; place < count; place += 1) {
    const mapping = mappings[(place * step) % count];
    if (!mapping) continue;
    const changedAt = worldBeginning - yearMs + Math.floor((yearMs * place) / count);
    const createdAt = place % 2 === 0 ? changedAt : changedAt - olderByMs;
    log.add(mapping, { createdAt, changedAt });
  }
}

/** A step of about five eighths that comes by every place of a circle once: it has no divisor in common with its length. */
function strideThrough(count: number): number {
  let step = Math.max(1, Math.floor(count * 0.618));
  while (greatestDivisor(step, count) > 1) step += 1;
  return step;
}

function greatestDivisor(one: number, other: number): number {
  return other === 0 ? one : greatestDivisor(other, one % other);
}
