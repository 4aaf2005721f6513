import type { Examined } from '../../examination/examine-day.js';
import type { Asker } from './asker.js';

type AmbiguousDates = Extract<Examined['dates'], { readonly kind: 'several' }>;

/** Asks how dates are written that can be read in several ways. */
export async function askDateFormat(asker: Asker, dates: AmbiguousDates): Promise<Examined['dates']> {
  const format = await asker.choose({
    message: 'The dates can be read in several ways. How are they written?',
    choices: [
      ...dates.readings.map(({ format }) => ({ value: format, label: format })),
      { value: '', label: '(decide later)' },
    ],
    fallback: '',
  });
  const chosen = dates.readings.find((reading) => reading.format === format);
  return chosen === undefined ? dates : { kind: 'one', ...chosen };
}
