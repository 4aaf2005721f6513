import { onTestFinished } from 'vitest';
import { describeSourceContract } from '../../contracts/source.js';
import { openModuleSource, writeModule } from './module-folder.js';

const secret = 'secret-of-the-options';

const code = `
export async function* bookings(day, { signal, options }) {
  const shelf = globalThis[options.shelf];
  if (!(day.start < day.end) || day.zone !== 'Europe/Madrid') throw new Error('that is no day');
  const records = shelf.days.get(day.iso) ?? [];
  shelf.open += 1;
  try {
    for (let at = 0; at < records.length; at += 1) {
      // As slow as a network, so that the read can be aborted in the middle.
      if (at % 4_000 === 0) await new Promise(setImmediate);
      signal.throwIfAborted();
      if (at >= shelf.breaksBehind) throw new Error('no bookings for Ann Guest-Canary; ' + options.secret);
      shelf.given += 1;
      yield records[at];
    }
  } finally {
    shelf.open -= 1;
  }
}
`;

let shelves = 0;

describeSourceContract('a module', async (days, breaks = false) => {
  const first = days[0]?.records ?? [];
  const shelf = {
    days: new Map(days.map(({ day, records }) => [day.iso, records])),
    ...{ given: 0, open: 0 },
    breaksBehind: breaks ? first.length / 2 : Number.POSITIVE_INFINITY,
  };
  shelves += 1;
  const name = `shelf-${shelves}`;
  Object.assign(globalThis, { [name]: shelf });
  onTestFinished(() => void Reflect.deleteProperty(globalThis, name));
  return {
    source: openModuleSource(writeModule(code), { options: { shelf: name, secret } }),
    places: first.map((_, index) => index + 1),
    taken: () => shelf.given / first.length,
    held: () => shelf.open,
    secrets: [secret],
  };
});
