import * as z from 'zod';
import { checkS3Endpoint } from '../s3/bucket.js';
import { confidentiality, expected, group, headerText, isGroup, textLike } from '../settings/values.js';

const togetherIfAtAll = 'must stand together with s3.secretAccessKey, or neither';

/** How buckets are reached, as places of bookings and of the archive. */
export const s3 = group({
  region: textLike(/^[a-z0-9-]{1,40}$/, 'a region such as eu-central-1')
    .exactOptional()
    .describe(
      "The buckets' region; by default that of the environment or the profile, as Amazon's tools find it.",
    ),
  endpoint: z
    .string(expected('an address such as https://s3.example.com'))
    .refine((url) => checkS3Endpoint(url) === undefined, {
      error: ({ input }) => checkS3Endpoint(String(input)),
    })
    .exactOptional()
    .describe("The address of an S3-compatible server; without it, Amazon's."),
  accessKeyId: headerText()
    .register(confidentiality, { level: 'private' })
    .exactOptional()
    .describe(
      "The access key's id; without it the environment, the profile and the machine's role are asked, as Amazon's tools do.",
    ),
  secretAccessKey: headerText()
    .register(confidentiality, { level: 'secret' })
    .exactOptional()
    .describe('The secret of the access key.'),
  sessionToken: headerText()
    .register(confidentiality, { level: 'secret' })
    .exactOptional()
    .describe('The token of a temporary access key.'),
  pathStyle: z
    .boolean(expected('true or false'))
    .exactOptional()
    .describe(
      'Whether the bucket stands in the path and not in the name of the host; by default it does where there is an endpoint.',
    ),
}).refine(
  ({ accessKeyId, secretAccessKey }) => (accessKeyId === undefined) === (secretAccessKey === undefined),
  { path: ['accessKeyId'], error: togetherIfAtAll, when: ({ value }) => isGroup(value) },
);
