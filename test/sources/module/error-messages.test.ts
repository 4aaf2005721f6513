import { describe, expect, it } from 'vitest';
import { describeModuleFailure } from '../../../src/sources/module/load-module.js';

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
    expect(shown).toContain('error-messages.test.ts');
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
