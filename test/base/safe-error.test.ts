import { expect, it } from 'vitest';
import { describeError, isSafeToShow, SafeError, StoppedError } from '../../src/base/safe-error.js';

it('shows the message of an error that extends SafeError', () => {
  expect(describeError(new SafeError('the disk is full'))).toBe('the disk is full');
  expect(describeError(new StoppedError('SIGINT'))).toBe('stopped by SIGINT');
});

it('withholds the message of any other error, also when it is the cause of a safe one', () => {
  const foreign = Object.assign(new TypeError('Ana Lovelace'), { code: 'ERR_PARSE' });
  expect(describeError(new SafeError('cannot read line 3', { cause: foreign }))).toBe('cannot read line 3');
});

it('does not take an error as safe because it has the name of one of our classes', () => {
  const foreign = Object.assign(new Error('Ana Lovelace'), { name: 'SourceError' });
  expect(isSafeToShow(foreign)).toBe(false);
});
