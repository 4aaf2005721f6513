import { tzOffset } from '@date-fns/tz';
import type { Coordinates } from './distance.js';

export interface TimeZones {
  /** The IANA name of the zone there; undefined where this machine doesn't know it. */
  zoneAt(place: Coordinates): string | undefined;
}

/**
 * Loads the map of time zones, 73 KB. It is rough: within a few kilometres of a border, it may return the neighbour's zone.
 */
export async function loadTimeZones(): Promise<TimeZones> {
  const { default: lookUp } = await import('@photostructure/tz-lookup');
  return {
    zoneAt({ latitude, longitude }) {
      const zone = lookUp(latitude, longitude);
      return isTimeZone(zone) ? zone : undefined;
    },
  };
}

/** What clocks in the zone show at an instant: 2026-11-21T03:30 */
export function readLocalTime(instant: number, zone: string): string {
  const shown = instant + tzOffset(zone, new Date(instant)) * 60_000;
  return new Date(shown).toISOString().slice(0, '2026-11-21T03:30'.length);
}

/** Validating a zone takes longer than everything else here. */
const knownZones = new Set(['UTC']);

/** True for a time zone known to this machine. */
export function isTimeZone(zone: string): boolean {
  if (knownZones.has(zone)) return true;
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    knownZones.add(zone);
    return true;
  } catch {
    return false;
  }
}
