import * as z from 'zod';
import { isLoopbackAddress } from '../http/url.js';
import {
  confidentiality,
  expected,
  group,
  hostName,
  isGroup,
  numberUpTo,
  oneOf,
  oneOrMore,
  text,
  textLike,
  wholeNumber,
} from '../settings/values.js';

const dayInMinutes = 1_440;
const yearInHours = 8_784;

const imap = group({
  host: hostName().describe('The IMAP server.'),
  port: wholeNumber(1, 65_535)
    .exactOptional()
    .describe('Its port; by default 993, and 143 with `tls: starttls` or `tls: none`.'),
  user: text().describe('The user name on the IMAP server.'),
  password: text()
    .describe('The password, or an app password where the provider asks for one.')
    .register(confidentiality, { level: 'secret' }),
  folder: text('the name of a folder').default('INBOX').describe('The folder that is read.'),
  tls: oneOf('implicit', 'starttls', 'none')
    .default('implicit')
    .describe(
      'How the connection is encrypted: from its start, by STARTTLS, or not at all. The certificate is always verified.',
    ),
  ca: text('a path')
    .exactOptional()
    .describe("A PEM file with the certificate of the authority that signed the server's certificate."),
  plaintext: oneOf('allowed')
    .exactOptional()
    .describe('Allows `tls: none` to another machine, on a network that you trust.'),
  markSeen: z
    .boolean(expected('true or false'))
    .default(false)
    .describe('Whether e-mails that were read are marked as seen. Otherwise nothing in the mailbox changes.'),
}).refine(({ host, tls, plaintext }) => tls !== 'none' || plaintext === 'allowed' || isThisMachine(host), {
  path: ['tls'],
  error:
    'must be implicit or starttls, because the server is another machine and password and e-mails would be sent in plain text; to connect like this on a network that you trust, write plaintext: allowed',
  when: ({ value }) => isGroup(value) && typeof value.host === 'string',
});

function isThisMachine(host: string): boolean {
  return isLoopbackAddress(host.toLowerCase());
}

const mailboxes = ['imap', 'maildir', 'path'] as const;

/** The e-mails in which the service names bookings with an incorrect mapping. */
export const verdicts = group({
  imap: imap.exactOptional().describe('A mailbox on an IMAP server.'),
  maildir: text('a path').exactOptional().describe('A maildir: a folder with `new` and `cur`.'),
  path: text('a path')
    .exactOptional()
    .describe(
      'A folder into which e-mails are put as files: `.eml`, mbox, or saved `.csv`, `.txt` and `.html`.',
    ),
  from: oneOrMore(
    textLike(
      /^[^\s@<>,;:"()]*@[a-z0-9.-]+$/i,
      'an address such as reviews@service.example, or a domain such as "@service.example"',
    ),
    'an address, a domain, or a list of them',
  )
    .exactOptional()
    .describe(
      'Whose e-mails count: addresses such as `reviews@service.example`, and domains such as `"@service.example"`. E-mails of others open nothing. By default those of anybody count, but one of them opens at most 1,000 bookings.',
    ),
  authenticatedBy: textLike(/^[a-z0-9._-]+$/i, 'the name of a mail server such as mx.example.com')
    .exactOptional()
    .describe(
      'The name by which your mail server signs its `Authentication-Results`, such as `mx.example.com`. With it, an e-mail counts only if that server found that DMARC or DKIM passes for its sender.',
    ),
  pollMinutes: numberUpTo(dayInMinutes).default(5).describe('How often `serve` looks for new e-mails.'),
  matchDays: wholeNumber(1, 366)
    .default(14)
    .describe(
      'E-mails are matched with the bookings of runs that ended within this many days. An IMAP mailbox is read as far back.',
    ),
  silenceMeansCorrectAfter: numberUpTo(yearInHours)
    .exactOptional()
    .describe(
      'After how many hours without an e-mail `show` calls the mapping of a booking sent by body correct. By default it stays unknown, because an e-mail that never arrives looks the same.',
    ),
})
  .refine((given) => mailboxes.filter((name) => given[name] !== undefined).length <= 1, {
    error: 'must hold only one of imap, maildir and path',
    when: ({ value }) => isGroup(value),
  })
  .refine(({ from, authenticatedBy }) => authenticatedBy === undefined || from !== undefined, {
    path: ['authenticatedBy'],
    error: 'needs verdicts.from: whose e-mails count',
    when: ({ value }) => isGroup(value),
  });
