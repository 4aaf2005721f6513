import * as z from 'zod';
import {
  confidentiality,
  expected,
  group,
  hostName,
  isGroup,
  numberUpTo,
  oneOf,
  text,
  textLike,
  wholeNumber,
} from '../base/setting-values.js';

const dayInMinutes = 1_440;

const imap = group({
  host: hostName().describe('The IMAP server.'),
  port: wholeNumber(1, 65_535)
    .exactOptional()
    .describe('Its port; by default 993, and 143 with `tls: starttls` or `tls: none`.'),
  user: text().describe('The user name on the IMAP server.').register(confidentiality, { level: 'private' }),
  password: text()
    .describe('The password, or an app password where the provider asks for one.')
    .register(confidentiality, { level: 'secret' }),
  folder: text('the name of a folder').default('INBOX').describe('The folder that is read.'),
  tls: oneOf('implicit', 'starttls', 'none')
    .default('implicit')
    .describe(
      'How the connection is encrypted: from its start, by STARTTLS, or not at all, which sends password and e-mails in plain text. The certificate is always verified.',
    ),
});

const mailboxes = ['imap', 'maildir'] as const;

/** The e-mails in which the service names bookings with an incorrect mapping. */
export const verdicts = group({
  imap: imap.exactOptional().describe('A mailbox on an IMAP server.'),
  maildir: text('a path').exactOptional().describe('A maildir: a folder with `new` and `cur`.'),
  from: z
    .array(
      textLike(
        /^[^\s@<>,;:"()]*@[a-z0-9.-]+$/i,
        'an address such as reviews@service.example, or a domain such as "@service.example"',
      ),
      expected('a list of addresses and domains'),
    )
    .min(1, expected('a list of addresses and domains'))
    .exactOptional()
    .describe(
      'Whose e-mails count, as a list: addresses such as `reviews@service.example`, and domains such as `"@service.example"`. By default those of anybody count.',
    ),
  authenticatedBy: textLike(/^[a-z0-9._-]+$/i, 'the name of a mail server such as mx.example.com')
    .exactOptional()
    .describe(
      'The name by which your mail server signs its `Authentication-Results`, such as `mx.example.com`. With it, an e-mail counts only if that server found that DMARC or DKIM passes for its sender.',
    ),
  pollMinutes: numberUpTo(dayInMinutes).default(5).describe('How often `serve` looks for new e-mails.'),
})
  .refine((given) => mailboxes.filter((name) => given[name] !== undefined).length <= 1, {
    error: 'must hold only one of imap and maildir',
    when: ({ value }) => isGroup(value),
  })
  .refine(({ from, authenticatedBy }) => authenticatedBy === undefined || from !== undefined, {
    path: ['authenticatedBy'],
    error: 'needs verdicts.from: whose e-mails count',
    when: ({ value }) => isGroup(value),
  });
