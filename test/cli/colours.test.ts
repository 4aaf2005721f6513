import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createPalette, paintState } from '../../src/cli/colours.js';
import { renderStatus } from '../../src/cli/status.js';
import { renderTable } from '../../src/text/tables.js';
import { someRun } from '../review/some-run.js';
import { command } from './plain-command.js';

const terminal = Object.assign(new PassThrough(), { isTTY: true });
const mark = '1234;5678';
const { paint, show } = createPalette({ stream: terminal, env: {}, mark });
const green = '\u001B[32;1234;5678m';

describe('colours', () => {
  it.each([
    ['a file', { stream: new PassThrough(), env: {} }],
    ['NO_COLOR', { stream: terminal, env: { NO_COLOR: '1' } }],
    ['a dumb terminal', { stream: terminal, env: { TERM: 'dumb' } }],
  ])('are left out for %s', (_what, options) => {
    const palette = createPalette({ ...options, mark });
    expect(palette.show(palette.paint('red', 'failed'))).toBe('failed');
  });

  it('are used on a terminal, even if NO_COLOR is empty', () => {
    expect(show(paint('red', 'failed'))).toBe('\u001B[31mfailed\u001B[39m');
    const { paint: used } = createPalette({ stream: terminal, env: { NO_COLOR: '' }, mark });
    expect(used('red', 'failed')).toContain('\u001B');
  });

  it('are not taken from untrusted text, which does not know the mark', () => {
    const forged = `\u001B[32mfine\u001B[32;1111;2222m`;
    expect(show(forged + paint('red', 'failed'))).toBe(
      '\\u001b[32mfine\\u001b[32;1111;2222m\u001B[31mfailed\u001B[39m',
    );
    expect(show(renderTable([[forged]]))).toBe('  \\u001b[32mfine\\u001b[32;1111;2222m');
  });

  it('are green only for a run whose verdicts are all known', () => {
    const isGreen = (counts: NonNullable<Parameters<typeof someRun>[0]>['counts'] = {}) =>
      paintState(paint, someRun({ counts }), 'succeeded').startsWith(green);
    expect(isGreen()).toBe(true);
    expect(isGreen({ affected: null, unanswered: null })).toBe(false);
    expect(isGreen({ unanswered: 1 })).toBe(false);
    expect(isGreen({ posted: 1 })).toBe(false);
    expect(paintState(paint, someRun({ state: 'failed' }), 'failed')).not.toContain(green);
  });

  it('do not shift the columns of a table', () => {
    const days = [{ day: '2026-11-20', runs: [someRun(), someRun({ state: 'failed' })] }];
    const style = { command, timezone: 'UTC' };
    const coloured = renderStatus(days, { ...style, paint });
    expect(coloured).toContain(green);
    expect(stripVTControlCharacters(coloured)).toBe(renderStatus(days, style));
  });
});
