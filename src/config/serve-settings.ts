import * as z from 'zod';
import { isAddressOrNetwork } from '../base/addresses.js';
import { isGuessable } from '../base/guessable.js';
import {
  confidentiality,
  expected,
  group,
  hostName,
  isAccepted,
  numberUpTo,
  text,
  textLike,
  textThat,
  timeOfDay,
  webAddress,
  wholeNumber,
} from '../base/setting-values.js';
import { createCronTimes } from '../schedule/cron-times.js';
import { readKeys, shortestKey } from '../transports/http/webhook-signature.js';

const hourInSeconds = 3_600;
const cronFields = 'five cron fields such as "30 2 * * *"';
const todayFields = 'five cron fields such as "*/20 7-23 * * *"';
const cronText = (fields: string) =>
  textLike(/^\s*(?:[\w*/,?#-]+\s+){4}[\w*/,?#-]+\s*$/, fields).refine(
    (pattern) => isAccepted(() => createCronTimes(pattern, 'UTC')),
    expected(fields),
  );

export const schedule = group({
  cron: cronText(cronFields)
    .default('30 2 * * *')
    .describe('When `serve` starts the run of the day before, in the configured time zone.'),
  today: cronText(todayFields)
    .exactOptional()
    .describe(
      'When `serve` also sends the new bookings of the current day, always by body: such as `"*/20 7-23 * * *"`. Without it, no day is reviewed before it is over.',
    ),
  catchUpDays: wholeNumber(0, 366).default(3).describe('How many missed days `serve` catches up on.'),
  resumeMinutes: wholeNumber(1, 1_440)
    .default(30)
    .describe(
      'How often `serve` resumes failed runs that may succeed without a person, and checks for late exports.',
    ),
  giveUpAfter: timeOfDay('12:00')
    .default('12:00')
    .describe(
      'Until when `serve` retries a day whose source is missing or not marked as done, in the configured time zone.',
    ),
});

const strongSecret = `at least ${shortestKey} random bytes, such as the output of: echo "whsec_$(openssl rand -base64 32)" (after whsec_, base64)`;
const strongToken = `at least ${shortestKey} random bytes, such as the output of: openssl rand -hex 32`;

export const hook = group({
  secret: textThat((secret) => isAccepted(() => readKeys(secret)), strongSecret)
    .describe(
      'The secret with which callers sign, or which they send as a bearer token, of at least 24 random bytes. Without it, there is no hook.',
    )
    .register(confidentiality, { level: 'secret' })
    .exactOptional(),
});

const signIn = group({
  header: textLike(/^[\w-]+$/, 'the name of a header such as x-forwarded-user').describe(
    'The header with the name of the user, trusted only from `server.proxies`. The proxy must not pass on this header from outside.',
  ),
});

export const server = group({
  host: text('a host name or an address')
    .default('127.0.0.1')
    .describe('The address on which `serve` listens; `0.0.0.0` for all addresses.'),
  port: wholeNumber(0, 65_535)
    .default(8080)
    .describe('The port of the pages, the hook, health and metrics; 0 picks a free one.'),
  hosts: z
    .array(hostName(), expected('a list of host names'))
    .default([])
    .describe(
      'The host names under which others reach `serve` or `work`, for example through a proxy. Loopback names, its own address and the host of `publicUrl` are always allowed; requests for any other are refused, except for `/healthz` and `/readyz`.',
    ),
  publicUrl: webAddress('https://review.example.com')
    .refine(
      (url) => !URL.canParse(url) || /^[^/]*\/\/[^/?]*\/?$/.test(url),
      'must not hold a path or a query: the pages are at the root of their host',
    )
    .describe(
      'The address at which people reach the pages of `serve`, without a path. Notifications link to it. If it is https, people sign in there only, and the proxy must pass on its `Host`.',
    )
    .register(confidentiality, { level: 'private' })
    .exactOptional(),
  proxies: z
    .array(
      textThat(isAddressOrNetwork, 'an address such as 127.0.0.1, or a network such as 10.0.3.0/24'),
      expected('a list of addresses and networks'),
    )
    .default([])
    .describe(
      'The addresses and networks of the proxies in front of `serve`. The last entry of `X-Forwarded-For` that they pass on says who the caller is: for signing in, for the hook and in logs. From elsewhere the header is ignored. Without proxies, attempts to sign in are slowed by name only, because all may come from the address of a proxy.',
    ),
  users: text('a path')
    .exactOptional()
    .describe(
      'The file of the users of the pages of `serve`: names, roles and hashed passwords, which `user add` writes. Without users, the pages are read-only on this machine, and refused elsewhere.',
    ),
  signIn: signIn
    .exactOptional()
    .describe(
      'A proxy where people sign in, which passes their names on in a header. Only names in `server.users` are let in.',
    ),
  metricsToken: textThat(
    (token) => Buffer.byteLength(token) >= shortestKey && !isGuessable(token),
    strongToken,
  )
    .describe(
      'The bearer token that `/metrics` of `serve` and `work` requires, of at least 24 random bytes. Without it, everybody who can connect may read the metrics.',
    )
    .register(confidentiality, { level: 'secret' })
    .exactOptional(),
});

export const workers = group({
  leaseSeconds: numberUpTo(hourInSeconds)
    .default(30)
    .describe('How long a process may be silent before others take over its work.'),
  stopSeconds: numberUpTo(hourInSeconds)
    .default(3)
    .describe('How long a running step may continue after a stop was requested.'),
  connections: wholeNumber(2, 100)
    .default(5)
    .describe(
      'How many connections a process opens to PostgreSQL at most. One is kept for renewals of leases; steps wait for the others.',
    ),
});
