import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { projectFile } from '../support/compose-file.js';
import { type StandIn, type StandInHandler, startStandIn } from '../support/http-stand-in.js';
import { createPackedProject, type Ended, type PackedProject } from './packed-project.js';

const page = projectFile('docs/service.md');
const [quickStart = '', rawCall = ''] = [...page.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(
  ([, code]) => code,
);

/** Uses everything that the package exports; does not compile if any of it is `any`. */
const everyOperation = `
import {
  createMappingService,
  defaultRetryPolicy,
  MappingServiceError,
  type BookedHotel,
  type CallOptions,
  type Channel,
  type CreateMappingServiceOptions,
  type Envelope,
  type ExportRequest,
  type HotelBrand,
  type MappingRecord,
  type MappingService,
  type MappingsPage,
  type MappingsQuery,
  type MasterHotelBrands,
  type RawRequest,
  type RetryPolicy,
  type ServiceErrorDetails,
  type ServiceErrorKind,
  type StartedExport,
  type VerdictKind,
} from 'hotel-review';

type IsAny<T> = 0 extends 1 & T ? true : false;
type AnyIn<T> = IsAny<T> extends true ? 'all' : { [K in keyof T]-?: IsAny<T[K]> extends true ? K : never }[keyof T];
type Answers = { [K in keyof MappingService]: Awaited<ReturnType<MappingService[K]>> };
type Parameters1 = { [K in keyof MappingService]: Parameters<MappingService[K]>[0] };
const nothing: readonly [
  AnyIn<BookedHotel>, AnyIn<CallOptions>, AnyIn<Channel>, AnyIn<CreateMappingServiceOptions>, AnyIn<Envelope>,
  AnyIn<ExportRequest>, AnyIn<HotelBrand>, AnyIn<MappingRecord>, AnyIn<MappingService>, AnyIn<MappingsPage>,
  AnyIn<MappingsQuery>, AnyIn<MasterHotelBrands>, AnyIn<RawRequest>, AnyIn<RetryPolicy>, AnyIn<ServiceErrorDetails>,
  AnyIn<MappingServiceError>, AnyIn<StartedExport>, AnyIn<Answers>, AnyIn<Parameters1>,
] extends readonly never[] ? true : false = true;

const service: MappingService = createMappingService({
  baseUrl: process.argv[2] ?? '',
  apiKey: 'k-7f3a',
  accountId: 'acme',
  retry: { ...defaultRetryPolicy, baseMs: 0 },
  statusCodes: { 2999: 'refused' satisfies VerdictKind },
});
const { signal } = new AbortController();
const query: MappingsQuery = { lastUpdateDateTime: new Date(0), syncId: 'cycle-1' };
const page: MappingsPage = await service.getMappings(query, { signal });
const ids: string[] = page.Mappings.map(({ ProviderHotelId }) => ProviderHotelId);
const plans: (string | undefined)[] = page.Mappings.flatMap(({ channels }) => channels.map((c) => c.ratePlanType));
for await (const { Mappings } of service.eachMappingsPage(query, { signal })) ids.push(String(Mappings.length));
const reviewed: Envelope = await service.reviewBookedHotels([{ ServiceId: 101, CheckInDate: '2026-11-20' }]);
const byFile: Envelope = await service.reviewBookedHotelsByFile('VerifyMappings/112026/20112026.csv');
const { HotelBrands } = await service.getMasterHotelBrands();
const exported = await service.exportMappingsFile({ emailId: 'a@b.eu', providerfamilies: ['Bedlink'] });
const raw: unknown = (await service.call({ method: 'POST', path: '/x/Y', body: { a: 1 } })).Items;
let kind: ServiceErrorKind | undefined;
try {
  await service.call({ method: 'GET', path: '/x/Refused' });
} catch (error) {
  if (!(error instanceof MappingServiceError)) throw error;
  kind = error.kind;
}
await service.close();
console.log(JSON.stringify({ nothing, ids, plans, reviewed, byFile, HotelBrands, exported, raw, kind }));
`;

const handler: StandInHandler = ({ url }) => ({
  kind: 'json',
  body: {
    Status: !url.endsWith('Refused'),
    StatusCode: url.endsWith('Refused') ? 2999 : 2000,
    Mappings: [
      { ServiceId: 7, ProviderHotelId: '007', ProviderName: 'Bedlink', ChannelIds: ['Web,Package'] },
    ],
    HotelBrands: [{ Id: 1, BrandName: 'Àbaco' }],
    Items: [1],
  },
});

const rawCallProgram = `import { createMappingService } from 'hotel-review';
  const service = createMappingService({ baseUrl: process.argv[2] ?? '', apiKey: 'k', accountId: 'a' });
  ${rawCall}
  await service.close();`;

const wrongUse = `import { createMappingService } from 'hotel-review';
const service = createMappingService({ baseUrl: '', apiKey: '', accountId: 7 });
await service.getMappings({ lastUpdateDateTime: '2026-11-20', syncId: 'x' });
(await service.call({ method: 'GET', path: '/x' })).Items.length;`;

/** The compiler reads all declarations for each call: the programs are compiled by one. */
const programs = {
  'every-operation.ts': everyOperation,
  'quick-start.ts': quickStart,
  'raw-call.ts': rawCallProgram,
  'wrong.ts': wrongUse,
};

let project: PackedProject;
let compilation: Ended;
beforeAll(async () => {
  project = await createPackedProject();
  for (const [file, text] of Object.entries(programs)) await project.write(file, text);
  compilation = await project.compile(Object.keys(programs), { exactOptionalPropertyTypes: true });
});
afterAll(() => project?.remove());

async function standInFor(): Promise<StandIn> {
  const standIn = await startStandIn(handler);
  onTestFinished(() => standIn.close());
  return standIn;
}

describe('a project that installs the packed package', () => {
  it('compiles strictly, including libraries, and gets errors for wrong use', () => {
    const { exitCode, stdout, stderr } = compilation;
    const errors = stdout.split('\n').filter((line) => /^\S/.test(line));
    expect(errors).toEqual([2, 3, 4].map((line) => expect.stringMatching(`^wrong\\.ts\\(${line},`)));
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: '' });
  });

  it('calls every operation', async () => {
    const standIn = await standInFor();
    const { exitCode, stdout, stderr } = await project.run(['every-operation.js', standIn.baseUrl]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({
      ids: ['007', '1'],
      plans: ['Package'],
      reviewed: { StatusCode: 2000 },
      HotelBrands: [{ Id: 1, BrandName: 'Àbaco' }],
      raw: [1],
      kind: 'refused',
    });
    expect(standIn.requests.map(({ method, url }) => `${method} ${url.replace('/api/3.0', '')}`)).toEqual([
      'GET /mappings?lastUpdateDateTime=1970-01-01T00%3A00%3A00.000Z',
      'GET /mappings?lastUpdateDateTime=1970-01-01T00%3A00%3A00.000Z',
      'POST /hotels/ReviewMappingsOfBookedHotels',
      'GET /hotels/ReviewMappingsOfBookedHotelsByFile?ftpFilePath=VerifyMappings/112026/20112026.csv',
      'GET /content/GetMasterHotelBrands',
      'GET /mappings/ExportMappingsFile?emailId=a%40b.eu&providerfamilies=Bedlink',
      'POST /x/Y',
      'GET /x/Refused',
    ]);
    for (const { rawHeaders } of standIn.requests) {
      expect(rawHeaders.join(' ')).toContain('apikey k-7f3a accountId acme');
    }
  });

  it('runs the first example of docs/service.md', async () => {
    const standIn = await standInFor();
    const env = {
      HOTEL_REVIEW_BASE_URL: standIn.baseUrl,
      HOTEL_REVIEW_API_KEY: 'k',
      HOTEL_REVIEW_ACCOUNT_ID: 'a',
    };
    expect(await project.run(['quick-start.js'], env)).toEqual({
      exitCode: 0,
      stdout: 'Bedlink 007 is 7\n1 brands\n',
      stderr: '',
    });
    expect(standIn.requests.map(({ url }) => url.split('?')[0])).toEqual([
      '/api/3.0/mappings',
      '/api/3.0/content/GetMasterHotelBrands',
    ]);
  });

  it('runs the raw call of docs/service.md', async () => {
    const standIn = await standInFor();
    expect(await project.run(['raw-call.js', standIn.baseUrl])).toEqual({
      exitCode: 0,
      stdout: '2000 [ 1 ]\n',
      stderr: '',
    });
    expect(standIn.requests[0]?.url).toBe('/api/3.0/content/WhateverItIsCalled?page=1');
  });

  it('needs no Node types for the public types', async () => {
    const text = "import type { MappingService } from 'hotel-review';\nexport type Mine = MappingService;\n";
    await project.write('types-alone.ts', text);
    const options = { lib: ['ES2023', 'DOM'], types: [], noEmit: true };
    expect(await project.compile(['types-alone.ts'], options)).toEqual({
      exitCode: 0,
      stdout: '',
      stderr: '',
    });
  });

  it('cannot import internal modules', async () => {
    await project.write('deep.js', "await import('hotel-review/dist/src/http/transport.js');");
    expect((await project.run(['deep.js'])).stderr).toContain('ERR_PACKAGE_PATH_NOT_EXPORTED');
    await project.write('package-file.js', "import.meta.resolve('hotel-review/package.json');");
    expect((await project.run(['package-file.js'])).exitCode).toBe(0);
  });

  it('has the command, too', async () => {
    const { exitCode, stdout } = await project.run([
      `${project.packageFolder}/dist/jobs/hotel-review.js`,
      '--help',
    ]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('hotel-review');
  });
});
