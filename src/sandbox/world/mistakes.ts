import type { Mapping } from './world.js';

type ProviderHotel = Pick<Mapping, 'providerName' | 'providerHotelId'>;

/** The provider hotels whose stated mapping is wrong, with what they really are. */
export interface Mistakes {
  readonly count: number;
  /** The master hotel that a provider's hotel really is; undefined where its stated mapping is right. */
  find(hotel: ProviderHotel): number | undefined;
  draw(random: () => number): Mapping | undefined;
  /** From now on the stated mapping of this provider hotel is right. */
  end(hotel: ProviderHotel): void;
  /** From now on, whatever was the one master hotel is the other. */
  merge(from: number, to: number): void;
}

/** @param statedAs which master hotel the service states for a provider's hotel now */
export function createMistakes(
  corrections: readonly Mapping[],
  statedAs: (hotel: ProviderHotel) => number | undefined,
): Mistakes {
  const mistakes = new Map(corrections.map((mapping) => [keyOf(mapping), mapping]));
  return {
    get count() {
      return mistakes.size;
    },
    find: (hotel) => mistakes.get(keyOf(hotel))?.serviceId,
    draw: (random) => [...mistakes.values()][Math.floor(random() * mistakes.size)],
    end: (hotel) => void mistakes.delete(keyOf(hotel)),
    merge(from, to) {
      for (const [key, mapping] of mistakes) {
        const serviceId = mapping.serviceId === from ? to : mapping.serviceId;
        if (statedAs(mapping) === serviceId) mistakes.delete(key);
        else mistakes.set(key, { ...mapping, serviceId });
      }
    },
  };
}

function keyOf({ providerName, providerHotelId }: ProviderHotel): string {
  return `${providerName}\n${providerHotelId}`;
}
