import { describe, expect, it } from 'vitest';
import {
  adviseOnUnconfirmed,
  describeUnconfirmed,
  findUnconfirmed,
  leaveOutCancelled,
  lookForUnconfirmed,
  readStatus,
} from '../../../src/checks/examination/unconfirmed.js';
import { writeYaml } from '../../../src/checks/examination/write-yaml.js';
import { parse } from '../../config/writing.js';

/** Records whose column has these values, each so many times. */
function recordsOf(column: string, counts: Readonly<Record<string, number>>) {
  return Object.entries(counts).flatMap(([value, count]) =>
    Array.from({ length: count }, () => new Map([[column, value]])),
  );
}

/** What is left out by that column; undefined if the column is not noticed. */
function find(column: string, counts: Readonly<Record<string, number>>) {
  return findUnconfirmed(recordsOf(column, counts), [column]);
}

const words = {
  cancelled: [
    ...['Cancelled', 'CANC', 'CXL', 'No-Show', 'cancelled by guest', 'reserva anulada por el cliente'],
    ...['Storniert durch Gast', 'Nicht erschienen', 'ANNULEE', 'annullata dal cliente', 'Não compareceu'],
  ],
  doubtful: [
    ...['Pending', 'ON_REQUEST', 'Not confirmed', 'pendiente de confirmación', 'Sin confirmar'],
    ...['unbestaetigt', 'auf Anfrage', 'À confirmer', "lista d'attesa", 'Não confirmada'],
  ],
  confirmed: ['Confirmed', 'OK', 'CONF', 'Confirmada', 'Bestätigt', 'bestaetigt', 'Confirmée'],
};

describe('a value', () => {
  it.each(Object.entries(words))('means %s in several languages', (status, values) => {
    for (const value of values) expect(readStatus(value), value).toBe(status);
  });

  it.each([
    'CANCUN',
    'Canada',
    'Free cancellation',
    'Cancellation until 18:00',
    'Cancelled by Maria Schulz',
    'please cancel if late',
    'Canaria Zwitscherfink',
    '',
  ])('%j means nothing known', (value) => expect(readStatus(value)).toBeUndefined());
});

describe('a column', () => {
  it('of few values is noticed with the counts of each, and with the filter for those that mean cancelled', () => {
    const found = find('Status', { CONF: 335, CANC: 60, PEND: 25 });
    expect(found).toEqual({
      columns: [
        {
          column: 'Status',
          records: 420,
          unconfirmed: 85,
          values: [
            { value: 'CONF', count: 335 },
            { value: 'CANC', count: 60 },
            { value: 'PEND', count: 25 },
          ],
          others: 0,
          where: { Status: { not: ['CANC', 'PEND'] } },
        },
      ],
      where: { Status: { not: ['CANC', 'PEND'] } },
    });
    if (found === undefined) return;
    expect(describeUnconfirmed(found)).toBe(
      '85 of the first 420 records look cancelled or not confirmed by the column "Status", which nothing uses: "CONF" 335, "CANC" 60, "PEND" 25',
    );
    expect(adviseOnUnconfirmed(found)).toContain('source.where: { Status: { not: [ CANC, PEND ] } }.');
  });

  it.each([
    [
      'is noticed in a few records',
      'estado',
      { Confirmada: 1, Anulada: 1, Pendiente: 1 },
      ['Anulada', 'Pendiente'],
    ],
    ['is noticed beside a rare value', 'st', { CONF: 300, CANC: 60, TRASPASO: 1 }, ['CANC']],
    ['is noticed whatever else it says', 'st', { R: 300, M: 50, Storniert: 70 }, ['Storniert']],
    ['is noticed by codes beside a confirmation', 'st', { CON: 9, CAN: 2, PEN: 1 }, ['CAN', 'PEN']],
    ['is noticed once for all spellings', 'st', { ok: 9, canc: 1, CANC: 1 }, ['canc']],
    ['is noticed by its name in another language', 'storniert', { N: 9, J: 2 }, ['J']],
  ])('%s', (_, column, counts, not) => {
    expect(find(column, counts)?.where).toEqual({ [column]: { not } });
  });

  it.each<[string, string, Record<string, number>]>([
    ['of countries', 'Country', { ES: 90, CAN: 40, USA: 30, NO: 5 }],
    ['of currencies', 'Currency', { EUR: 90, PEN: 40 }],
    ['of payments that are pending', 'Payment', { Paid: 90, Pending: 9 }],
    ['of conditions', 'Policy', { 'Free cancellation': 50, 'Non refundable': 40 }],
    ['of states that all are fine', 'Status', { Confirmed: 50, OK: 40 }],
    ['of free text', 'Remarks', { '': 40, cancelled: 1, 'late arrival': 1, 'sea view': 1, 'baby bed': 1 }],
    [
      'of too many values',
      'Note',
      { ...Object.fromEntries([...'abcdefghijkl'].map((one) => [one, 5])), canc: 9 },
    ],
    ['of guests on a small day', 'Traveller', { Ada: 1, Bob: 1, Cyd: 1, CANCELLED: 2 }],
    ['that is named like the guest', 'Lead guest', { 'Ada Lovelace': 7, CANCELLED: 2 }],
    ['without a name', '', { CONF: 7, CANC: 2 }],
  ])('%s is not noticed', (_, column, counts) => expect(find(column, counts)).toBeUndefined());

  it.each([
    ['a field', { columns: { ProviderName: 'STATUS' } }],
    ['source.where', { where: { status: ['CONF', 'CANC'] } }],
    ['source.keep', { keep: { Stand: 'status' } }],
  ])('is not noticed if %s names it, however it is spelled', (_, used) => {
    const sample = { columns: ['Status'], records: recordsOf('Status', { CONF: 7, CANC: 2 }) };
    const { source } = parse({ source: { kind: 'csv', path: '{day}.csv', ...used } });
    expect(lookForUnconfirmed(sample, source)).toBeUndefined();
    expect(lookForUnconfirmed(sample, parse({}).source)?.where).toEqual({ Status: { not: ['CANC'] } });
  });

  it('that is noticed adds its filter to what source.where says already', () => {
    const records = recordsOf('Status', { CONF: 7, CANC: 2 }).map((one) => one.set('Market', 'EU'));
    const where = { Market: ['EU'] };
    const { source } = parse({ source: { kind: 'csv', path: '{day}.csv', where } });
    const left = recordsOf('Status', { CANC: 5 }).map((one) => one.set('Market', 'US'));
    const sample = { columns: ['Status', 'Market'], records: [...records, ...left] };
    const found = lookForUnconfirmed(sample, source);
    // What it leaves out is not sent anyway.
    expect(found?.columns).toMatchObject([{ records: 9, unconfirmed: 2 }]);
    expect(found?.where).toEqual({ ...where, Status: { not: ['CANC'] } });
  });

  it('shows no value that could name somebody', () => {
    const names = { 'Ada Lovelace': 19, Zwitscherfink: 9, Ana: 2 };
    const found = find('Status', { Canceled: 8, XR: 17, '': 3, ...names, 'Cancelled by Ada': 2 });
    expect(JSON.stringify(found)).not.toMatch(/Ada|Zwitscherfink|Ana/);
    expect(found?.columns).toMatchObject([{ records: 60, unconfirmed: 8, others: 32 }]);
    expect(found && describeUnconfirmed(found)).toContain(': "XR" 17, "Canceled" 8, empty 3, others 32');
  });
});

it('the filter can be copied into a configuration', () => {
  expect(writeYaml({ 'is: cancelled': { not: ['true', 'no show'] } })).toBe(
    '{ "is: cancelled": { not: [ "true", no show ] } }',
  );
});

it('init leaves out what is cancelled for certain, and not what may still be confirmed', () => {
  const found = find('Status', { confirmed: 20, storniert: 2, pending: 3, CXL: 1 });
  expect(found?.where).toEqual({ Status: { not: ['pending', 'storniert', 'CXL'] } });
  expect(found && leaveOutCancelled(found)).toEqual({ Status: { not: ['storniert', 'CXL'] } });
  const flag = find('is_cancelled', { no: 20, yes: 2 });
  expect(flag && leaveOutCancelled(flag)).toEqual({ is_cancelled: { not: ['yes'] } });
  const pending = find('Status', { confirmed: 20, pending: 3 });
  expect(pending && leaveOutCancelled(pending)).toEqual({});
});
