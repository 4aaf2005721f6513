import { placeOf } from './places.js';
import type { Hotel, Mapping } from './world.js';

const channels = ['Retail', 'Package', 'Mobile', 'Members'] as const;
const ratePlans = ['Refundable', 'NonRefundable', 'Negotiated'] as const;
const combinations = channels.flatMap((channel) => ratePlans.map((ratePlan) => `${channel},${ratePlan}`));
/** Coprime to the number of combinations, so that consecutive ones always differ. */
const combinationStep = 5;
const maxChannels = 3;
const zones = 9;

/** One to three elements, each a channel and a rate plan type joined by a comma. (Spec 2.2.) */
export function channelIdsOf({ number, channelsEdition }: Mapping): string[] {
  const count = 1 + (number % maxChannels);
  return Array.from({ length: count }, (_, index) => {
    const place = number + channelsEdition + index * combinationStep;
    return combinations[place % combinations.length] as string;
  });
}

/** The provider's destination code, such as `MAD-7`. (Spec 2.2.) */
export function locationCodeOf({ number, locationEdition }: Mapping, hotel: Hotel): string {
  const [airport] = placeOf(hotel.city).airports;
  return `${airport}-${1 + ((number + locationEdition) % zones)}`;
}
