import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { serviceFields } from '../../src/booking/booking.js';
import { createFileReview } from '../../src/sandbox/file-review/file-review.js';
import type { HttpClient, Outcome } from './http-clients.js';
import { askAll, askJson, askPage, mappingOf, startedSandbox } from './started-sandbox.js';
import {
  accountHeaders,
  byBody,
  byFile,
  jsonHeaders,
  rightBooking,
  type StartOptions,
  startedService,
  success,
  world,
  wrongBooking,
} from './started-service.js';

const errors = (statusCode: number, message: string) => ({
  ...{ Status: false, Message: message, StatusCode: statusCode },
});
const postOf = (hotels: readonly unknown[]) => ({
  ...{ method: 'POST', path: byBody, headers: jsonHeaders },
  body: JSON.stringify({ Hotels: hotels }),
});
const good = postOf([rightBooking, wrongBooking]);
const noAccount = errors(2003, 'The headers apikey and accountId do not name an account.');

/** A request, the HTTP status and the answer. */
const table = [
  ['bookings in a body', good, 200, success],
  [
    'bookings with a charset in their type',
    { ...good, headers: { ...jsonHeaders, 'Content-Type': 'application/json; charset=utf-8' } },
    200,
    success,
  ],
  [
    'an uploaded file',
    {
      method: 'GET',
      path: `${byFile}?ftpFilePath=VerifyMappings/112026/20112026.csv`,
      headers: accountHeaders,
    },
    200,
    success,
  ],
  [
    'a call by file without its file',
    { method: 'GET', path: byFile, headers: accountHeaders },
    200,
    errors(2020, 'ftpFilePath is missing: expected the path of the uploaded file'),
  ],
  [
    'a file that is not there',
    {
      method: 'GET',
      path: `${byFile}?ftpFilePath=VerifyMappings/112026/21112026.csv`,
      headers: accountHeaders,
    },
    200,
    errors(2002, 'ftpFilePath: there is no file "VerifyMappings/112026/21112026.csv" on the SFTP server'),
  ],
  [
    'a call by file with its parameter in another case',
    { method: 'GET', path: `${byFile}?ftpfilepath=a.csv`, headers: accountHeaders },
    200,
    errors(2020, 'ftpFilePath is missing: expected the path of the uploaded file'),
  ],
  ['no bookings', postOf([]), 200, errors(2021, 'Hotels is empty: expected at least one booked hotel.')],
  [
    'a date that is none',
    postOf([rightBooking, { ...rightBooking, CheckInDate: '20112026' }]),
    200,
    errors(2009, 'Hotels[1].CheckInDate: expected a calendar day as YYYY-MM-DD.'),
  ],
  ['a broken body', { ...good, body: '{"Hotels":[' }, 200, errors(2002, 'The body is not JSON in UTF-8.')],
  [
    'a misspelt field',
    { ...good, body: '{"hotels":[]}' },
    200,
    errors(2002, '"hotels" is not a field of the body: expected only Hotels.'),
  ],
  ['a wrong key', { ...good, headers: { ...jsonHeaders, apikey: 'key-2' } }, 403, noAccount],
  ['a wrong account', { ...good, headers: { ...jsonHeaders, accountId: 'x' } }, 403, noAccount],
  [
    'no key',
    { method: 'GET', path: byFile, headers: { accountId: 'account-1' } },
    403,
    errors(2003, 'The header apikey is missing.'),
  ],
  [
    'a body that is no JSON by its type',
    { ...good, headers: { ...accountHeaders, 'Content-Type': 'text/plain' } },
    415,
    errors(2002, 'The Content-Type is not application/json.'),
  ],
  [
    'another method',
    { method: 'PUT', path: byBody, headers: jsonHeaders, body: '{}' },
    405,
    errors(2002, 'This operation is called with POST.'),
  ],
  [
    'a path in another case',
    { ...good, path: byBody.toLowerCase() },
    404,
    errors(2002, 'There is no such operation: paths are exact and case-sensitive.'),
  ],
] as const;

/** The service with a real file review and the file of 20 November 2026. */
async function startForTest(options?: StartOptions) {
  const folder = await mkdtemp(join(tmpdir(), 'sandbox-service-'));
  const root = join(folder, 'sftp');
  await mkdir(join(root, 'VerifyMappings/112026'), { recursive: true });
  const cells = Object.values(rightBooking).with(5, '20112026').with(6, '22112026');
  await writeFile(
    join(root, 'VerifyMappings/112026/20112026.csv'),
    `${['Service Mappings Id', ...serviceFields.slice(1)].join(',')}\n${cells.join(',')}\n`,
  );
  const fileReview = createFileReview({
    ...{
      root,
      drafts: `${root}-drafts`,
      world,
      resultDelayMs: 600_000,
    },
    faults: { nextResult: () => undefined },
    outbox: { notify: () => Promise.reject(new Error('expected no result, and so no email')) },
    tell: () => {},
  });
  const service = await startedService({ ...options, acceptFile: fileReview.accept });
  onTestFinished(async () => {
    await service.close();
    await fileReview.close();
    await rm(folder, { recursive: true });
  });
  return service;
}

const whatMatters = (outcome: Outcome) =>
  outcome.kind === 'answered'
    ? {
        status: outcome.status,
        type: outcome.headers['content-type'],
        allow: outcome.headers.allow,
        json: JSON.parse(outcome.body),
      }
    : outcome;

/** What clients see of the service's answers and faults. */
export function describeService(client: HttpClient): void {
  describe(`To ${client.name}`, () => {
    beforeEach(({ skip }) => skip(client.needs !== undefined, client.needs));

    it.each(table)('the service answers %s', async (_what, { path, ...request }, status, expected) => {
      const service = await startForTest();
      const outcome = await client.ask({ ...request, url: `${service.baseUrl}${path}` });
      expect(whatMatters(outcome)).toEqual({
        status,
        type: 'application/json',
        allow: status === 405 ? 'POST' : undefined,
        json: expected,
      });
    });

    it('sees each kind of fault in the same way', async () => {
      const service = await startForTest({
        faults: ['status:503@1', 'status:429:2@2', 'refuse:2009@3', 'latency:0.01@4', 'latency:60@5'],
      });
      const { path, ...request } = good;
      const ask = (timeoutSeconds = 30) =>
        client.ask({ ...request, url: `${service.baseUrl}${path}`, timeoutSeconds });

      expect(await ask()).toMatchObject({ kind: 'answered', status: 503 });
      expect(await ask()).toMatchObject({ kind: 'answered', status: 429, headers: { 'retry-after': '2' } });
      expect(whatMatters(await ask())).toMatchObject({
        status: 200,
        json: errors(2009, 'A fault of the sandbox: refused with 2009.'),
      });
      expect(whatMatters(await ask())).toMatchObject({ status: 200, json: success });
      expect(await ask(1)).toEqual({ kind: 'timed-out' });
      expect(whatMatters(await ask())).toMatchObject({ status: 200, json: success });
      // By the delayed calls and the last one.
      expect(service.counts).toEqual({ calls: 6, reviewed: 6, incorrect: 3 });
    });
  });
}

interface GivenBrands {
  readonly HotelBrands: readonly {
    readonly Id: number;
    readonly BrandCode: string;
    readonly BrandName: string;
    readonly ChainId: number;
  }[];
}

export const brandsPath = '/content/GetMasterHotelBrands';

/** The complete list of brands, as this client receives it. */
export function describeBrands(client: HttpClient): void {
  describe(`the brands, requested with ${client.name}`, () => {
    beforeEach(({ skip }) => skip(client.needs !== undefined, client.needs));

    it('are the complete list, each with its chain', async () => {
      const { HotelBrands: brands, ...envelope } = (await askJson(
        await startedSandbox(),
        brandsPath,
        {},
        client,
      )) as GivenBrands;
      expect(envelope).toEqual({ Status: true, Message: expect.any(String), StatusCode: 2000 });
      for (const brand of brands) {
        expect(brand).toEqual({
          Id: expect.any(Number),
          BrandCode: expect.stringMatching(/^[A-Z]{2}\d{1,2}[A-F]$/),
          BrandName: expect.stringMatching(/\S/),
          ChainId: expect.any(Number),
        });
      }
      expect(new Set(brands.map(({ Id }) => Id)).size).toBe(brands.length);
      expect(new Set(brands.map(({ BrandCode }) => BrandCode)).size).toBe(brands.length);
      expect(new Set(brands.map(({ ChainId }) => ChainId)).size).toBe(24);
    });
  });
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** All mappings, page by page, as this client receives them. */
export function describeMappings(client: HttpClient): void {
  describe(`The mappings, requested with ${client.name}`, () => {
    beforeEach(({ skip }) => skip(client.needs !== undefined, client.needs));

    it('come page by page until there is no key, each of the world once', async () => {
      const sandbox = await startedSandbox();
      const { history } = sandbox.world;
      const first = await askPage(sandbox, { limit: 100 }, client);
      expect(first).toMatchObject({ ResumeKey: expect.stringMatching(uuid), Status: true, StatusCode: 2000 });
      expect(Object.keys(first)).toEqual(['ResumeKey', 'Mappings', 'Status', 'Message', 'StatusCode']);
      expect(first.Mappings).toHaveLength(100);
      const all = await askAll(sandbox, { limit: 100, syncId: 'sync-2' }, client);
      expect(all.slice(0, 100)).toEqual(first.Mappings);
      expect(all.map(mappingOf)).toEqual(
        history.map(
          ({ serviceId, providerName, providerHotelId }) => `${serviceId} ${providerName} ${providerHotelId}`,
        ),
      );
      const calls = sandbox.told.filter((line) => / mappings: /.test(line));
      expect(calls).toHaveLength(1 + Math.ceil(history.length / 100));
      expect(calls.at(-1)).toMatch(/: 200 2000, \d+ mappings? sent, the last page$/);
    });
  });
}
