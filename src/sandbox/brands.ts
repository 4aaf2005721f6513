import { createSeededRandom } from './seeded-random.js';

/** A master hotel brand, as the service names its fields. (Spec 2.4.) */
export interface Brand {
  readonly Id: number;
  readonly BrandCode: string;
  readonly BrandName: string;
  readonly ChainId: number;
}

/** What a hotel belongs to. */
export interface BrandOfChain extends Brand {
  readonly chainName: string;
}

const chains = 24;
const mostBrands = 6;
const firstChainId = 40;
const firstBrandId = 700;

const chainNames = [
  'Aurora',
  'Belvedere',
  'Cervantes',
  'Dragonfly',
  'Élan',
  'Fjord',
  'Granada',
  'Höhe',
] as const;
const chainKinds = ['Hotels', 'Group', 'Hospitality'] as const;
const brandKinds = ['Grand', 'Select', 'Express', 'Résidences', '& Spa', 'City'] as const;

/** Makes up the brands of a world: chains of one to six brands each. They stay as they are. */
export function createBrands(seed: number): readonly BrandOfChain[] {
  const random = createSeededRandom(seed ^ 0x6b72);
  return Array.from({ length: chains }, (_, chain) => {
    const name = chainNames[chain % chainNames.length] as string;
    const kind = chainKinds[Math.floor(chain / chainNames.length)] as string;
    const ChainId = firstChainId + chain * 3 + Math.floor(random() * 3);
    const brands = 1 + Math.floor(random() * mostBrands);
    return brandKinds.slice(0, brands).map((brandKind, place) => ({
      Id: firstBrandId + chain * 10 + place,
      BrandCode: `${codeOf(name)}${chain + 1}${String.fromCharCode(65 + place)}`,
      BrandName: `${name} ${kind} ${brandKind}`,
      ChainId,
      chainName: `${name} ${kind}`,
    }));
  }).flat();
}

function codeOf(name: string): string {
  return name
    .normalize('NFD')
    .replaceAll(/\P{ASCII}/gu, '')
    .slice(0, 2)
    .toUpperCase();
}
