import * as z from 'zod';
import {
  confidentiality,
  expected,
  group,
  headerText,
  numberUpTo,
  oneOf,
  text,
  textLike,
  wholeNumber,
} from '../base/setting-values.js';
import { defaultMasterIdColumn, masterIdField, textFields } from '../booking/booking.js';
import { checkBaseUrl } from '../service/client.js';

const hourInSeconds = 3_600;
const dayInSeconds = 86_400;

/** The master id's name must differ from those of the other fields. (Spec 2.5 and 2.6.) */
const otherFields = new RegExp(`^(?!(?:${textFields.map(({ name }) => name).join('|')})$)`);
const fieldName = () =>
  text('a name without control characters')
    .regex(/^\P{Cc}*$/u, expected('a name without control characters'))
    .regex(otherFields, expected('a name that no other field has'));

export const service = group(
  {
    baseUrl: z
      .string(expected('an address such as https://service.example.com/api/3.0'))
      .refine((url) => checkBaseUrl(url) === undefined, { error: ({ input }) => checkBaseUrl(String(input)) })
      .describe('The address of the mapping service, including its version.')
      .register(confidentiality, { level: 'private' }),
    apiKey: headerText()
      .describe("The account's API key, sent as the header `apikey`.")
      .register(confidentiality, { level: 'secret' }),
    accountId: headerText()
      .describe("The account's identifier, sent as the header `accountId`. A number needs quotes.")
      .register(confidentiality, { level: 'private' }),
    timeoutSeconds: numberUpTo(hourInSeconds).default(30).describe('How long a whole request may take.'),
    masterIdName: fieldName()
      .default(masterIdField.name)
      .describe('The name of the master hotel id in JSON, in this deployment of the service.'),
    masterIdColumn: fieldName()
      .default(defaultMasterIdColumn)
      .describe("The master hotel id's column in the review file."),
    statusCodes: z
      .record(
        textLike(/^(?:0|[1-9]\d{0,8})$/, 'a StatusCode such as 2030'),
        oneOf('accepted', 'retryable', 'fatal', 'refused'),
        expected('a group of StatusCodes, such as 2030: retryable'),
      )
      .default({})
      .describe('The meaning of each `StatusCode` in an HTTP 200, where it differs from the defaults.'),
  },
  'a group with baseUrl, apiKey and accountId',
);

export const body = group({
  batchSize: wholeNumber(1, 10_000).default(500).describe('Bookings per request.'),
  concurrency: wholeNumber(1, 256).default(8).describe('Concurrent requests per process.'),
  requestsPerSecond: numberUpTo(100_000)
    .exactOptional()
    .describe(
      'The maximum number of requests per second: across all processes with Redis, otherwise per process. Unlimited by default.',
    ),
  timeoutSeconds: numberUpTo(hourInSeconds)
    .exactOptional()
    .describe('How long a request with a batch may take; by default `service.timeoutSeconds`.'),
});

export const retry = group({
  tries: wholeNumber(1, 100).default(6).describe('How many times a step is tried.'),
  baseSeconds: numberUpTo(hourInSeconds)
    .default(1)
    .describe('The longest wait before the second try. It doubles with each further try.'),
  capSeconds: numberUpTo(dayInSeconds).default(60).describe('The longest wait between two tries.'),
});
