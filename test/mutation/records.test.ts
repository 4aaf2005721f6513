import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import record from '../mutation.json' with { type: 'json' };
import { rules } from './rules.js';

it('has a score for each file of rules, and for no other', () => {
  expect(Object.keys(record).sort()).toEqual(Object.keys(rules).sort());
});

it.each(Object.entries(rules))('judges %s by tests that are there', (path, tests) => {
  expect([path, ...tests].filter((name) => !existsSync(name))).toEqual([]);
});
