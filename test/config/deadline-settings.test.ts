import { describe, expect, it } from 'vitest';
import { complain, complainOfText, parse, parseText, writeSettings } from './writing.js';

const forms = 'expected a time of day such as "06:00", or none';

describe('A deadline', () => {
  it('is a time of day, quoted or not', () => {
    expect(parse({}).deadline).toBeUndefined();
    expect(parse({ deadline: '06:00' }).deadline).toBe('06:00');
    expect(parseText(`${writeSettings()}deadline: 06:00\n`).deadline).toBe('06:00');
  });

  it('may differ by date', () => {
    const written = 'deadline: { at: 06:00, exceptions: { 2026-12-25: none, 2026-12-26: "09:00" } }\n';
    expect(parseText(writeSettings() + written).deadline).toEqual({
      at: '06:00',
      exceptions: { '2026-12-25': 'none', '2026-12-26': '09:00' },
    });
    expect(parse({ deadline: { at: 'none' } }).deadline).toEqual({ at: 'none', exceptions: {} });
  });

  it.each([
    ['6:00', `deadline: ${forms}, got: 6:00`],
    [600, 'deadline: expected a time of day such as "06:00", or a group with at, got: 600'],
    [{}, `deadline.at: ${forms}, got: nothing`],
    [{ at: '24:00' }, `deadline.at: ${forms}, got: 24:00`],
    [{ at: '06:00', exception: {} }, 'deadline.exception: unknown setting; did you mean exceptions?'],
    [
      { at: '06:00', exceptions: { '2026-02-30': 'none' } },
      'deadline.exceptions.2026-02-30: expected a day such as "2026-12-25", got: "2026-02-30"',
    ],
    [
      { at: '06:00', exceptions: { '2026-12-25': null } },
      `deadline.exceptions.2026-12-25: ${forms}, got: null`,
    ],
    [
      { at: '06:00', exceptions: ['2026-12-25'] },
      'deadline.exceptions: expected a group of days, such as "2026-12-25": none, got: a list',
    ],
  ])('is not %j', (deadline, complaint) => {
    expect(complain({ deadline })).toEqual([complaint]);
  });

  it('reports all mistakes of its group at once', () => {
    expect(
      complainOfText(`${writeSettings()}deadline: { at: soon, fridays: 7, exceptions: { today: none } }\n`),
    ).toHaveLength(3);
  });
});
