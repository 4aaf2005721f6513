import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createModuleSource } from '../../../src/sources/module/module-source.js';
import { describeSourceContract, type IntendedRecord, type SourceDriver } from '../../contracts/source.js';

/** The state that the module and its driver share. */
interface Shelf {
  readonly days: Map<string, readonly IntendedRecord[]>;
  given: number;
  open: number;
  breaksBehind: number;
}

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

let drivers = 0;

function createModuleDriver(): SourceDriver {
  const shelf: Shelf = { days: new Map(), given: 0, open: 0, breaksBehind: Number.POSITIVE_INFINITY };
  drivers += 1;
  const name = `shelf-${drivers}`;
  Object.assign(globalThis, { [name]: shelf });
  let root = '';

  async function open() {
    root = await realpath(await mkdtemp(join(tmpdir(), 'module-contract-')));
    const path = join(root, 'bookings.mjs');
    await writeFile(path, code);
    return createModuleSource({ path, options: { shelf: name, secret }, log: { info() {}, warn() {} } });
  }
  return {
    async prepare(records, { iso }) {
      shelf.days.set(iso, records);
      return {
        source: await open(),
        places: records.map((_, index) => index + 1),
        taken: () => shelf.given / records.length,
        held: () => shelf.open,
        secrets: [secret],
      };
    },
    prepareBroken(records, day) {
      shelf.breaksBehind = records.length / 2;
      return this.prepare(records, day);
    },
    async prepareDays(days) {
      for (const { day, records } of days) shelf.days.set(day.iso, records);
      return { source: await open() };
    },
    async dispose() {
      Reflect.deleteProperty(globalThis, name);
      await rm(root, { recursive: true, force: true });
    },
  };
}

describeSourceContract('a module', createModuleDriver);
