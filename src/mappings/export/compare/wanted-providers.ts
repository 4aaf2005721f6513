import type { MappingCopy } from '../../mapping-copy.js';

/** Of which providers mappings are compared. */
export interface WantedProviders {
  has(providerName: string): boolean;
  /** Their names as the copy writes them; undefined for all of them. */
  readonly inCopy: readonly string[] | undefined;
}

/**
 * The providers that a person named. The service may have taken their names in another case than it writes them.
 *
 * @param names all of them where it is empty
 */
export async function findWantedProviders(
  names: readonly string[],
  copy: Pick<MappingCopy, 'summarise'>,
): Promise<WantedProviders> {
  if (names.length === 0) return { has: () => true, inCopy: undefined };
  const wanted = new Set(names.map(fold));
  const has = (providerName: string) => wanted.has(fold(providerName));
  const { providers } = await copy.summarise();
  return { has, inCopy: providers.map(({ providerName }) => providerName).filter(has) };
}

function fold(name: string): string {
  return name.trim().toLowerCase();
}
