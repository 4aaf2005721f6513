import * as z from 'zod';
import { checkS3Endpoint } from '../s3/bucket.js';
import { expected, group, text, textLike } from '../settings/values.js';

const kms = group({
  keyId: text('a key id, an alias or an ARN').describe(
    'The symmetric key in KMS that encrypts the master key: its id, ARN or alias.',
  ),
  region: textLike(/^[a-z0-9-]{1,40}$/, 'a region such as eu-central-1')
    .exactOptional()
    .describe(
      "The key's region. By default it is found in the environment or the profile, as Amazon's tools do.",
    ),
  endpoint: z
    .string(expected('an address such as https://kms.example.com'))
    .refine((url) => checkS3Endpoint(url) === undefined, {
      error: ({ input }) => checkS3Endpoint(String(input)),
    })
    .exactOptional()
    .describe("The address of a compatible server; by default Amazon's."),
});

const folder = () => text('a path');

const guarded = group({
  folder: folder().describe('The folder of the wrapped day keys, outside the folders of ledger and archive.'),
  kms: kms
    .exactOptional()
    .describe(
      'AWS KMS, which encrypts the master key. Credentials come from the environment, the profile or the role of the machine.',
    ),
});

/** The location of the keys of business days: a folder, or a group. */
export const keys = z.union([folder(), guarded], expected('a folder, or a group with folder and kms'));

export type KeyLocation = z.output<typeof guarded>;

/** The group of a folder that may also be written as a text. */
export function toKeyLocation(written: z.output<typeof keys>): KeyLocation {
  return typeof written === 'string' ? { folder: written } : written;
}
