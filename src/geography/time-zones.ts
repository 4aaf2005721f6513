import { isTimeZone } from '../booking/business-day.js';
import type { Coordinates } from './distance.js';

export interface TimeZones {
  /** The IANA name of the zone there; undefined where this machine doesn't know it. */
  zoneAt(place: Coordinates): string | undefined;
}

/**
 * Loads the map of the time zones, 73 KB. It is a rough one: within some kilometres of a border, it may return the
 * neighbour's zone.
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
