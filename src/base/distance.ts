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
