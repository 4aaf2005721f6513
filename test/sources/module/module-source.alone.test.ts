import { describe, expect, it } from 'vitest';
import { describeModuleFailure } from '../../../src/sources/module/load-module.js';
import { day, expectFault, never } from '../reading.js';
import { openModuleSource, readModule, writeModule } from './module-folder.js';

describe('a bookings module', () => {
  it('receives the day with its bounds, the options, and a log', async () => {
    const said: string[] = [];
    const { records } = await readModule(
      `export async function* bookings(day, { signal, log, options }) {
        log.info('asked for ' + day.iso);
        log.warn(String(signal.aborted));
        yield { ServiceId: 1, BookingReferenceId: day.zone, ProviderName: day.start.toISOString(),
          ProviderHotelId: day.end.toISOString(), BookingClientName: options.desk.name };
      }`,
      {
        options: { desk: { name: 'night' } },
        log: { info: (text) => said.push(text), warn: (text) => said.push(text) },
      },
    );
    expect(records).toEqual([
      {
        place: 1,
        fields: {
          ServiceId: 1,
          BookingReferenceId: 'Europe/Madrid',
          ProviderName: '2026-11-19T23:00:00.000Z',
          ProviderHotelId: '2026-11-20T23:00:00.000Z',
          BookingClientName: 'night',
        },
      },
    ]);
    expect(said).toEqual(['asked for 2026-11-20', 'false']);
  });

  it('yields single records or lists of any objects; anything else is a reject in its place', async () => {
    const { records } = await readModule(`
      class Row { get ServiceId() { return 12345678901234567890n; } }
      export async function* bookings() {
        yield { ServiceId: '007' };
        yield [];
        yield [new Row(), null, { ServiceId: 4 }];
        yield 'no record';
        yield { ServiceId: 6, BookingClientName: 'x'.repeat(1_000_001) };
      }`);
    expect(records).toEqual([
      { place: 1, fields: { ServiceId: '007' } },
      { place: 2, fields: { ServiceId: '12345678901234567890' } },
      { place: 3, unreadable: 'not-an-object' },
      { place: 4, fields: { ServiceId: 4 } },
      { place: 5, unreadable: 'not-an-object' },
      { place: 6, unreadable: 'record-too-long' },
    ]);
  });

  it('is only asked for as many records as needed', async () => {
    const asked: string[] = [];
    const path = writeModule(`export async function* bookings(day, { log }) {
      for (let id = 1; ; id += 1) {
        log.info(String(id));
        yield { ServiceId: id };
      }
    }`);
    const log = { info: (text: string) => asked.push(text), warn() {} };
    for await (const { records } of openModuleSource(path, { log }).read(day, {
      signal: never(),
      atMost: 5,
    })) {
      expect(records).toHaveLength(5);
      if (asked.length > 5) break;
    }
    expect(asked).toHaveLength(10);
  });

  it('has its columns mapped, including nested objects', async () => {
    const { records } = await readModule(
      `export async function* bookings() {
        yield { hotel: { id: 5 }, 'guest.name': 'exact', guest: { name: 'nested' }, ProviderName: null };
      }`,
      { columns: { ServiceId: 'hotel.id', BookingClientName: 'guest.name' } },
    );
    expect(records).toEqual([
      { place: 1, fields: { ServiceId: 5, BookingClientName: 'exact', ProviderName: null } },
    ]);
  });

  it('is read in chunks of at most a thousand', async () => {
    const { chunks } = await readModule(`export async function* bookings() {
      yield Array.from({ length: 2_300 }, (_, index) => ({ ServiceId: index + 1 }));
      yield { ServiceId: 1 };
    }`);
    expect(chunks.map(({ records }) => records.length)).toEqual([1_000, 1_000, 301]);
  });

  it('is watched for the end of the process and for unhandled rejections only while a day is read', async () => {
    const watchers = () =>
      (['exit', 'beforeExit', 'unhandledRejection'] as const).map((event) => process.listenerCount(event));
    const before = watchers();
    await readModule('export function* bookings() { yield { ServiceId: 1 }; }');
    expect(watchers(), 'after a whole day').toEqual(before);
    const failing = 'export function* bookings() { yield { ServiceId: 1 }; throw new Error("Canary"); }';
    await expectFault(readModule(failing), 'unreadable', /Error at bookings/);
    expect(watchers(), 'after one that failed').toEqual(before);
    const endless = writeModule('export function* bookings() { for (;;) yield { ServiceId: 1 }; }');
    for await (const _ of openModuleSource(endless).read(day, { signal: never() })) {
      expect(watchers(), 'meanwhile').toEqual(before.map((count) => count + 1));
      break;
    }
    expect(watchers(), 'after one that was left early').toEqual(before);
  });

  it('may be CommonJS, a synchronous generator, or TypeScript', async () => {
    const code = 'exports.bookings = function* () { yield { ServiceId: 1 }; };';
    expect((await readModule(code, {}, 'bookings.cjs')).records).toHaveLength(1);
    const typed = 'export function* bookings(day: { iso: string }) { yield { ServiceId: day.iso }; }';
    const { records } = await readModule(typed, {}, 'bookings.ts');
    expect(records).toEqual([{ place: 1, fields: { ServiceId: '2026-11-20' } }]);
  });
});

describe('a bookings module that fails', () => {
  const failing = `
    export async function* bookings() {
      yield { ServiceId: 1 };
      readGuest();
    }
    function readGuest() {
      throw Object.assign(new TypeError('Ann Guest-Canary has no hotel\\n    at /invented/by/the/message.js:1:1'), { code: 'E_GUEST' });
    }`;

  it('is reported with class, code, place and its own stack, but without its message', async () => {
    const path = writeModule(failing);
    const thrown: unknown[] = [];
    const source = openModuleSource(path, { onFailure: (error) => thrown.push(error) });
    const reading = source.read(day, { signal: never() })[Symbol.asyncIterator]();
    const failure = await expectFault(
      reading.next(),
      'unreadable',
      new RegExp(
        `^${path} failed while it read 2026-11-20: TypeError E_GUEST at readGuest \\(.*bookings\\.mjs:7:\\d+\\)$`,
      ),
      ['invented'],
    );
    expect(failure.stack).toContain('at readGuest');
    expect(failure.stack).toContain('bookings (');
    expect(thrown).toEqual([expect.objectContaining({ code: 'E_GUEST' })]);
  });

  it.each([
    [
      'that throws before its first record',
      'export function bookings() { throw new Error("Canary"); }',
      /Error at bookings/,
    ],
    [
      'whose record throws',
      'export async function* bookings() { yield { get ServiceId() { throw new RangeError("Canary"); } }; }',
      /RangeError at Object\.get ServiceId/,
    ],
    [
      'whose error is called like a guest',
      'export function bookings() { throw Object.assign(new Error(), { name: "Canary\\n", code: "Ann Canary" }); }',
      /Error at bookings/,
    ],
    [
      'without the star',
      'export async function bookings() { return []; }',
      /returns nothing to iterate over/,
    ],
    ['without the function', 'export const booking = 1;', /exports no function bookings/],
    ['that throws at once', 'throw new Error("Canary");', /can't be loaded: Error at /],
  ])('one %s', async (_, code, words) => {
    await expectFault(readModule(code), 'unreadable', words);
  });
});

describe('what a bookings module threw', () => {
  const cause = new RangeError('Ann Guest-Canary again');
  const error = Object.assign(new TypeError('Ann Guest-Canary\n    at her desk', { cause }), {
    code: 'E_GUEST',
  });
  const path = '/srv/bookings.mjs';

  it('is shown with its own stack, and without its message', () => {
    const shown = describeModuleFailure(error, { path, showsMessage: false });
    expect(shown).toMatch(
      /^\/srv\/bookings\.mjs threw TypeError E_GUEST \(--stack-trace shows its message\)\n {4}at /,
    );
    expect(shown).toContain('module-source.alone.test.ts');
    expect(shown).not.toMatch(/Canary|desk/);
  });

  it('is shown in full, with its causes, on request', () => {
    const shown = describeModuleFailure(error, { path, showsMessage: true });
    expect(shown).toContain('threw TypeError E_GUEST: Ann Guest-Canary\n    at her desk\n');
    expect(shown).toContain('\n  caused by RangeError: Ann Guest-Canary again\n');
  });

  it('may have a circular cause', () => {
    const circle = new Error('round');
    circle.cause = circle;
    expect(describeModuleFailure(circle, { path, showsMessage: true }).match(/caused by/g)).toHaveLength(5);
  });
});
