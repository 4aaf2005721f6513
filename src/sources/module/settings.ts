import * as z from 'zod';
import { confidentiality, expected, group, text } from '../../settings/values.js';
import { recordSettings } from '../common/record-settings.js';

/** Bookings from a file of the user's own code. */
export const module = group({
  kind: z.literal('module', expected('module')).describe('Where the bookings come from.'),
  path: text('a path').describe('The file that exports `bookings`.'),
  ...recordSettings,
  options: z
    .record(z.string(), z.unknown(), expected('a group of settings of your own'))
    .default({})
    .describe('What the module is given as `options`, as it stands here.')
    .register(confidentiality, { level: 'private' }),
});
