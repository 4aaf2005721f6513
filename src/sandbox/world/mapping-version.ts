import { placeOf } from './places.js';
import type { Hotel, Mapping } from './world.js';

/**
 * A mapping of one provider's hotel to one master hotel, as one change left it; the next change of the mapping makes another
 * version. Instants are epoch milliseconds.
 */
export interface MappingVersion extends Mapping {
  /** Its place in the order of all changes, from 0. */
  readonly sequence: number;
  /** Which mapping it is of, from 0. */
  readonly number: number;
  /** When the mapping came to be, or came back. */
  readonly createdAt: number;
  readonly changedAt: number;
  readonly isDeleted: boolean;
  /** How often its channels have changed. */
  readonly channelsEdition: number;
  /** How often its location has changed. */
  readonly locationEdition: number;
}

const channels = ['Retail', 'Package', 'Mobile', 'Members'] as const;
const ratePlans = ['Refundable', 'NonRefundable', 'Negotiated'] as const;
const combinations = channels.flatMap((channel) => ratePlans.map((ratePlan) => `${channel},${ratePlan}`));
/** Has no divisor in common with their number, so that the next ones are always others. */
const combinationStep = 5;
const mostChannels = 3;
const zones = 9;

/** One to three elements, each a channel and a rate plan type, separated by a comma. (Spec 2.2.) */
export function channelIdsOf({ number, channelsEdition }: MappingVersion): string[] {
  const count = 1 + (number % mostChannels);
  return Array.from({ length: count }, (_, index) => {
    const place = number + channelsEdition + index * combinationStep;
    return combinations[place % combinations.length] as string;
  });
}

/** The provider's destination code: where it takes the hotel to be, such as `MAD-7`. (Spec 2.2.) */
export function locationCodeOf({ number, locationEdition }: MappingVersion, hotel: Hotel): string {
  const [airport] = placeOf(hotel.city).airports;
  return `${airport}-${1 + ((number + locationEdition) % zones)}`;
}
