import { describe, expect, it } from 'vitest';
import { createCommandWriter } from '../../src/base/shell.js';
import { referToSchema } from '../../src/checks/setup/configuration-text.js';
import { listNextSteps } from '../../src/checks/setup/next-steps.js';

const usual = {
  config: 'hotel-review.yaml',
  env: '.env',
  missingSecrets: [],
  hasPlaceholders: false,
  day: '2026-11-20',
  command: createCommandWriter('hotel-review', 'hotel-review.yaml'),
};

describe('After init', () => {
  it('the steps are the secrets, the placeholders, doctor and a dry run, in that order', () => {
    expect(listNextSteps({ ...usual, missingSecrets: ['KEY', 'ACCOUNT'], hasPlaceholders: true })).toEqual([
      'put KEY and ACCOUNT into .env',
      'fill in what hotel-review.yaml marks as PLACEHOLDER',
      'hotel-review doctor',
      'hotel-review run --day 2026-11-20 --dry-run',
    ]);
  });

  it('only the remaining steps are listed, for the configuration that was written', () => {
    const next = listNextSteps({
      ...usual,
      config: "my agency's.yaml",
      command: createCommandWriter('npx --no hotel-review', "my agency's.yaml"),
    });
    expect(next).toEqual([
      "npx --no hotel-review doctor --config 'my agency'\\''s.yaml'",
      "npx --no hotel-review run --day 2026-11-20 --dry-run --config 'my agency'\\''s.yaml'",
    ]);
  });
});

describe('A module that does not exist yet', () => {
  it('has to be written before it is tried', () => {
    const [first, second] = listNextSteps({ ...usual, module: 'bookings.mjs' });
    expect(first).toBe('write bookings.mjs: docs/sources.md says how, examples/bookings.mjs is an example');
    expect(second).toBe('hotel-review doctor');
  });
});

describe('The columns that were not found', () => {
  it('are requested by name, with the consequence for each field', () => {
    const next = listNextSteps({
      ...usual,
      config: 'my.yaml',
      missing: ['ServiceId', 'BookingReferenceId', 'CheckInDate', 'CheckOutDate'],
    });
    expect(next.slice(0, 2)).toEqual([
      'say in my.yaml which column holds ServiceId, the master hotel id: without it nothing is sent',
      'say in my.yaml which columns hold BookingReferenceId, CheckInDate, and CheckOutDate: without them they are not sent',
    ]);
    expect(listNextSteps({ ...usual, missing: ['ProviderName'] })[0]).toBe(
      'say in hotel-review.yaml which column holds ProviderName: without it ProviderName is not sent',
    );
  });
});

describe('The JSON Schema is named', () => {
  it.each([
    ['/clone/hotel-review.schema.json', '/clone', './hotel-review.schema.json'],
    [
      '/a/node_modules/hotel-review/hotel-review.schema.json',
      '/a',
      './node_modules/hotel-review/hotel-review.schema.json',
    ],
    ['/clone/hotel-review.schema.json', '/agency/conf', '../../clone/hotel-review.schema.json'],
    ['/my clone/hotel-review.schema.json', '/agency', 'file:///my%20clone/hotel-review.schema.json'],
  ])('%s in %s as %s', (file, folder, written) => {
    expect(referToSchema(file, folder)).toBe(written);
  });
});
