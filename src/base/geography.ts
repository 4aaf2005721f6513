import { tzOffset } from '@date-fns/tz';

export type TimeZones = Awaited<ReturnType<typeof loadTimeZones>>;

/**
 * Loads the map of time zones, 73 KB. It is rough: within a few kilometres of a border, it may return the neighbour's zone.
 */
export async function loadTimeZones() {
  const { default: lookUp } = await import('@photostructure/tz-lookup');
  return {
    /** The IANA name of the zone there; undefined where this machine doesn't know it. */
    zoneAt({ latitude, longitude }: Coordinates): string | undefined {
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

/** A place on earth, in degrees. */
export interface Coordinates {
  readonly latitude: number;
  readonly longitude: number;
}

/** The earth's mean radius: treating the earth as a sphere makes no distance wrong by more than 0.6 %. */
const earthRadiusKm = 6371.0088;
const radiansPerDegree = Math.PI / 180;

/** The distance as the crow flies, in kilometres. (Haversine formula.) */
export function measureKm(from: Coordinates, to: Coordinates): number {
  const halfChord = (degrees: number) => Math.sin((degrees * radiansPerDegree) / 2) ** 2;
  const squeeze = Math.cos(from.latitude * radiansPerDegree) * Math.cos(to.latitude * radiansPerDegree);
  const share = halfChord(to.latitude - from.latitude) + squeeze * halfChord(to.longitude - from.longitude);
  // For antipodes, rounding may push the share above 1.
  return 2 * earthRadiusKm * Math.asin(Math.sqrt(Math.min(1, share)));
}
