import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { stringify } from 'csv-stringify';
import { codeOf } from '../../base/safe-error.js';
import { account } from '../common/account.js';
import { Refusal } from '../common/errors.js';
import { publish } from '../common/publish.js';
import { deliverLater } from '../parts/deliver-later.js';
import type { SandboxParts } from '../parts/parts.js';
import { contentColumns, contentOf, type HotelContent } from '../world/hotel-content.js';
import { channelIdsOf, locationCodeOf, type Mapping, type World } from '../world/world.js';

interface ExportRequest {
  readonly emailId: string;
  /** The providers whose mappings are exported. */
  readonly providers: readonly string[];
}

/** Above this the e-mail only names the files, as mail servers refuse large attachments. */
const maxAttachedBytes = 10 * 1024 * 1024;

/** One address with a domain; no character that could end a header or add a recipient. */
const emailAddress = /^[^\s@,;:<>()[\]"\\\p{Cc}]{1,64}@[^\s@,;:<>()[\]"\\\p{Cc}]{1,255}$/u;

/** Accepts an export of the mappings (spec 4.5): the files and then the e-mail follow after the delay. @throws Refusal */
export function acceptExport(parameters: URLSearchParams, parts: SandboxParts): void {
  const { world, root, drafts, faults, outbox, signal } = parts;
  const request = readRequest(parameters, world.providers);
  const fault = faults.nextResult();
  const guid = randomUUID();
  const files = exportKinds.map((kind) => `${account.name}_${kind}_${guid}.csv`);
  const places = files.map((file) => join(drafts, file));
  const delivery = {
    ...{ name: files.join(', '), drafts: places, fault },
    async write() {
      const rows = createExportTables(world, request.providers);
      await mkdir(drafts, { recursive: true, mode: 0o700 });
      const counts: number[] = [];
      for (const [index, kind] of exportKinds.entries())
        counts.push(await writeRows(rows[kind], places[index] ?? '', signal));
      for (const [index, file] of files.entries())
        await publish(places[index] ?? '', join(root, file), counts[index] ?? 0, fault);
      return fault?.kind === 'result-partial' ? 'only the first halves (fault)' : 'written';
    },
    notify: async () => outbox.post(composeEmail(request, files, await readAttachments(root, files))),
  };
  deliverLater(delivery, parts);
}

/** Reads the parameters of a call. A blank one counts as not given. */
function readRequest(parameters: URLSearchParams, knownProviders: readonly string[]): ExportRequest {
  const emailId = parameters.get('emailId')?.trim() ?? '';
  if (emailId === '')
    throw new Refusal(2025, 'emailId is missing: expected the e-mail address to notify about the export.');
  if (!emailAddress.test(emailId)) throw new Refusal(2002, 'emailId: expected one e-mail address.');
  const wanted = (parameters.get('providerfamilies') ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (wanted.some((name) => !knownProviders.includes(name)))
    throw new Refusal(
      2011,
      `providerfamilies: expected names out of ${knownProviders.join(', ')}, separated by commas, in exact case.`,
    );
  return {
    emailId,
    providers: knownProviders.filter((name) => wanted.length === 0 || wanted.includes(name)),
  };
}

/** Writes a file where no client sees it. @returns the number of rows without the header */
async function writeRows(rows: Rows, draft: string, signal: AbortSignal): Promise<number> {
  let count = -1;
  function* counted(): Generator<readonly (string | number)[]> {
    for (const row of rows) {
      count += 1;
      yield row;
    }
  }
  const file = createWriteStream(draft, { flags: 'wx', mode: 0o600 });
  await pipeline(Readable.from(counted()), stringify(), file, { signal });
  return count;
}

/** The files as attachments; none where they are too large together, or have been taken away already. */
async function readAttachments(root: string, files: readonly string[]) {
  try {
    const sizes = await Promise.all(files.map(async (file) => (await stat(join(root, file))).size));
    if (sizes.reduce((total, size) => total + size, 0) > maxAttachedBytes) return [];
    return await Promise.all(
      files.map(async (file) => ({
        filename: file,
        content: await readFile(join(root, file)),
        contentType: 'text/csv; charset=utf-8',
      })),
    );
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** The e-mail delivers the files. (Spec 4.5; its words are assumed.) */
function composeEmail(
  { emailId, providers }: ExportRequest,
  files: readonly string[],
  attachments: Awaited<ReturnType<typeof readAttachments>>,
) {
  const where = `${attachments.length > 0 ? 'attached, and ' : ''}on the SFTP server`;
  const introduction = `The mappings of ${providers.join(', ')} have been exported. The files are ${where}:`;
  return {
    to: emailId,
    subject: 'Your mappings have been exported',
    text: `${introduction}\n\n${files.map((file) => `  ${file}\n`).join('')}`,
    attachments,
  };
}

/** The rows of a file, header first. */
type Rows = Iterable<readonly (string | number)[]>;

/** The middle parts of the files' names. */
const exportKinds = ['mappings', 'transformed', 'hotels'] as const;

/** Between several values in one cell. (Assumed: the specification doesn't say.) */
const separator = ';';

/**
 * The files of an export. (Spec 2.7.) Rows are made as they are read, once.
 *
 * @param providers whose mappings are exported
 */
function createExportTables(
  world: World,
  providers: readonly string[],
): Readonly<Record<(typeof exportKinds)[number], Rows>> {
  const active = world.mappings.filter(({ providerName }) => providers.includes(providerName));

  /** Each hotel with its mappings, by ascending id. */
  function hotelsWithMappings(): readonly (readonly [number, readonly Mapping[]])[] {
    const byHotel = new Map<number, Mapping[]>();
    for (const mapping of active) {
      const ofHotel = byHotel.get(mapping.serviceId);
      if (ofHotel) ofHotel.push(mapping);
      else byHotel.set(mapping.serviceId, [mapping]);
    }
    return [...byHotel].sort(([one], [other]) => one - other);
  }

  function* mappings(): Rows {
    yield [
      ...['ServiceId', 'ProviderHotelId', 'ProviderFamily'],
      ...['ModifiedOn', 'ChannelIds', 'ProviderLocationId'],
    ];
    for (const mapping of active) {
      const { serviceId, providerHotelId, providerName, changedAt } = mapping;
      const hotel = world.hotelOf(serviceId);
      yield [
        ...[serviceId, providerHotelId, providerName, new Date(changedAt).toISOString()],
        ...[channelIdsOf(mapping).join(separator), hotel ? locationCodeOf(mapping, hotel) : ''],
      ];
    }
  }

  function* transformed(): Rows {
    yield ['ServiceId', ...providers];
    for (const [serviceId, mapped] of hotelsWithMappings()) {
      const idsOf = (provider: string) =>
        mapped
          .filter(({ providerName }) => providerName === provider)
          .map(({ providerHotelId }) => providerHotelId)
          .join(separator);
      yield [serviceId, ...providers.map(idsOf)];
    }
  }

  function* hotels(): Rows {
    yield ['ServiceId', ...contentColumns];
    for (const [serviceId, [first]] of hotelsWithMappings()) {
      const hotel = world.hotelOf(serviceId);
      if (!hotel || !first) continue;
      const content: HotelContent = {
        ...contentOf(hotel, world.brands),
        ProviderHotelId: first.providerHotelId,
        ProviderFamily: first.providerName,
      };
      yield [serviceId, ...contentColumns.map((column) => content[column] ?? '')];
    }
  }

  return { mappings: mappings(), transformed: transformed(), hotels: hotels() };
}
