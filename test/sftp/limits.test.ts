import { expect, it } from 'vitest';
import { findMissingSpace } from '../../src/transports/sftp/transfer.js';

const mebibyte = 1024 * 1024;

it.each([
  ['a large disk keeps 64 MiB', 1_000, { size: 100_000 * mebibyte, free: 64 * mebibyte + 999 }, 1],
  ['a large disk with just enough', 1_000, { size: 100_000 * mebibyte, free: 64 * mebibyte + 1_000 }, 0],
  ['a disk of 48 MB takes a result of 275 kB', 275_000, { size: 48_000_000, free: 40_000_000 }, 0],
  ['a disk of 48 MB keeps 5 % free', 275_000, { size: 48_000_000, free: 2_400_000 }, 275_000],
  ['a disk that does not say', 1_000, { size: 0, free: 0 }, 0],
])('%s', (_, bytes, disk, missing) => {
  expect(findMissingSpace(bytes, disk).missing).toBe(missing);
});
