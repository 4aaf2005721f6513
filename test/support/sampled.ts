import { inspect } from 'node:util';
import type { SourceSettings } from '../../jobs/sources.js';
import { createBusinessDay } from '../../src/booking/business-day.js';
import { parseConfig } from '../../src/config/parse.js';
import { kindOf, openSource } from '../../src/sources/registry.js';
import type { Settings } from './day-folder.js';
import { openTestParts } from './source-parts.js';

export const day = createBusinessDay('2026-11-20', 'Europe/Madrid');

/** As in a configuration. */
export function settingsOf(
  source: Settings,
  others: Settings = {},
  env: NodeJS.ProcessEnv = {},
): SourceSettings {
  const service = { baseUrl: 'https://service.example.com/api/3.0', apiKey: 'k', accountId: 'a' };
  const text = JSON.stringify({ timezone: 'Europe/Madrid', service, source, ...others });
  return parseConfig({ text, file: '/srv/hotel-review.yaml', env });
}

/** A sample with its records as objects. */
export async function takeSample(settings: SourceSettings, signal = new AbortController().signal) {
  const { sample } = await kindOf(settings.source).loadSetup();
  const sampleDay = sample(settings.source, openTestParts(settings));
  const { columns, records, delimiter } = await sampleDay(day, signal);
  return { columns, records: records.map((record) => Object.fromEntries(record)), delimiter };
}

/** The errors of sampling a broken source and of reading it. */
export async function failuresOf(settings: SourceSettings) {
  const read = async () => {
    const source = await openSource(settings.source, openTestParts(settings));
    for await (const _ of source.read(day, { signal: new AbortController().signal }));
  };
  const failureOf = (reading: Promise<unknown>) =>
    reading.then(
      () => 'no failure',
      (error: unknown) => error,
    );
  const ofSample = await failureOf(takeSample(settings));
  return { ofSample, ofSource: await failureOf(read()), said: inspect(ofSample, { depth: 8 }) };
}
