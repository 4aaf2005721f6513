import { bookingsHeader } from '../made-bookings.js';
import type { HurtfulRecord } from './hurtful-day.js';

/** A file of a day, and the places of its records as reported: index counted from 0, lines counted from 1. */
export interface WrittenDay {
  readonly text: string;
  readonly lines: readonly number[];
}

/** Cells are quoted where needed, and in every seventh record; some ids have leading zeros. */
export function writeCsv(records: readonly HurtfulRecord[]): WrittenDay {
  const lines: number[] = [];
  let text = `${bookingsHeader}\r\n`;
  let line = 2;
  records.forEach((record, index) => {
    lines.push(line);
    const written = record.serviceId?.toString();
    const id = index % 5 === 0 && !written?.startsWith('-') ? written?.padStart(17, '0') : written;
    const [, ...others] = valuesOf(record);
    const cells = [id, ...others].map((cell) => writeCell(cell?.toString() ?? '', index % 7 === 0));
    const row = `${cells.join(',')}${index % 2 === 0 ? '\r\n' : '\n'}`;
    text += row;
    line += row.split('\n').length - 1;
  });
  return { text, lines };
}

/** One JSON object per line. */
export function writeNdjson(records: readonly HurtfulRecord[]): WrittenDay {
  return {
    text: records.map((record, index) => `${writeJson(record, index)}\n`).join(''),
    lines: records.map((_, index) => index + 1),
  };
}

/**
 * One JSON object. The master id is a number with all its digits, sometimes text; nothing is null or absent;
 * characters beyond ASCII are sometimes escaped.
 */
export function writeJson(record: HurtfulRecord, index: number): string {
  const members = fieldNames.flatMap((name, at) => {
    const value = valuesOf(record)[at];
    if (value === undefined) return (index + at) % 2 === 0 ? [`"${name}":null`] : [];
    const isNumber = name === 'ServiceId' && index % 5 !== 0;
    return [`"${name}": ${isNumber ? value : JSON.stringify(String(value))}`];
  });
  const json = `{${members.join(',')}}`;
  return index % 3 === 0 ? escapeAll(json) : json;
}

export const fieldNames = bookingsHeader.split(',');

/** In the order of the names. */
export function valuesOf({ serviceId, reference, name, provider, hotel, checkIn, checkOut }: HurtfulRecord) {
  return [serviceId, reference, name, provider, hotel, checkIn, checkOut] as const;
}

function writeCell(text: string, isQuoted: boolean): string {
  return isQuoted || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function escapeAll(json: string): string {
  return json.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
