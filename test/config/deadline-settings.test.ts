import { describe, expect, it } from 'vitest';
import { complain, complainOfText, parse, parseText, writeSettings } from './writing.js';

const forms = 'expected a time of day such as "06:00", or none';

describe('A deadline', () => {
  it('is a time of day, quoted or not', () => {
    expect(parse({}).deadline).toBeUndefined();
    expect(parse({ deadline: '06:00' }).deadline).toBe('06:00');
    expect(parseText(`${writeSettings()}deadline: 06:00\n`).deadline).toBe('06:00');
  });

  it('may differ by weekday and by date', () => {
    const written =
      'deadline: { default: "06:00", sunday: "09:00", monday: none, exceptions: { 2026-12-25: none } }\n';
    expect(parseText(writeSettings() + written).deadline).toEqual({
      default: '06:00',
      sunday: '09:00',
      monday: 'none',
      exceptions: { '2026-12-25': 'none' },
    });
    expect(parse({ deadline: { default: 'none' } }).deadline).toEqual({ default: 'none', exceptions: {} });
  });

  it.each([
    ['6:00', `deadline: ${forms}, got: 6:00`],
    [600, 'deadline: expected a time of day such as "06:00", or a group with default, got: 600'],
    [{}, `deadline.default: ${forms}, got: nothing`],
    [{ default: '24:00' }, `deadline.default: ${forms}, got: 24:00`],
    [{ default: '06:00', sundy: '09:00' }, 'deadline.sundy: unknown setting; did you mean sunday?'],
    [{ default: '06:00', sunday: 'never' }, `deadline.sunday: ${forms}, got: never`],
    [
      { default: '06:00', exceptions: { '2026-02-30': 'none' } },
      'deadline.exceptions.2026-02-30: expected a day such as "2026-12-25", got: "2026-02-30"',
    ],
    [
      { default: '06:00', exceptions: { '2026-12-25': null } },
      `deadline.exceptions.2026-12-25: ${forms}, got: null`,
    ],
    [
      { default: '06:00', exceptions: ['2026-12-25'] },
      'deadline.exceptions: expected a group of days, such as "2026-12-25": none, got: a list',
    ],
  ])('is not %j', (deadline, complaint) => {
    expect(complain({ deadline })).toEqual([complaint]);
  });

  it('reports all mistakes of its group at once', () => {
    expect(
      complainOfText(
        `${writeSettings()}deadline: { default: soon, friday: 7, exceptions: { today: none } }\n`,
      ),
    ).toHaveLength(3);
  });
});
