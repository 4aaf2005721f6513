import { it } from 'vitest';
import { liveDays } from './any-day.js';

it(
  'every surface says what was sent and what came back on any day of up to six events',
  { timeout: 1_800_000 },
  () => liveDays(1_500),
);
