import { InvalidArgumentError } from 'commander';
import { requestExport } from '../../src/mappings/export/request-export.js';
import { MappingServiceError } from '../../src/service/errors.js';
import type { App } from '../app.js';
import { clock } from '../clock.js';
import { command, commandGroup, option, requiredOption } from '../command.js';
import fetch from '../export-fetch.js';

const request = command({
  summary: 'request an export, which the service sends by e-mail and puts on the SFTP server',
  options: {
    email: requiredOption('--email <address>', 'the recipient'),
    providers: option(
      '--providers <names>',
      'only the mappings of these, such as Bedlink,Roomex (default: all)',
    ),
  },
  examples: `
Examples:
  hotel-review export request --email ops@example.com
  hotel-review export request --email ops@example.com --providers Bedlink,Roomex`,
  read: ({ email, providers }) => ({
    email: readAddress(email),
    providers: providers === undefined ? [] : readNames(providers),
  }),
  run: (app, wanted) => requestOneExport(app, wanted),
});

/** A rough check; the service does the rest. The message omits the address, because it may end up in a log. */
function readAddress(text: string): string {
  if (/^[^\s\p{Cc},@]+@[^\s\p{Cc},@]+$/u.test(text)) return text;
  throw new InvalidArgumentError(
    '--email: expected one address such as name@example.com, got: something else',
  );
}

function readNames(text: string): string[] {
  const names = text.split(',').map((name) => name.trim());
  if (!names.includes('')) return [...new Set(names)];
  throw new InvalidArgumentError('--providers: expected names separated by commas, got: an empty one');
}

/** @param providers empty for all of them */
export async function requestOneExport(
  app: App,
  { email, providers }: { readonly email: string; readonly providers: readonly string[] },
): Promise<number> {
  const { exports: log } = await app.ledger();
  const service = app.mappingService();
  const startedAt = clock();
  try {
    const { requestedAt, serviceTime } = await requestExport(
      { emailId: email, providers },
      { service, log, clock },
      app.signal,
    );
    const what = providers.length === 0 ? 'all providers' : providers.join(', ');
    return app.answer(
      [
        `The service exports the mappings of ${what} and sends them to ${email}.`,
        `To fetch the files: ${app.command('export fetch')}`,
      ],
      // Without the recipient.
      {
        requestedAt: new Date(requestedAt).toISOString(),
        serviceTime: serviceTime === undefined ? null : new Date(serviceTime).toISOString(),
        providers,
      },
    );
  } catch (error) {
    throw error instanceof MappingServiceError && error.outcomeUnknown
      ? sayHowToCheck(error, startedAt, app)
      : error;
  }
}

/** A second request would start a second export, so a person decides. */
function sayHowToCheck(error: MappingServiceError, startedAt: number, { command: write }: App): Error {
  const { kind, code, operation, httpStatus } = error;
  const since = new Date(startedAt).toISOString();
  return new MappingServiceError(
    `The service gave no clear answer to the export request (${code}) and may have started the export, so the request is not repeated. Check whether the e-mail or the files arrive: ${write(`export fetch --since ${since}`)}. If neither does, request the export again: ${write('export request --email ADDRESS')}.`,
    { kind, code, operation, outcomeUnknown: true, ...(httpStatus !== undefined && { httpStatus }) },
    { cause: error },
  );
}

export default commandGroup({
  place: ['mappings', 5],
  summary: "request and fetch the service's exports of all mappings",
  examples: `
Examples:
  hotel-review export request --email ops@example.com   request all mappings
  hotel-review export fetch                             wait for the files`,
  commands: { request, fetch },
});
